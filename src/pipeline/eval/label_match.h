// eval --match, --label-map: labels of the prediction that have other names than those of the truth.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eval/label_pairing.h"
#include "pipeline/eval/eval_input.h"

namespace semicrf {

// What a map says: labels of the prediction, and the labels of the truth that they are.
struct LabelMap {
  std::string path;
  std::vector<std::pair<std::string, std::string>> lines;  // (prediction, truth), each prediction once
};

// Two columns separated by a tab; empty lines and those that begin with # are passed over. InputError with
// the line: another number of columns, no name, a label of the prediction twice; also a file without a line.
LabelMap read_label_map(const std::string& path);

// The labels, by their numbers in LabelNumbers, of a truth and a prediction.
struct LabelsInUse {
  std::set<int> truth, predicted;
};

// Numbers for the same labels in other roles; lists are by number in LabelNumbers.
struct MatchedNumbers {
  std::vector<std::string> names;       // of the labels that are compared: the truth's, then others
  std::vector<int> truth, predicted;    // their places in `names`; -1: none
  std::vector<int> truth_in_model;      // numbers in LabelNumbers for what has the names of the model, or,
  std::vector<int> predicted_in_model;  // where there is none, those of the prediction
};

// `pairs`: (truth, prediction); no label of the prediction is in two of them. `model_labels`: how many of
// the numbers, from 0, are labels of a model. A label of the prediction without a partner whose name the
// truth has for another one gets a name of its own, which is added to `labels`.
MatchedNumbers match_numbers(LabelNumbers& labels, const LabelsInUse& used,
                             const std::vector<std::pair<int, int>>& pairs, int model_labels);

// For reports: every pair, then the labels of the prediction and those of the truth that have no partner.
std::vector<MatchedLabels> matched_labels(const LabelNumbers& labels, const LabelsInUse& used,
                                          const std::vector<std::pair<int, int>>& pairs,
                                          const LabelOverlaps& overlaps);

}  // namespace semicrf
