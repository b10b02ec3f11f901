// The edit distance of two label sequences.
#pragma once

#include <cstdint>
#include <span>

namespace semicrf {

// The least number of insertions, deletions and substitutions that turn one sequence into the other. Labels
// are not negative. Time O((n + m) d / 64) with d the distance, memory O(n + m + largest label).
std::int64_t edit_distance(std::span<const int> a, std::span<const int> b);

}  // namespace semicrf
