// Copies from the host's memory that do not wait behind scores on their way up.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

namespace semicrf::cuda {

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

}  // namespace semicrf::cuda
