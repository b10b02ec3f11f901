#include <algorithm>

#include "cuda/device/cuda_check.h"
#include "cuda/recursion/run_kernels.h"
#include "cuda/recursion/run_launch.h"

namespace semicrf::cuda {
namespace {

template <class Real, class Semiring>
RunKernel<Real> kernel_of(const TileConfig& tile) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (!tile.block_team)
      return tile.warps * 32 <= kFewThreads ? warp_kernel<Real, Semiring, kFewThreads>(tile)
                                            : warp_kernel<Real, Semiring, kManyThreads>(tile);
  }
  return block_kernel<Real, Semiring>(tile);
}

// No more than the blocks that are meant to share a multiprocessor need: the rest is cache, for the tables.
template <class Real>
void set_shared_memory(RunKernel<Real> kernel, const TileConfig& tile) {
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(tile.shared_bytes)));
  constexpr int kReserved = 1024;  // of a block, by the runtime
  const int all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int wanted = tile.resident * (static_cast<int>(tile.shared_bytes) + kReserved);
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                          std::min(100, (100 * wanted + all - 1) / all)));
}

}  // namespace

template <class Real, class Semiring>
int resident_blocks(const TileConfig& tile) {
  const RunKernel<Real> kernel = kernel_of<Real, Semiring>(tile);
  set_shared_memory(kernel, tile);
  int blocks = 0;
  SEMICRF_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, tile.warps * 32, tile.shared_bytes));
  if (blocks < 1) refuse_shape(tile.warps, tile.shared_bytes);
  return std::min(blocks, tile.resident) * device_attribute(cudaDevAttrMultiProcessorCount);
}

template <class Real, class Semiring>
void launch_runs(const TileConfig& tile, int blocks, const RunParameters<Real>& parameters,
                 cudaStream_t stream) {
  const RunKernel<Real> kernel = kernel_of<Real, Semiring>(tile);
  set_shared_memory(kernel, tile);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(tile.warps * 32));
  config.dynamicSmemBytes = tile.shared_bytes;
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, parameters, parameters));
}

template int resident_blocks<float, LogSemiring>(const TileConfig&);
template int resident_blocks<float, MaxSemiring>(const TileConfig&);
template int resident_blocks<double, LogSemiring>(const TileConfig&);
template int resident_blocks<double, MaxSemiring>(const TileConfig&);
template void launch_runs<float, LogSemiring>(const TileConfig&, int, const RunParameters<float>&,
                                              cudaStream_t);
template void launch_runs<float, MaxSemiring>(const TileConfig&, int, const RunParameters<float>&,
                                              cudaStream_t);
template void launch_runs<double, LogSemiring>(const TileConfig&, int, const RunParameters<double>&,
                                               cudaStream_t);
template void launch_runs<double, MaxSemiring>(const TileConfig&, int, const RunParameters<double>&,
                                               cudaStream_t);

}  // namespace semicrf::cuda
