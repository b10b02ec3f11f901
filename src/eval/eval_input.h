// The two segmentations that are compared, which of their labels are the same, and what lacks a prediction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/segment.h"
#include "eval/metrics/evaluation.h"
#include "eval/metrics/stretches.h"
#include "io/segments/segment_reader.h"
#include "io/text/chromosomes.h"

namespace semicrf {

// Numbers for label names, in the order in which they were first met.
class LabelNumbers {
 public:
  int number(const std::string& name);
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> numbers_;
};

// The last part of a path, as reports name a file; "-": standard input.
std::string file_title(const std::string& path);

struct Segmentation {
  std::string path;
  std::vector<std::string> chromosomes;                  // in the file's order
  std::map<std::string, std::vector<Segment>> segments;  // by chromosome, in bases, sorted and disjoint
  std::int64_t count = 0;
  std::optional<std::int64_t> bin_size;  // bases, where the file's header says it

  // Those of a chromosome, empty when it has none.
  const std::vector<Segment>& on(const std::string& chromosome) const;
};

// Lines may come in any order. `known`: chromosomes and their lengths, or empty when nothing is known about
// them. InputError with the line number: not BED, no label, overlaps another line, ends beyond its
// chromosome, a chromosome that is not known. "-" is standard input.
Segmentation read_segmentation(const std::string& path, const std::vector<Chromosome>& known,
                               LabelNumbers& labels, const LabelTimes& times = {});

// Which of the evaluated bases have a prediction.
class Coverage {
 public:
  // The evaluated stretches of a chromosome, from left to right. Each chromosome once.
  void add(const std::string& chromosome, std::span<const Stretch> stretches);

  std::int64_t missing() const { return missing_; }  // bases
  // Where they are: "II, III:1-2000 and 5 more"; empty where nothing is missing.
  std::string missing_places() const;
  // The options that leave them out: "-r III:2001-316620", or "-L `path`" where these would be many; empty
  // where nothing is missing, or everything.
  std::string options_to_leave_out(const std::string& path) const;

 private:
  struct Run {
    std::string chromosome;
    std::int64_t begin = 0;  // bases
    std::int64_t end = 0;
    bool is_predicted = false;
    bool is_alone = true;  // the only run of its chromosome
  };
  void append(const std::string& chromosome, std::int64_t begin, std::int64_t end, bool is_predicted);
  std::vector<std::string> places(bool are_predicted) const;

  std::vector<Run> runs_;
  std::int64_t missing_ = 0;
};

// eval --match, --label-map: labels of the prediction that have other names than those of the truth.
// What a map says: labels of the prediction, and the labels of the truth that they are.
struct LabelMap {
  std::string path;
  std::vector<std::pair<std::string, std::string>> lines;  // (prediction, truth), each prediction once
};

// Two columns separated by a tab; empty lines and those that begin with # are passed over. InputError with
// the line: another number of columns, no name, a label of the prediction twice; also a file without a line.
LabelMap read_label_map(const std::string& path);

// InputError where several labels of the prediction are one of the truth: neither a model nor posteriors can
// be asked for their union.
void require_one_to_one(const LabelMap& map);

// The lines as (truth, prediction), by their numbers.
std::vector<std::pair<int, int>> numbered_pairs(const LabelMap& map, LabelNumbers& labels);

// The labels, by their numbers in LabelNumbers, of a truth and a prediction.
struct LabelsInUse {
  std::set<int> truth, predicted;
};

// Names of the map that the prediction or the truth, each of its own column, has not.
std::vector<std::string> unused_names(const LabelMap& map, LabelNumbers& labels, const LabelsInUse& used);

// Numbers for the same labels in other roles; lists are by number in LabelNumbers.
struct MatchedNumbers {
  std::vector<std::string> names;       // names of the labels that are compared: the truth's, then others
  std::vector<int> truth, predicted;    // their places in `names`; -1: none
  std::vector<int> truth_in_model;      // numbers in LabelNumbers for what has the names of the model, or,
  std::vector<int> predicted_in_model;  // where there is none, those of the prediction
};

// `pairs`: (truth, prediction); no label of the prediction is in two of them. `model_labels`: how many of
// the numbers, from 0, are labels of a model. A label of the prediction without a partner whose name the
// truth has for another one gets a name of its own, which is added to `labels`.
MatchedNumbers match_numbers(LabelNumbers& labels, const LabelsInUse& used,
                             const std::vector<std::pair<int, int>>& pairs, int model_labels);

// The segments with other numbers for their labels, by the old ones.
std::vector<Segment> relabelled(std::vector<Segment> segments, const std::vector<int>& numbers);

// From numbers in LabelNumbers, and of stretches from places in `names`, to the numbers of the model.
void take_model_numbers(const MatchedNumbers& numbers, Segmentation& truth, Segmentation& predicted);
void take_model_numbers(const MatchedNumbers& numbers,
                        std::map<std::string, std::vector<Stretch>>& stretches);  // true segments alone
// The name that a label of the model, by its number, has in the comparison.
std::map<int, std::string> names_in_model(const MatchedNumbers& numbers);

// For reports: every pair, then the labels of the prediction and those of the truth that have no partner.
std::vector<MatchedLabels> matched_labels(const LabelNumbers& labels, const LabelsInUse& used,
                                          const std::vector<std::pair<int, int>>& pairs,
                                          const LabelOverlaps& overlaps);

}  // namespace semicrf
