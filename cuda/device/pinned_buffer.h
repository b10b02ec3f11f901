// Owned host memory that the device copies from and to by itself, and the events that say when it did.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "cuda/device/cuda_check.h"
#include "cuda/device/memory_pool.h"

namespace semicrf::cuda {

// An array of T. Grows; never shrinks; what was there is lost when it has to grow. No copy may be using it
// then.
template <class T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  ~PinnedBuffer() {
    if (data_ != nullptr) give_pinned_memory(data_);
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  void reserve(std::size_t count) {
    if (count <= count_) return;
    if (data_ != nullptr) give_pinned_memory(std::exchange(data_, nullptr));
    count_ = 0;
    void* const memory = take_pinned_memory(count * sizeof(T));
    if (memory == nullptr) refuse_pinned(count * sizeof(T));
    data_ = static_cast<T*>(memory);
    count_ = count;
  }
  T* get() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

class Event {
 public:
  Event() { SEMICRF_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { SEMICRF_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  // On the host; true at once where nothing was recorded yet.
  void wait() const { SEMICRF_CUDA_CHECK(cudaEventSynchronize(event_)); }
  // On the device.
  void hold(cudaStream_t stream) const { SEMICRF_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0)); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace semicrf::cuda
