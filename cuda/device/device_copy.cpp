#include "cuda/device/device_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "cuda/device/cuda_check.h"

namespace semicrf::cuda {

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

}  // namespace semicrf::cuda
