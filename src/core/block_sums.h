// What the mean of a sequence's scores is made of (model/scores/centering.h), for those who add them up
// elsewhere.
#pragma once

#include <cstdint>
#include <vector>

namespace semicrf {

// Sums over the rows of one sequence, column by column.
struct BlockSums {
  static constexpr std::int64_t kPositions = 4096;  // per block; blocks begin at multiples of it

  // (blocks, columns): plain sums in double, from the first row of a block to its last; -inf counts as 0.
  std::vector<double> sums;
  std::vector<std::int64_t> forbidden;  // (columns) entries of -inf
  std::int64_t masked = 0;              // entries at or below the mask, -inf included
};

}  // namespace semicrf
