// Labels of two segmentations that go by different names: which of them mean the same, and how alike the
// segmentations are whatever the names. docs/users/evaluation.md, "Labels of other names".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/metrics/stretches.h"

namespace semicrf {

// Bases with each pair of labels that occurs, by (label in one segmentation, label in the other).
using LabelOverlaps = std::map<std::pair<int, int>, std::int64_t>;

// Adds the bases of a stretch, by (true label, predicted label).
void add_overlaps(const Stretch& stretch, LabelOverlaps& overlaps);

// The pairs of labels with the largest sum of bases in common, no label in two of them, by their first
// labels. Labels without a base in common are no pair; where several choices have the same sum, one with most
// pairs of equal numbers is taken. Time grows at most with (labels of the side that has fewer)^2 times those
// of the other; exact for sums below 2^50 bases.
std::vector<std::pair<int, int>> best_label_pairs(const LabelOverlaps& overlaps);

// Hubert and Arabie's adjusted Rand index of the two labellings of these bases: 1 where they are the same up
// to names, 0 on average for labellings drawn at random with these totals. Nothing where there is no base.
std::optional<double> adjusted_rand_index(const LabelOverlaps& overlaps);

// A label of the prediction and the label of the truth that it was taken for. One of them is empty where a
// label has no partner.
struct MatchedLabels {
  std::string predicted, truth;
  std::int64_t bases = 0;  // that are evaluated and have both
};

struct LabelMatch {
  std::string map_file;  // name of the file that says so; empty: the best pairs
  std::vector<MatchedLabels> labels;
};

}  // namespace semicrf
