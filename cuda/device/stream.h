// Owned streams and events.
#pragma once

#include <cuda_runtime.h>

#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {

// A stream of the current device.
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

class Event {
 public:
  Event() { SEMICRF_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { SEMICRF_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  // The host waits; not at all where nothing was recorded yet.
  void wait() const { SEMICRF_CUDA_CHECK(cudaEventSynchronize(event_)); }
  // What `stream` gets from now on waits.
  void make_wait(cudaStream_t stream) const { SEMICRF_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0)); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace semicrf::cuda
