// Sums, maxima and scans over the lanes of a whole warp, in double.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/tables/numbers.cuh"

namespace semicrf::cuda {

__device__ __forceinline__ double warp_sum(double x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kAllLanes, x, step);
  return x;
}
__device__ __forceinline__ double warp_most(double x) { return most_of_group(x, 32); }
// Log of the sum of the lanes' exp(x).
__device__ __forceinline__ double warp_log_sum(double x) {
  const double most = warp_most(x);
  const double sum = warp_sum(most > kNone ? exp(x - most) : 0.0);
  return most > kNone ? most + log(sum) : kNone;
}

// Every lane hands on what it adds itself and what came from the lane before it times its decay. `sum`: what
// a lane adds, then what it hands on; `decay`: of the lane, then of all lanes up to it.
__device__ inline void scan_decaying(int lane, double* sum, double* decay) {
  for (int step = 1; step < 32; step *= 2) {
    const double theirs = __shfl_up_sync(kAllLanes, *sum, step);
    const double their_decay = __shfl_up_sync(kAllLanes, *decay, step);
    if (lane >= step) {
      *sum = log_add(*sum, theirs + *decay);
      *decay += their_decay;
    }
  }
}

}  // namespace semicrf::cuda
