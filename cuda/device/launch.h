// Starts kernels. To be used as SEMICRF_CUDA_CHECK(launch(...)), so that an error names the kernel and its
// place.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/sizes.h"
#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {

struct LaunchShape {
  std::int64_t blocks;  // of threads; 0: the kernel is not started
  int threads;          // per block
  std::size_t shared_bytes = 0;
};
// As many blocks as `threads` threads need, so many per block.
inline LaunchShape shape_for(std::int64_t threads, int per_block) {
  return {ceil_div<std::int64_t>(threads, per_block), per_block};
}

// Asynchronous.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                   const Arguments&... arguments) {
  constexpr std::size_t kWithoutAsking = std::size_t{48} << 10;  // bytes of shared memory
  if (shape.blocks <= 0) return cudaSuccess;
  if (shape.shared_bytes > kWithoutAsking) {
    const cudaError_t refused = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     static_cast<int>(shape.shared_bytes));
    if (refused != cudaSuccess) return refused;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(shape.blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace semicrf::cuda
