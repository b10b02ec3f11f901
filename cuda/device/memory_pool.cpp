#include "cuda/device/memory_pool.h"

#include <cuda_runtime.h>

#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {
namespace {

// Memory in waiting beyond this goes back to the driver.
constexpr std::size_t kMostIdleDevice = std::size_t{8} << 30;
constexpr std::size_t kMostIdlePinned = std::size_t{256} << 20;

// Sizes are rounded up by a little, so that what was given back fits the next taker.
std::size_t rounded(std::size_t bytes) {
  std::size_t step = 256;
  while (step * 64 <= bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

class Pool {
 public:
  enum class Kind { kDevice, kPinned };
  explicit Pool(Kind kind) : kind_(kind) {}

  void* take(std::size_t bytes) {
    const int device = where();
    const std::size_t size = rounded(bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& idle = idle_[device];
    const auto found = idle.lower_bound(size);
    if (found != idle.end() && found->first <= size + size / 8) {
      void* const memory = found->second;
      idle.erase(found);
#if defined(SEMICRF_EMULATED_CUDA)
      std::memset(memory, 0xA5, size);  // what a kernel does not write must not look right
#endif
      return memory;
    }
    void* memory = get(size);
    if (memory == nullptr && !idle.empty()) {
      for (const auto& [unused, block] : idle) release(block);
      idle.clear();
      memory = get(size);
    }
    if (memory != nullptr) blocks_[memory] = {device, size};
    return memory;
  }
  void give(void* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Block block = blocks_.at(memory);
    auto& idle = idle_[block.device];
    std::size_t waiting = block.size;
    for (const auto& [size, unused] : idle) waiting += size;
    if (waiting > (kind_ == Kind::kDevice ? kMostIdleDevice : kMostIdlePinned)) {
      release(memory);
    } else {
      idle.emplace(block.size, memory);
    }
  }
  int device_of(void* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return blocks_.at(memory).device;
  }
  std::size_t idle_bytes() {
    const int device = where();
    const std::lock_guard<std::mutex> lock(mutex_);
    std::size_t sum = 0;
    for (const auto& [size, unused] : idle_[device]) sum += size;
    return sum;
  }

 private:
  struct Block {
    int device;
    std::size_t size;
  };

  int where() const {
    int device = 0;
    if (kind_ == Kind::kDevice) SEMICRF_CUDA_CHECK(cudaGetDevice(&device));
    return device;
  }
  void* get(std::size_t size) const {
    void* memory = nullptr;
    const cudaError_t status =
        kind_ == Kind::kDevice ? cudaMalloc(&memory, size) : cudaMallocHost(&memory, size);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // not sticky; do not report it again
      return nullptr;
    }
    SEMICRF_CUDA_CHECK(status);
    return memory;
  }
  void release(void* memory) {
    kind_ == Kind::kDevice ? cudaFree(memory) : cudaFreeHost(memory);
    blocks_.erase(memory);
  }

  Kind kind_;
  std::mutex mutex_;
  std::map<int, std::multimap<std::size_t, void*>> idle_;  // per device, by size
  std::unordered_map<void*, Block> blocks_;                // all that came from the driver
};

// Never destroyed: the driver may be gone by then, and takes its memory back itself.
Pool& device_pool() {
  static Pool* const pool = new Pool(Pool::Kind::kDevice);
  return *pool;
}
Pool& pinned_pool() {
  static Pool* const pool = new Pool(Pool::Kind::kPinned);
  return *pool;
}

}  // namespace

void* take_device_memory(std::size_t bytes) { return device_pool().take(bytes); }
void give_device_memory(void* memory) {
  int current = 0;
  cudaGetDevice(&current);
  const int device = device_pool().device_of(memory);
  if (device != current) cudaSetDevice(device);
  cudaDeviceSynchronize();
  device_pool().give(memory);
  if (device != current) cudaSetDevice(current);
}
std::size_t idle_device_memory() { return device_pool().idle_bytes(); }
void* take_pinned_memory(std::size_t bytes) { return pinned_pool().take(bytes); }
void give_pinned_memory(void* memory) { pinned_pool().give(memory); }

}  // namespace semicrf::cuda
