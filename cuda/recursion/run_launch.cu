#include <algorithm>

#include "cuda/device/launch.h"
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
void prefer_shared_memory(RunKernel<Real> kernel, const TileConfig& tile) {
  constexpr int kReserved = 1024;  // bytes of a block that the runtime keeps
  const int all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int wanted = tile.resident * (static_cast<int>(tile.shared_bytes) + kReserved);
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                          std::min(100, (100 * wanted + all - 1) / all)));
}

}  // namespace

template <class Real, class Semiring>
int resident_blocks(const TileConfig& tile) {
  const RunKernel<Real> kernel = kernel_of<Real, Semiring>(tile);
  prefer_shared_memory(kernel, tile);
  const std::lock_guard<std::mutex> lock(shared_memory_mutex());
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(std::max(tile.shared_bytes, kWithoutAsking))));
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
  prefer_shared_memory(kernel, tile);
  SEMICRF_CUDA_CHECK(
      launch(kernel, {blocks, tile.warps * 32, tile.shared_bytes}, stream, parameters, parameters));
}

#define SEMICRF_INSTANTIATE(Real, Semiring)                        \
  template int resident_blocks<Real, Semiring>(const TileConfig&); \
  template void launch_runs<Real, Semiring>(const TileConfig&, int, const RunParameters<Real>&, cudaStream_t);
SEMICRF_INSTANTIATE(float, LogSemiring)
SEMICRF_INSTANTIATE(float, MaxSemiring)
SEMICRF_INSTANTIATE(double, LogSemiring)
SEMICRF_INSTANTIATE(double, MaxSemiring)
#undef SEMICRF_INSTANTIATE

}  // namespace semicrf::cuda
