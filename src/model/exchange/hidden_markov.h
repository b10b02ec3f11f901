// Hidden Markov models as semi-Markov ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/error.h"
#include "model/parameters.h"

namespace semicrf {

// The chain of a hidden Markov model as one of segments.
// Staying in a state is the duration of a segment, which falls geometrically without end (K = 1 and a tail);
// a boundary is a change of state. Every sequence of states has the score that the hidden Markov model gives
// it: log p of each step, whether it stays or changes, and nothing at the end.
//
// `transition`: (C, C) row-major, [from][to], linear; a probability of 0 is forbidden. A state that is never
// left stays with a probability of 1 - 1e-12, since a tail ends. `parameters` has labels and a chain without
// transitions; set are the number of labels, durations, transitions and end scores.
void set_hidden_markov_chain(std::span<const double> transition, Parameters& parameters);

// From a hidden Markov model to one with durations.
// Makes the durations of these parameters, of a hidden Markov model with single bins, explicit: `transition`
// (N, N) row-major are its probabilities from bin to bin, `seen` those of segments, a list per label, in
// bins, K = `max_duration` (fit_durations). Transitions to the same label become impossible, the others sum
// to 1. A label without segments keeps the durations of its own transition, with a warning; another tells
// labels that nothing follows. A model of one state goes on following itself, as no segmentation would be
// left.
void set_explicit_durations(Parameters& parameters, std::span<const double> transition,
                            const std::vector<std::vector<std::int64_t>>& seen, int max_duration,
                            std::vector<Warning>& warnings);

}  // namespace semicrf
