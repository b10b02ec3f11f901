// Reading messages that runs have stored.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/run_types.h"
#include "cuda/tables/numbers.cuh"

namespace semicrf::cuda {

// Logarithm of a message (log semiring), relative to the block's base. -inf where an exact block found no
// room in the pool: then the pass is run again.
template <class Real>
__device__ __forceinline__ double stored_log(const MessageStore<Real>& store,
                                             const MessageView<Real>& message, std::int64_t row, int c,
                                             int labels) {
  const std::int64_t block = row / kBlock;
  const int exact = store.exact[block];
  if (exact > store.pool_slots) return kNone;
  if (exact != 0)
    return message.pool[(static_cast<std::int64_t>(exact - 1) * kBlock + row % kBlock) * labels + c];
  const double level = message.level != nullptr ? message.level[row] * kLog2 : 0.0;
  return Ops<Real, LogSemiring>::to_log(message.numbers[row * labels + c]) +
         (message.scale[block * labels + c] + level);
}

}  // namespace semicrf::cuda
