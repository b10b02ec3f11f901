// The chain of a hidden Markov model as one of segments.
#pragma once

#include <span>

#include "model/parameters.h"

namespace semicrf {

// Staying in a state is the duration of a segment, which falls geometrically without end (K = 1 and a tail);
// a boundary is a change of state. Every sequence of states has the score that the hidden Markov model gives
// it: log p of each step, whether it stays or changes, and nothing at the end.
//
// `transition`: (C, C) row-major, [from][to], linear; a probability of 0 is forbidden. A state that is never
// left stays with a probability of 1 - 1e-12, since a tail ends. `parameters` has labels and a chain without
// transitions; set are the number of labels, durations, transitions and end scores.
void set_hidden_markov_chain(std::span<const double> transition, Parameters& parameters);

}  // namespace semicrf
