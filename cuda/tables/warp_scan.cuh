// Scans over the lanes of a whole warp, in double logarithms.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/tables/numbers.cuh"

namespace semicrf::cuda {

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
