// Inputs of the validation tables: sequences like those of an untrained network, and sequences with real
// segments.
#pragma once

#include <cstdint>

#include "lab/product.h"

namespace semicrf::lab {

// The paper's shapes say T, K, C and B. Its boundary marginals of 0.96 and more are what scores near 0 give:
// all of N(0, 1) emissions, and small transitions and durations.
ChainModel untrained_model(int labels, int durations, std::uint64_t seed);
Sequence noise_sequence(std::int64_t length, int labels, std::uint64_t seed, bool single);

// Geometric durations of this mean, cut at K with a tail; labels follow each other at random, never
// themselves.
ChainModel segment_model(int labels, int durations, double mean);
// Such segments with emissions N(0,1), N(1,1) for the true label.
Sequence segment_sequence(std::int64_t length, int labels, double mean, std::uint64_t seed, bool single);

}  // namespace semicrf::lab
