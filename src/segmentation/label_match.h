// Which label of a replicate stands for each label of a segmentation, and how much the two have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/segments/segmentation.h"

namespace semicrf {

// Bases that both segmentations cover, by their labels; a label is its number in its own segmentation.
struct LabelPairs {
  std::vector<std::string> first, second;  // names
  std::vector<std::int64_t> first_bases;   // (A) bases with the label in the first
  std::vector<std::int64_t> second_bases;  // (B) bases with it in the second
  std::vector<std::int64_t> both;          // (A, B) row-major
  std::int64_t common = 0;                 // all of them, > 0

  std::int64_t at(std::size_t a, std::size_t b) const { return both[a * second.size() + b]; }
  // Bases with both labels over bases with either; 0 where there is none.
  double jaccard(std::size_t a, std::size_t b) const;
};

// InputError: the two have no base in common.
LabelPairs count_label_pairs(const SegmentationFile& first, const SegmentationFile& second);

enum class MatchRule {
  kBest,   // the label with the largest Jaccard index; several may have the same
  kPairs,  // one to one, with the most bases in common
  kNames,  // the label of the same name
};

// By label of the first: its match, a label of the second. Nothing where the rule finds none: by kBest a
// label without a base in common. Of equal indices the first label of the second is taken.
std::vector<std::optional<std::size_t>> match_labels(const LabelPairs& pairs, MatchRule rule);

// Cohen's kappa of two classifications that agree on a share `observed` of the bases and would by chance on
// `expected`: (observed - expected) / (1 - expected). Nothing where expected is 1.
std::optional<double> cohens_kappa(double observed, double expected);

// Labels of the second taken together, one more in each step.
struct MergedLabels {
  std::size_t added = 0;  // label of the second
  double coverage = 0;    // share of the common bases that have one of them in the second
  double overlap = 0;     // share of the label's bases that have one of them in the second
};

// For a label of the first with bases in common: the labels of the second by falling Jaccard index, of equal
// ones the first first. The last step has coverage and overlap 1.
std::vector<MergedLabels> merge_by_jaccard(const LabelPairs& pairs, std::size_t label);
// The area under overlap over coverage, by the trapezoidal rule from (0, 0).
double merged_area(const std::vector<MergedLabels>& steps);

}  // namespace semicrf
