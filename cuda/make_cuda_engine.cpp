// Which GPUs can be used, and an engine on one of them.
#include "cuda/cuda_engine.h"
#include "cuda/cuda_engine_impl.h"

namespace semicrf {
namespace {

constexpr int kOldestMajor = 7;
constexpr int kOldestMinor = 5;

// What this build and driver offer: the number of devices, or why there is none.
std::string count_devices(int* count) {
  *count = 0;
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return "no NVIDIA driver is installed";
  cudaRuntimeGetVersion(&runtime);
  const cudaError_t status = cudaGetDeviceCount(count);
  if (status == cudaSuccess && *count > 0) return "";
  cudaGetLastError();
  if (driver < runtime / 1000 * 1000) {
    return "the NVIDIA driver is too old: it supports CUDA " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10) + ", this program needs " + std::to_string(runtime / 1000) +
           ".0";
  }
  return status == cudaErrorNoDevice || status == cudaSuccess ? std::string("no GPU is visible")
                                                              : std::string(cudaGetErrorString(status));
}

}  // namespace

std::string cuda_obstacle() {
  int count = 0;
  return count_devices(&count);
}

std::unique_ptr<Engine> make_cuda_engine(ChainModel model, Precision precision,
                                         const std::vector<int>& devices) {
  int count = 0;
  const std::string obstacle = count_devices(&count);
  if (!obstacle.empty()) throw DeviceError({"", "", obstacle, "use --device auto or --device cpu"});
  const int device = devices.empty() ? 0 : devices.front();
  for (const int wanted : devices) {
    if (wanted >= 0 && wanted < count) continue;
    throw DeviceError({"", "",
                       "cuda:" + std::to_string(wanted) + " is not visible, " + std::to_string(count) +
                           (count == 1 ? " GPU is" : " GPUs are"),
                       "see CUDA_VISIBLE_DEVICES"});
  }
  cudaDeviceProp properties{};
  SEMICRF_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  if (properties.major < kOldestMajor ||
      (properties.major == kOldestMajor && properties.minor < kOldestMinor)) {
    throw DeviceError({"", "",
                       std::string(properties.name) + " has compute capability " +
                           std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                           ", 7.5 is the least",
                       "use --device cpu"});
  }
  int shared = 0;
  SEMICRF_CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (precision == Precision::kFloat) {
    return std::make_unique<cuda::CudaEngine<float>>(std::move(model), device, properties.name,
                                                     static_cast<std::size_t>(shared));
  }
  return std::make_unique<cuda::CudaEngine<double>>(std::move(model), device, properties.name,
                                                    static_cast<std::size_t>(shared));
}

}  // namespace semicrf
