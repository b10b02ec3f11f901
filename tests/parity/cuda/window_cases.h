// Windows, their edges and the paths through them, for the CUDA engine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parity/engine_maker.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

// All problems found with a path whose segments pass over many pieces of a traceback.
std::vector<std::string> check_long_segments_path(const MakeEngine& make);

// The same where segments are of these lengths, alone and among other sequences.
std::vector<std::string> check_path_of_lengths(const MakeEngine& make, std::span<const std::int64_t> lengths,
                                               const Precisions& precisions = kBothPrecisions);

// All problems found with the right edge of a window: the best path must go through it as through the window
// itself.
std::vector<std::string> check_joined_windows(const MakeEngine& make);

// Windows of a sequence over several devices against one: not a digit may differ. `spread`: an engine whose
// parts are at least a chunk.
std::vector<std::string> check_spread(const MakeEngine& make, const MakeEngine& spread,
                                      const ModelCase& sample,
                                      const Precisions& precisions = kBothPrecisions);

}  // namespace semicrf::testing
