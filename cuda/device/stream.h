// Owned streams beside that of the engine.
#pragma once

#include <cuda_runtime.h>

#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {

// Of the current device.
class Stream {
 public:
  enum class Order { kUsual, kFirst };  // kFirst: its blocks of threads go before those of other streams
  explicit Stream(Order order = Order::kUsual) {
    int least = 0, greatest = 0;
    SEMICRF_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    SEMICRF_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                                    order == Order::kFirst ? greatest : least));
  }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace semicrf::cuda
