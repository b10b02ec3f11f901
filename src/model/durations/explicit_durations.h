// From a hidden Markov model to one with durations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/warning.h"
#include "model/parameters.h"

namespace semicrf {

// Makes the durations of these parameters, of a hidden Markov model with single bins, explicit: `transition`
// (N, N) row-major are its probabilities from bin to bin, `seen` those of segments, a list per label, in
// bins, K = `max_duration` (fit_durations.h). Transitions to the same label become impossible, the others sum
// to 1. A label without segments keeps the durations of its own transition, with a warning; another tells
// labels that nothing follows. A model of one state goes on following itself, as no segmentation would be
// left.
void set_explicit_durations(Parameters& parameters, std::span<const double> transition,
                            const std::vector<std::vector<std::int64_t>>& seen, int max_duration,
                            std::vector<Warning>& warnings);

}  // namespace semicrf
