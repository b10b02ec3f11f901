// Errors of the CUDA runtime as errors of ours. Declared only, so that what nvcc compiles sees no strings.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace semicrf::cuda {

// DeviceError with the call, the error and the place, unless `status` is success.
void check(cudaError_t status, const char* call, const char* file, int line);
// An attribute of the current device.
int device_attribute(cudaDeviceAttr attribute);
// DeviceError: a block of threads of this shape does not fit on the device.
[[noreturn]] void refuse_shape(int warps, std::size_t shared_bytes);

}  // namespace semicrf::cuda

// The name of the source without its folders: a program must not depend on the folder it was built in.
#ifdef __FILE_NAME__
#define SEMICRF_SOURCE_NAME __FILE_NAME__
#else  // GCC before 12
#define SEMICRF_SOURCE_NAME __FILE__
#endif
#define SEMICRF_CUDA_CHECK(call) ::semicrf::cuda::check((call), #call, SEMICRF_SOURCE_NAME, __LINE__)
