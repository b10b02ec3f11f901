// Owned device memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "cuda/device/cuda_check.h"
#include "cuda/device/device_copy.h"
#include "cuda/device/memory_pool.h"

namespace semicrf::cuda {

// An array of T on the current device. Grows; never shrinks.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count) { reserve(count); }
  ~DeviceBuffer() {
    if (data_ != nullptr) give_device_memory(data_);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  // Room for `count` elements; what was there is lost when it has to grow. MemoryError when there is not
  // enough.
  void reserve(std::size_t count) {
    if (count <= count_) return;
    if (data_ != nullptr) give_device_memory(std::exchange(data_, nullptr));
    count_ = 0;
    void* const memory = take_device_memory(count * sizeof(T));
    if (memory == nullptr) {
      std::size_t available = 0, total = 0;
      cudaMemGetInfo(&available, &total);
      throw MemoryError({"", "",
                         std::to_string(count * sizeof(T)) + " bytes of GPU memory are needed, " +
                             std::to_string(available) + " are free",
                         "use a smaller --max-memory"});
    }
    data_ = static_cast<T*>(memory);
    count_ = count;
  }
  void upload(const T* from, std::size_t count, cudaStream_t stream) {
    reserve(count);
    upload_bytes(data_, from, count * sizeof(T), stream);
  }
  void upload(const std::vector<T>& from, cudaStream_t stream) { upload(from.data(), from.size(), stream); }
  void download(T* to, std::size_t first, std::size_t count, cudaStream_t stream) const {
    if (count == 0) return;
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(to, data_ + first, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }
  std::vector<T> download(std::size_t count, cudaStream_t stream) const {
    std::vector<T> result(count);
    download(result.data(), 0, count, stream);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
    return result;
  }
  // `count` elements of another array, from `first` on.
  void copy(const DeviceBuffer& from, std::size_t first, std::size_t count, cudaStream_t stream) {
    reserve(count);
    if (count > 0)
      SEMICRF_CUDA_CHECK(
          cudaMemcpyAsync(data_, from.data_ + first, count * sizeof(T), cudaMemcpyDeviceToDevice, stream));
  }
  void clear(std::size_t count, cudaStream_t stream) {
    if (count > 0) SEMICRF_CUDA_CHECK(cudaMemsetAsync(data_, 0, count * sizeof(T), stream));
  }

  T* get() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace semicrf::cuda
