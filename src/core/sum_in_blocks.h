// Sums over positions that neither windows nor threads change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/compensated_sum.h"
#include "core/sizes.h"
#include "core/threads/parallel.h"

namespace semicrf {

// Positions are added up in blocks that begin at multiples of kBlock: within a block from left to right, by
// one thread or, where a call ends within it, one after the other; then block after block.
template <class Sum>
class SumInBlocks {
 public:
  static constexpr std::int64_t kBlock = BlockSums::kPositions;

  explicit SumInBlocks(Sum zero) : zero_(std::move(zero)), open_(zero_) {}

  // Positions [begin, end), in order from call to call; some may be left out between calls. visit(from, to,
  // sum) adds those of a block, or of a part of it, to `sum`, on up to `threads` threads; take(sum) is called
  // with blocks in their order when they are over.
  template <class Visit, class Take>
  void add(std::int64_t begin, std::int64_t end, int threads, Visit visit, Take take) {
    if (begin == end) return;
    const std::int64_t first = begin / kBlock;
    if (first != block_) take(std::exchange(open_, zero_));
    std::vector<Sum> sums(ceil_div(end, kBlock) - first, zero_);
    sums.front() = std::move(open_);
    parallel_for(threads, sums.size(), [&](std::int64_t i, int) {
      const std::int64_t from = (first + i) * kBlock;
      visit(std::max(begin, from), std::min(end, from + kBlock), sums[i]);
    });
    block_ = end / kBlock;
    open_ = end % kBlock == 0 ? zero_ : std::move(sums.back());
    if (end % kBlock != 0) sums.pop_back();
    for (const Sum& sum : sums) take(sum);
  }
  // The sum of the block that is not over.
  const Sum& open() const { return open_; }

 private:
  Sum zero_, open_;
  std::int64_t block_ = 0;  // the number of the open block
};

}  // namespace semicrf
