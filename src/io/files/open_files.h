// How many files the process may have open at once.
#pragma once

#include <cstdint>

namespace semicrf {

// Raises the process's limit to `count` as far as the system lets it. Returns how many may be open: `count`
// or more where that is allowed.
std::int64_t allow_open_files(std::int64_t count);

}  // namespace semicrf
