// Copies from the host's memory that do not wait behind scores on their way up.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace semicrf::cuda {

// `from` may be changed when this returns, unless it is pinned.
void upload_bytes(void* to, const void* from, std::size_t bytes, cudaStream_t stream);

}  // namespace semicrf::cuda
