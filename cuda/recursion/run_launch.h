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

// Which kernel of the recursion serves a shape. They take long to compile: each file of instantiate/ makes
// some of them.
//
// The parameters are given twice: see BlockRun.
template <class Real>
using RunKernel = void (*)(RunParameters<Real>, RunParameters<Real>);

// Warp teams, float; of blocks of at most kThreads threads: the fewer, the more registers each may have.
inline constexpr int kManyThreads = 384;
inline constexpr int kFewThreads = 256;
template <class Real, class Semiring, int kThreads>
RunKernel<Real> warp_kernel(const TileConfig& tile);
// Block teams.
template <class Real, class Semiring>
RunKernel<Real> block_kernel(const TileConfig& tile);

}  // namespace semicrf::cuda
