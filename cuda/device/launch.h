// Starts kernels. To be used as SEMICRF_CUDA_CHECK(launch(...)), so that an error names the kernel and its
// place.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/sizes.h"
#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {

struct LaunchShape {
  std::int64_t blocks;  // blocks of threads; 0: the kernel is not started
  int threads;          // per block
  std::size_t shared_bytes = 0;
};
// As many blocks as `threads` threads need, so many per block.
inline LaunchShape shape_for(std::int64_t threads, int per_block) {
  return {ceil_div<std::int64_t>(threads, per_block), per_block};
}

// Bytes of shared memory that every kernel may have.
inline constexpr std::size_t kWithoutAsking = std::size_t{48} << 10;
// A kernel's most bytes of shared memory are a property of the kernel, and engines of other models on other
// threads want other ones: what is set holds while this is locked.
inline std::mutex& shared_memory_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Asynchronous.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                   const Arguments&... arguments) {
  if (shape.blocks <= 0) return cudaSuccess;
  std::unique_lock<std::mutex> lock(shared_memory_mutex(), std::defer_lock);
  if (shape.shared_bytes > kWithoutAsking) {
    lock.lock();
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
