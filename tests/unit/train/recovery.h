// Parameters come back from data that were simulated with known ones: the experiment, for any size.
//
// What the likelihood tells are differences. These moves change no probability, but for the two segments at
// the ends of a piece:
//   a number from all durations of a label to the column or the row of the transitions that belongs to it;
//   the same weights added for every label;
//   a slope from the durations of a label to its emission bias;
//   one slope added to the durations of every label, because all durations add up to the length.
// The comparison fixes them: the transitions are centred by rows and columns, then every column gets log sum
// exp 0; the weights of every track have mean 0 over the labels; the emission has no bias; and the durations,
// each counted as often as it was seen, have no slope.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"

namespace semicrf::test {

struct RecoveryCase {
  int labels = 4;
  int max_duration = 20;
  int tracks = 2;
  std::int64_t length = 0;  // T
  std::uint64_t seed = 31;
};

// What came out, for all weights, transitions and durations of the gauge above, in this order.
struct Recovery {
  std::vector<double> truth, found;
  std::vector<double> error;       // standard errors: the inverse of the observed information, projected
  std::vector<std::int64_t> seen;  // how often the data showed it: segments of a duration, else T
  double nll_of_truth = 0, nll_of_fit = 0;  // per position, no penalties
  int free_dimensions = 0;                  // directions that the likelihood knows
  int iterations = 0;
};

// Simulates by backward sampling from N(0, 1) tracks, fits without penalties from zeros, and takes central
// differences of the exact gradient for the observed information.
Recovery recover(const RecoveryCase& sample, const EngineOptions& engine);

// The number of standard errors within which `count` normal numbers lie at once with at least the given
// probability (Bonferroni).
double simultaneous_quantile(double probability, std::size_t count);

}  // namespace semicrf::test
