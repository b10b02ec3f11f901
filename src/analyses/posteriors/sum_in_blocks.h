// Sums over positions that neither windows nor threads change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "engine/engine.h"

namespace semicrf {

// Positions are added up in blocks that begin at multiples of kBlock: within a block from left to right, by
// one thread or, where a window ends within it, one after the other; then block after block.
template <class Sum>
class SumInBlocks {
 public:
  static constexpr std::int64_t kBlock = 1 << 12;

  explicit SumInBlocks(Sum zero) : zero_(std::move(zero)), open_(zero_) {}

  // The next positions. visit(from, to, sum) adds those of a block, or of a part of it, to `sum`, on up to
  // `threads` threads; take(sum) is then called with whole blocks in their order.
  template <class Visit, class Take>
  void add(PositionRange range, int threads, Visit visit, Take take) {
    const std::int64_t first = range.begin / kBlock;
    std::vector<Sum> sums(wide(ceil_div(range.end, kBlock) - first), zero_);
    sums.front() = std::exchange(open_, zero_);
    parallel_for(threads, sums.size(), [&](std::size_t i, int) {
      const std::int64_t begin = (first + static_cast<std::int64_t>(i)) * kBlock;
      visit(std::max(range.begin, begin), std::min(range.end, begin + kBlock), sums[i]);
    });
    if (range.end % kBlock != 0) {
      open_ = std::move(sums.back());
      sums.pop_back();
    }
    for (const Sum& sum : sums) take(sum);
  }
  // The sum of the block that the last window ended in.
  const Sum& open() const { return open_; }

 private:
  Sum zero_, open_;
};

}  // namespace semicrf
