#include "cuda/device/device_buffer.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
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

// What is copied by the device's copy engine waits there for all slices of scores that are under way, and as
// long as more of them come (seen: 40 ms). Up to 64 KiB of pageable memory go with the commands themselves.
void upload_bytes(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  constexpr std::size_t kPart = std::size_t{32} << 10;
  constexpr std::size_t kMostInParts = std::size_t{1} << 20;
  if (bytes > kMostInParts) {
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    return;
  }
  std::array<unsigned char, kPart> pageable;
  for (std::size_t at = 0; at < bytes; at += kPart) {
    const std::size_t count = std::min(kPart, bytes - at);
    std::memcpy(pageable.data(), static_cast<const unsigned char*>(from) + at, count);
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(static_cast<unsigned char*>(to) + at, pageable.data(), count,
                                       cudaMemcpyHostToDevice, stream));
  }
}

namespace {

// The end of the copies from `first` on that have its sizes and lie at equal distances. Distances are not
// negative.
std::size_t equal_run(const std::vector<DeviceCopy>& copies, std::size_t first) {
  std::size_t end = first + 1;
  if (end == copies.size()) return end;
  const std::ptrdiff_t to = copies[end].to - copies[first].to, from = copies[end].from - copies[first].from;
  const auto bytes = static_cast<std::ptrdiff_t>(copies[first].bytes);
  if (to < bytes || from < bytes) return end;
  while (end < copies.size() && copies[end].bytes == copies[first].bytes &&
         copies[end].zeros == copies[first].zeros && copies[end].to - copies[end - 1].to == to &&
         copies[end].from - copies[end - 1].from == from)
    ++end;
  return end;
}

}  // namespace

void copy_within_device(const std::vector<DeviceCopy>& copies, cudaStream_t stream) {
  for (std::size_t first = 0; first < copies.size();) {
    const DeviceCopy& one = copies[first];
    const std::size_t end = equal_run(copies, first), count = end - first;
    const std::size_t to = count > 1 ? static_cast<std::size_t>(copies[first + 1].to - one.to) : one.bytes;
    const std::size_t from =
        count > 1 ? static_cast<std::size_t>(copies[first + 1].from - one.from) : one.bytes;
    if (one.bytes > 0)
      SEMICRF_CUDA_CHECK(
          cudaMemcpy2DAsync(one.to, to, one.from, from, one.bytes, count, cudaMemcpyDeviceToDevice, stream));
    if (one.zeros > 0)
      SEMICRF_CUDA_CHECK(
          cudaMemset2DAsync(one.to - one.zeros, count > 1 ? to : one.zeros, 0, one.zeros, count, stream));
    first = end;
  }
}

}  // namespace semicrf::cuda
