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
