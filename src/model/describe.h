// Human-readable summary of a parameter file, for `semicrf info`.
#pragma once

#include <string>

#include "model/parameters.h"

namespace semicrf {

// Several lines, each ending in a newline: labels with their durations, K, bin size, centring, tails, tracks,
// heads, forbidden transitions.
std::string describe_parameters(const Parameters& parameters);

// Six significant digits, as numbers are shown in descriptions.
std::string described_number(double value);

}  // namespace semicrf
