// The numbers of blocks of 16 starts or ends, in vectors of four.
#pragma once

#include "cuda/counts/counts_launch.h"
#include "cuda/tables/numbers.cuh"

namespace semicrf::cuda {

// Index of a block and label among the blocks of all tasks.
template <class Real>
__device__ __forceinline__ std::int64_t block_index(const BlockNumbers<Real>& b, std::int64_t task,
                                                    int block) {
  return task * b.blocks + block;
}
template <class Real>
__device__ __forceinline__ void load_numbers(const BlockNumbers<Real>& b, std::int64_t block, int labels,
                                             int c, Real (&out)[kBlock]) {
  const Real* from = b.numbers + block * kBlock * labels + 4 * c;
#pragma unroll
  for (int i = 0; i < kBlock; i += 4) load4(from + static_cast<std::int64_t>(i) * labels, out + i);
}
template <class Real>
__device__ __forceinline__ void store_numbers(const BlockNumbers<Real>& b, std::int64_t block, int labels,
                                              int c, const Real (&numbers)[kBlock], BlockScale scale) {
  Real* to = b.numbers + block * kBlock * labels + 4 * c;
#pragma unroll
  for (int i = 0; i < kBlock; i += 4)
    store4(to + static_cast<std::int64_t>(i) * labels, numbers[i], numbers[i + 1], numbers[i + 2],
           numbers[i + 3]);
  b.scale[block * labels + c] = scale;
}

}  // namespace semicrf::cuda
