// Duration scores: the formulas of parameter format 1 resolved to the K x C table of the chain.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/chain_model.h"

namespace semicrf {

enum class DurationKind { kTable, kGeometric, kNegativeBinomial, kPoisson, kUniform };

std::string_view duration_kind_name(DurationKind kind);
std::optional<DurationKind> duration_kind_from_name(std::string_view name);

// How the durations were given. The resolved table lives in ChainModel::duration_bias.
struct DurationSpec {
  DurationKind kind = DurationKind::kTable;
  std::vector<double> p;       // (C) geometric, negative binomial; 0 < p < 1
  std::vector<double> r;       // (C) negative binomial; > 0
  std::vector<double> lambda;  // (C) Poisson; > 0
  std::vector<double>
      tail;  // (C) q of the geometric tail beyond K in (0, 1), 0: this label has none; empty: no label has
};

// (K, C) log scores of the kind's formula, not renormalised; `spec.kind` is not kTable and its parameters are
// valid.
//   geometric           log p + (k-1) log(1-p)
//   negative binomial   lgamma(k+r-1) - lgamma(r) - lgamma(k) + r log p + (k-1) log(1-p)
//   Poisson             k log lambda - lgamma(k+1) - lambda
//   uniform             0
// The differences of lgamma are summed as logarithms with compensation, so large r and lambda lose no digits.
std::vector<double> duration_table(const DurationSpec& spec, int max_duration, int num_labels);

// (C) log q of the tail, -inf where a label has none; empty when no label has one.
// A geometric tail that continues the geometric distribution (q = 1-p) gives log1p(-p) exactly.
std::vector<double> tail_scores(const DurationSpec& spec);

// q of "continue": the value `tail` holds for a geometric label whose tail goes on like its table.
inline double continued_tail(double p) { return 1.0 - p; }

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

}  // namespace semicrf
