// Definitions of run_launch.h, for the files in instantiate/.
#pragma once

#include "cuda/cuda_check.h"
#include "cuda/run_kernel.cuh"
#include "cuda/run_launch.h"

namespace semicrf::cuda {

inline constexpr int kWarpKernelThreads = 384;

template <class Real>
using RunKernel = void (*)(RunParameters<Real>);

template <class Real, class Semiring>
RunKernel<Real> kernel_of(const TileConfig& tile) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (!tile.block_team) {
      if (tile.group == 4) return run_warps<Real, Semiring, 4, 4, kWarpKernelThreads>;
      if (tile.group == 8) return run_warps<Real, Semiring, 8, 8, kWarpKernelThreads>;
      if (tile.group == 16) return run_warps<Real, Semiring, 16, 16, kWarpKernelThreads>;
      if (tile.rows == 24) return run_warps<Real, Semiring, 32, 24, kWarpKernelThreads>;
      return run_warps<Real, Semiring, 32, 32, kWarpKernelThreads>;
    }
  }
  return run_block<Real, Semiring>;
}

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  SEMICRF_CUDA_CHECK(cudaGetDevice(&device));
  SEMICRF_CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

template <class Real, class Semiring>
int resident_blocks(const TileConfig& tile) {
  const RunKernel<Real> kernel = kernel_of<Real, Semiring>(tile);
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(tile.shared_bytes)));
  int blocks = 0;
  SEMICRF_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, tile.warps * 32, tile.shared_bytes));
  if (blocks < 1) refuse_shape(tile.warps, tile.shared_bytes);
  return blocks * device_attribute(cudaDevAttrMultiProcessorCount);
}

template <class Real, class Semiring>
void launch_runs(const TileConfig& tile, int blocks, const RunParameters<Real>& parameters,
                 cudaStream_t stream) {
  const RunKernel<Real> kernel = kernel_of<Real, Semiring>(tile);
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(tile.shared_bytes)));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(tile.warps * 32));
  config.dynamicSmemBytes = tile.shared_bytes;
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, parameters));
}

}  // namespace semicrf::cuda
