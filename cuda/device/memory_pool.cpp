#include "cuda/device/memory_pool.h"

#include <cuda_runtime.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/error.h"
#include "core/sizes.h"
#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {
namespace {

// Memory in waiting beyond this goes back to the driver.
constexpr std::size_t kMostIdleDevice = std::size_t{8} << 30;
constexpr std::size_t kMostIdlePinned = std::size_t{256} << 20;

// Sizes are rounded up by a little, so that what was released fits the next allocation.
std::size_t rounded(std::size_t bytes) {
  std::size_t step = 256;
  while (step * 64 <= bytes) step *= 2;
  return round_up(bytes, step);
}

class Pool {
 public:
  explicit Pool(MemoryKind kind) : kind_(kind) {}

  void* allocate(std::size_t bytes) {
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
      for (const auto& [unused, block] : idle) return_to_driver(block);
      idle.clear();
      memory = get(size);
    }
    if (memory != nullptr) blocks_[memory] = {device, size};
    return memory;
  }
  void release(void* memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Block block = blocks_.at(memory);
    auto& idle = idle_[block.device];
    std::size_t waiting = block.size;
    for (const auto& [size, unused] : idle) waiting += size;
    if (waiting > (kind_ == MemoryKind::kDevice ? kMostIdleDevice : kMostIdlePinned)) {
      return_to_driver(memory);
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
    if (kind_ == MemoryKind::kDevice) SEMICRF_CUDA_CHECK(cudaGetDevice(&device));
    return device;
  }
  void* get(std::size_t size) const {
    void* memory = nullptr;
    const cudaError_t status =
        kind_ == MemoryKind::kDevice ? cudaMalloc(&memory, size) : cudaMallocHost(&memory, size);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // not sticky; do not report it again
      return nullptr;
    }
    SEMICRF_CUDA_CHECK(status);
    return memory;
  }
  void return_to_driver(void* memory) {
    kind_ == MemoryKind::kDevice ? cudaFree(memory) : cudaFreeHost(memory);
    blocks_.erase(memory);
  }

  MemoryKind kind_;
  std::mutex mutex_;
  std::map<int, std::multimap<std::size_t, void*>> idle_;  // per device, by size
  std::unordered_map<void*, Block> blocks_;                // all that came from the driver
};

// Never destroyed: the driver may be gone by then, and takes its memory back itself.
Pool& pool_of(MemoryKind kind) {
  static Pool* const device = new Pool(MemoryKind::kDevice);
  static Pool* const pinned = new Pool(MemoryKind::kPinned);
  return kind == MemoryKind::kDevice ? *device : *pinned;
}

}  // namespace

void* allocate_memory(MemoryKind kind, std::size_t bytes) {
  void* const memory = pool_of(kind).allocate(bytes);
  if (memory != nullptr) return memory;
  if (kind == MemoryKind::kPinned)
    throw MemoryError({"", "", std::to_string(bytes) + " bytes of pinned host memory cannot be allocated",
                       "use fewer threads"});
  std::size_t available = 0, total = 0;
  cudaMemGetInfo(&available, &total);
  throw MemoryError(
      {"", "",
       std::to_string(bytes) + " bytes of GPU memory are needed, " + std::to_string(available) + " are free",
       "use a smaller --max-memory"});
}

void release_memory(MemoryKind kind, void* memory) {
  Pool& pool = pool_of(kind);
  if (kind == MemoryKind::kPinned) {
    pool.release(memory);
    return;
  }
  int current = 0;
  cudaGetDevice(&current);
  const int device = pool.device_of(memory);
  if (device != current) cudaSetDevice(device);
  cudaDeviceSynchronize();
  pool.release(memory);
  if (device != current) cudaSetDevice(current);
}

std::size_t idle_device_memory() { return pool_of(MemoryKind::kDevice).idle_bytes(); }

}  // namespace semicrf::cuda
