// Several sequences in one call of an engine against one after the other.
#pragma once

#include "parity/engine_maker.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

// Stretches of the case, one after the other, as sequences of their own: together on one engine and one by
// one on another they must give the same digits, counts and reports included. Of every
// third less is wanted; baselines differ, and every fifth has none.
std::vector<std::string> check_batch(const MakeEngine& make, const ModelCase& sample,
                                     const std::vector<std::int64_t>& lengths,
                                     const Precisions& precisions = kBothPrecisions);

// The best paths of such stretches. `forbidden`: every fourth sequence has a position that forbids all
// labels, so that it has no path.
std::vector<std::string> check_batch_paths(const MakeEngine& make, ModelCase sample,
                                           const std::vector<std::int64_t>& lengths, bool forbidden = false,
                                           const Precisions& precisions = kBothPrecisions);

}  // namespace semicrf::testing
