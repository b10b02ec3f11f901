// What an engine says of scores that it copied to its device ahead of their use.
#pragma once

#include "parity/engine_maker.h"

namespace semicrf::testing {

// All problems found with its checks (NaN and +inf in each array, first and last positions, -inf allowed) and
// with the sums that means are made of, which must be those of SequenceMean to the bit. Both types of scores.
std::vector<std::string> check_prefetch(const MakeEngine& make);

}  // namespace semicrf::testing
