// What differs between two parameter files, for `semicrf info A B`.
#pragma once

#include <string>

#include "model/parameters.h"

namespace semicrf {

// A line per property or table that differs: how many of its numbers do, and the one that does most, by name.
// Labels and tracks are matched by name, so that their order does not count beside the line that says that it
// differs. "no differences\n" when nothing does.
std::string compare_parameters(const Parameters& first, const Parameters& second);

}  // namespace semicrf
