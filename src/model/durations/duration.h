// Duration scores: how a parameter file gives them, resolved to the K x C table of the chain.
#pragma once

#include <cstdint>
#include <vector>

#include "core/chain_model.h"
#include "model/durations/duration_kinds.h"

namespace semicrf {

// How the durations were given. The resolved table lives in ChainModel::duration_bias.
struct DurationSpec {
  const DurationKind* kind = &table_durations();
  std::vector<std::vector<double>> values;  // (C) lists: of the kind's parameters; empty for a table
  // (C) q of the geometric tail beyond K in (0, 1), 0: this label has none; empty: no label has
  std::vector<double> tail;

  // The tail of a label that goes on like its formula, where it does.
  std::optional<DurationKind::ContinuedTail> continued_tail(std::size_t label) const;
};

// (K, C) log scores of the kind's formula, not renormalised; the kind is no table and its parameters are
// valid.
std::vector<double> duration_table(const DurationSpec& spec, int max_duration, int num_labels);

// (C) log q of the tail, -inf where a label has none; empty when no label has one. A tail that continues a
// formula has the formula's own log q exactly.
std::vector<double> tail_scores(const DurationSpec& spec);

// What a label's durations look like when exp(bias) is read as an unnormalised distribution over 1..K and the
// tail.
struct DurationSummary {
  double mean = 0;      // in positions; NaN when every duration is forbidden
  int most_likely = 0;  // smallest duration with the largest score; 0 when every duration is forbidden
  int shortest = 0;     // smallest and largest allowed duration within the table; 0 when none
  int longest = 0;
  double tail_mass = 0;  // share of the probability beyond K
};
DurationSummary summarize_durations(const ChainModel& chain, int label);

// Durations that segments have, in positions.
struct SeenDurations {
  std::int64_t segments = 0;
  double mean = 0;                             // 0 where there are no segments, and so are the others
  std::int64_t low = 0, median = 0, high = 0;  // quantiles of the durations: 5, 50 and 95 %
};
SeenDurations seen_durations(std::vector<std::int64_t> durations);

}  // namespace semicrf
