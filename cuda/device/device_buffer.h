// Owned arrays: on the device, and in pinned memory of the host, which the device copies from and to by
// itself.
//
// The room: device/ wraps the CUDA runtime: memory, streams, events, copies, errors. It includes core/ alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {

// Memory of the device, and pinned memory of the host, that outlives the engines: getting it from the driver
// takes longer than a short sequence, and training makes engines again and again.
enum class MemoryKind { kDevice, kPinned };  // memory of the current device; of the host

// Contents are undefined. MemoryError when there is not enough.
void* allocate_memory(MemoryKind kind, std::size_t bytes);
// Keeps it for the next allocation: memory of a device after all work of its device has ended; no copy may be
// using pinned memory.
void release_memory(MemoryKind kind, void* memory);
// Bytes of the current device that allocations can have without the driver.
std::size_t idle_device_memory();

// Copies from the host's memory that do not wait behind scores on their way up.
//
// `from` may be changed when this returns, unless it is pinned.
void upload_bytes(void* to, const void* from, std::size_t bytes, cudaStream_t stream);

// Bytes that are copied within the device; `zeros` before them become 0.
struct DeviceCopy {
  unsigned char* to = nullptr;
  const unsigned char* from = nullptr;
  std::size_t bytes = 0;
  std::size_t zeros = 0;
};
// One call of the driver for copies of one size at equal distances, such as the sequences of a padded batch.
void copy_within_device(const std::vector<DeviceCopy>& copies, cudaStream_t stream);

// An array of T. Grows; never shrinks; what was there is lost when it has to grow.
template <class T, MemoryKind kKind>
class MemoryBuffer {
 public:
  MemoryBuffer() = default;
  ~MemoryBuffer() {
    if (data_ != nullptr) release_memory(kKind, data_);
  }
  MemoryBuffer(MemoryBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  MemoryBuffer& operator=(MemoryBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  // Room for `count` elements. MemoryError when there is not enough. No copy may be using a pinned array that
  // has to grow.
  void reserve(std::size_t count) {
    if (count <= count_) return;
    if (data_ != nullptr) release_memory(kKind, std::exchange(data_, nullptr));
    count_ = 0;
    data_ = static_cast<T*>(allocate_memory(kKind, count * sizeof(T)));
    count_ = count;
  }
  T* get() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

template <class T>
using PinnedBuffer = MemoryBuffer<T, MemoryKind::kPinned>;

// On the current device. Copies are asynchronous unless they say so.
template <class T>
class DeviceBuffer : public MemoryBuffer<T, MemoryKind::kDevice> {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count) { this->reserve(count); }

  void upload(const T* from, std::size_t count, cudaStream_t stream) {
    this->reserve(count);
    upload_bytes(this->get(), from, count * sizeof(T), stream);
  }
  void upload(const std::vector<T>& from, cudaStream_t stream) { upload(from.data(), from.size(), stream); }
  void download(T* to, std::size_t first, std::size_t count, cudaStream_t stream) const {
    if (count == 0) return;
    SEMICRF_CUDA_CHECK(
        cudaMemcpyAsync(to, this->get() + first, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }
  // Waits for the stream.
  std::vector<T> download(std::size_t count, cudaStream_t stream) const {
    std::vector<T> result(count);
    download(result.data(), 0, count, stream);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
    return result;
  }
  // `count` elements of another array, from `first` on.
  void copy(const DeviceBuffer& from, std::size_t first, std::size_t count, cudaStream_t stream) {
    this->reserve(count);
    if (count > 0)
      SEMICRF_CUDA_CHECK(cudaMemcpyAsync(this->get(), from.get() + first, count * sizeof(T),
                                         cudaMemcpyDeviceToDevice, stream));
  }
  // Zeros.
  void clear(std::size_t count, cudaStream_t stream) {
    if (count > 0) SEMICRF_CUDA_CHECK(cudaMemsetAsync(this->get(), 0, count * sizeof(T), stream));
  }
};

}  // namespace semicrf::cuda
