// Scores of linear heads that the device makes of features.
#pragma once

#include "parity/engine_maker.h"

namespace semicrf::testing {

// All problems found with windows of a sequence that comes with features: not a digit may differ from what
// the scores that the host makes of them give.
std::vector<std::string> check_projection(const MakeEngine& make);

}  // namespace semicrf::testing
