// The law of segments and its M-step: which label comes first, which follows which, and how long each lasts.
// All as probabilities that sum to 1, kept as the log scores of a ChainModel.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/chain_model.h"
#include "train/emissions/frozen_parts.h"
#include "train/objective/parameter_gradient.h"

namespace semicrf {

enum class LawKind { kTable, kGeometric, kNegativeBinomial };
// "table", "geometric", and "negative-binomial" or "negative_binomial"; of others nothing.
std::optional<LawKind> law_from_name(std::string_view name);

struct LawOptions {
  std::optional<int> max_duration;   // K in bins; absent: kDefaultDuration with a tail
  bool tail = false;                 // durations beyond K, falling geometrically
  std::optional<LawKind> durations;  // absent: kTable
  bool self_transitions = false;     // a label may follow itself
  int min_duration = 1;              // bins of the shortest segment
  bool tied = false;                 // all labels have one law of durations
  std::vector<int> shortest = {};    // (C), by label, in the place of min_duration; empty: that of all

  // Bins of the shortest segment of any label.
  int least_duration() const;
};
inline constexpr int kDefaultDuration = 100;

class SegmentLaw {
 public:
  // UsageError where no segmentation would be possible.
  SegmentLaw(const LawOptions& options, int labels);

  // Every label alike: equal starts and transitions, durations with this mean in bins.
  ChainModel first(double mean_duration) const;
  // The starts and transitions of `chain` and laws of durations like its own: the same probabilities below K,
  // and the same mean excess beyond, where there is a tail; of those with at least the shortest duration. A
  // label that follows itself in a chain of single bins gets geometric durations instead. InputError where
  // labels of longer segments follow themselves.
  ChainModel reshaped(const ChainModel& chain) const;
  // The chain under which the expected counts are most likely. `counts.start` are expected first labels. What
  // has no count keeps its distribution, what is forbidden stays so. No other probability falls below kFloor;
  // that is part of the maximum, so the likelihood never falls.
  void maximize(const ParameterGradient& counts, ChainModel& chain, const FrozenParts& frozen = {}) const;
  // Those of first labels, transitions and durations; of what stays as it is none.
  int free_parameters(const FrozenParts& frozen = {}) const;

 private:
  struct LabelDurations;
  void reshape_durations(const LabelDurations& durations, int label, ChainModel& chain) const;
  void leave_always(int label, ChainModel& chain) const;
  void maximize_durations(const std::vector<double>& seen, double beyond, int label, ChainModel& chain) const;

  LawKind kind_;
  int labels_, max_duration_;
  std::vector<int> shortest_;  // (C), bins
  bool tail_, self_transitions_, tied_;
};

inline constexpr double kFloor = 1e-9;

// The distribution p under which counts n are most likely, sum of n log p, with no p below kFloor. Sums to 1;
// the total count is above 0.
std::vector<double> likeliest(const std::vector<double>& counts);

}  // namespace semicrf
