// Which GPUs can be used, and an engine on one of them.
#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/engine/cuda_engine_impl.h"
#include "cuda/engine/spread_engine.h"
#include "cuda/plain/plain_engine.h"

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

// Asked for once: the driver takes its time.
const cudaDeviceProp& properties_of(int device) {
  static std::mutex mutex;
  static std::map<int, cudaDeviceProp> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, unknown] = known.try_emplace(device);
  if (unknown) SEMICRF_CUDA_CHECK(cudaGetDeviceProperties(&entry->second, device));
  return entry->second;
}

// The first of the devices that are wanted. DeviceError when one of them cannot be used.
int usable_device(const std::vector<int>& devices, cudaDeviceProp* properties) {
  int count = 0;
  const std::string obstacle = count_devices(&count);
  if (!obstacle.empty()) throw DeviceError({"", "", obstacle, "use --device auto or --device cpu"});
  for (const int wanted : devices) {
    if (wanted >= 0 && wanted < count) continue;
    throw DeviceError({"", "",
                       "cuda:" + std::to_string(wanted) +
                           " does not exist; the highest number here is cuda:" + std::to_string(count - 1),
                       "choose another GPU, or check CUDA_VISIBLE_DEVICES"});
  }
  const int device = devices.empty() ? 0 : devices.front();
  *properties = properties_of(device);
  if (properties->major < kOldestMajor ||
      (properties->major == kOldestMajor && properties->minor < kOldestMinor)) {
    throw DeviceError({"", "",
                       std::string(properties->name) +
                           ": compute capability 7.5 or newer is required, found " +
                           std::to_string(properties->major) + "." + std::to_string(properties->minor),
                       "use --device cpu"});
  }
  SEMICRF_CUDA_CHECK(cudaSetDevice(device));
  return device;
}

// On the first of the devices.
template <class Real>
std::unique_ptr<cuda::CudaEngine<Real>> make_on_one(const ChainModel& model, const CudaOptions& options) {
  cudaDeviceProp properties{};
  const int device = usable_device(options.devices, &properties);
  int shared = 0;
  SEMICRF_CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  std::size_t available = 0, total = 0;
  SEMICRF_CUDA_CHECK(cudaMemGetInfo(&available, &total));
  const std::size_t memory = cuda::device_budget(available + cuda::idle_device_memory(), options.memory);
  return std::make_unique<cuda::CudaEngine<Real>>(model, device, properties.name,
                                                  static_cast<std::size_t>(shared), memory, options.threads);
}

template <class Real>
std::unique_ptr<Engine> make_engine_of(const ChainModel& model, const CudaOptions& options) {
  if (!options.spread || options.devices.size() < 2) return make_on_one<Real>(model, options);
  // A GPU takes a tenth of a second to open.
  std::vector<std::future<std::unique_ptr<cuda::CudaEngine<Real>>>> opening;
  for (const int device : options.devices) {
    CudaOptions one = options;
    one.devices = {device};
    one.threads = std::max(1, options.threads / static_cast<int>(options.devices.size()));
    opening.push_back(do_beside([&model, one] { return make_on_one<Real>(model, one); }));
  }
  std::vector<std::unique_ptr<cuda::CudaEngine<Real>>> engines;
  engines.reserve(opening.size());
  for (auto& engine : opening) engines.push_back(engine.get());
  return std::make_unique<cuda::SpreadEngine<Real>>(std::move(engines));
}

}  // namespace

std::string cuda_obstacle() {
  int count = 0;
  return count_devices(&count);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the contract of the header, which no_cuda.cpp shares
std::unique_ptr<Engine> make_cuda_engine(ChainModel model, Precision precision, const CudaOptions& options) {
  return precision == Precision::kFloat ? make_engine_of<float>(model, options)
                                        : make_engine_of<double>(model, options);
}

std::unique_ptr<Engine> make_plain_cuda_engine(ChainModel model, const CudaOptions& options) {
  cudaDeviceProp properties{};
  const int device = usable_device(options.devices, &properties);
  std::size_t available = 0, total = 0;
  SEMICRF_CUDA_CHECK(cudaMemGetInfo(&available, &total));
  available += cuda::idle_device_memory();
  // A sequence cannot be cut, so that there is no amount that is comfortable.
  const std::size_t memory = cuda::device_budget(available, options.memory != 0 ? options.memory : available);
  return cuda::make_plain_engine(std::move(model), device, properties.name, memory);
}

void warm_up_device(const std::vector<int>& devices) {
  const std::vector<int> wanted = devices.empty() ? std::vector<int>{0} : devices;
  for (const int device : wanted) {
    // The error stays with this thread, which asks for nothing else.
    if (cudaSetDevice(device) == cudaSuccess) cudaFree(nullptr);
    cudaGetLastError();
  }
}

double cuda_copy_seconds(std::span<const unsigned char> bytes, const CudaOptions& options) {
  cudaDeviceProp properties{};
  const int device = usable_device(options.devices, &properties);
  cuda::DeviceBuffer<unsigned char> there(bytes.size());
  cuda::ScoreUpload copies(device, options.threads);
  double seconds = 0;
  for (int turn = 0; turn < 2; ++turn) {  // the first pins its buffers
    const auto begin = std::chrono::steady_clock::now();
    copies.begin({{there.get(), 1, {{bytes.data(), 0, static_cast<std::int64_t>(bytes.size())}}}},
                 static_cast<std::int64_t>(bytes.size()));
    copies.wait(static_cast<std::int64_t>(bytes.size()), nullptr);
    SEMICRF_CUDA_CHECK(cudaDeviceSynchronize());
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds;
}

}  // namespace semicrf
