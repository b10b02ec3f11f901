#include "cuda/device/cuda_check.h"

#include <string>

#include "core/error.h"

namespace semicrf::cuda {

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  const std::string place = std::string(file) + ":" + std::to_string(line);
  throw DeviceError({"", "",
                     std::string("CUDA: ") + call + " failed at " + place + ": " + cudaGetErrorName(status) +
                         ", " + cudaGetErrorString(status),
                     ""});
}

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  SEMICRF_CUDA_CHECK(cudaGetDevice(&device));
  SEMICRF_CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

void refuse_shape(int warps, std::size_t shared_bytes) {
  throw DeviceError({"", "",
                     "the GPU cannot run a thread block of " + std::to_string(warps) + " warps with " +
                         std::to_string(shared_bytes) + " bytes of shared memory",
                     ""});
}

}  // namespace semicrf::cuda
