// Linear heads that an engine applies to features, and the sums of features that it brings back.
#pragma once

#include "parity/engine_maker.h"

namespace semicrf::testing {

// All problems found with sequences that come with features: log Z, posteriors and counts must have the
// digits that they have with the host's scores, alone and in batches; sums of features must be those of the
// posteriors, with the same digits alone, in batches and in windows. Both precisions, with a margin and
// without. `of_long_ones`: of sequences of several chunks.
std::vector<std::string> check_heads(const MakeEngine& make,
                                     const Precisions& of_long_ones = kBothPrecisions);
// Short ones alone.
std::vector<std::string> check_few_heads(const MakeEngine& make);

}  // namespace semicrf::testing
