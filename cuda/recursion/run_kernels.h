// Which kernel of the recursion serves a shape. They take long to compile: each file of instantiate/ makes
// some of them.
#pragma once

#include "cuda/recursion/run_types.h"
#include "cuda/tables/tile_config.h"

namespace semicrf::cuda {

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
