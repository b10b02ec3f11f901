// How well a predicted segmentation agrees with a true one. docs/users/evaluation.md defines every number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/metrics/matching.h"
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

struct LabelEvaluation {
  MatchCounts bases;
  MatchCounts boundary_exact;   // boundaries at which a segment of this label starts
  MatchCounts boundary_within;  // boundaries within the tolerance of such a boundary
  MatchCounts segment_exact;
  MatchCounts segment_overlap;

  LabelEvaluation& operator+=(const LabelEvaluation& other);
};

struct EvaluatedLabel : LabelEvaluation {
  std::optional<double> accuracy;
};
const StatisticList<EvaluatedLabel>& evaluated_label_statistics();

struct Evaluation {
  std::int64_t tolerance = 0;  // bases
  std::int64_t stretches = 0;
  std::int64_t bases = 0;               // evaluated: the truth labels them
  std::vector<LabelEvaluation> labels;  // (C)
  std::vector<std::int64_t>
      confusion;               // (C, C+1) bases, [truth][predicted]; the last column: no predicted label
  MatchCounts boundary_exact;  // whatever the labels
  MatchCounts boundary_within;
  std::int64_t edit_distance = 0;  // edit distance of the label sequences, summed over stretches

  std::size_t num_labels() const { return labels.size(); }
  std::int64_t missing() const;         // bases without a predicted label
  LabelEvaluation over_labels() const;  // sums: what asks for the right label
  // One label against all others: the share of the bases on which truth and prediction agree about it.
  std::optional<double> label_accuracy(std::size_t label) const;
  EvaluatedLabel label(std::size_t label) const { return {labels[label], label_accuracy(label)}; }
  // Whatever the names of the labels, of the bases that have a predicted one.
  std::optional<double> adjusted_rand_index() const;
  std::optional<double> macro_f1() const;  // mean of the bases' F1 over the labels of the truth
  // Edit distance per segment of the truth; may exceed 1.
  std::optional<double> label_error_rate() const;
};
// All labels together.
const StatisticList<Evaluation>& evaluation_statistics();
// What is counted of all labels together, and how it is called: the rows of a table.
std::vector<std::pair<std::string, MatchCounts>> overall_matches(const Evaluation& evaluation);

// Adds up stretches.
class Evaluator {
 public:
  Evaluator(std::size_t num_labels, std::int64_t tolerance);
  void add(const Stretch& stretch);
  const Evaluation& result() const { return result_; }

 private:
  void add_bases(const Stretch& stretch);
  void add_boundaries(const Stretch& stretch);
  void add_segments(const Stretch& stretch);
  void add_label_sequences(const Stretch& stretch);
  LabelEvaluation& of(int label) { return result_.labels[label]; }

  Evaluation result_;
};

}  // namespace semicrf
