// Launches of the recursion's kernels; one instantiation per precision and semiring, each in a file of its
// own.
#pragma once

#include <cuda_runtime.h>

#include "cuda/recursion/run_types.h"
#include "cuda/tables/tile_config.h"

namespace semicrf::cuda {

// Blocks of threads that run at a time on the current device.
template <class Real, class Semiring>
int resident_blocks(const TileConfig& tile);

// Runs all tasks; `blocks` blocks of threads. Asynchronous.
template <class Real, class Semiring>
void launch_runs(const TileConfig& tile, int blocks, const RunParameters<Real>& parameters,
                 cudaStream_t stream);

}  // namespace semicrf::cuda
