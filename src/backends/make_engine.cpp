// The only place that knows which engines exist.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "cpu/cpu_engine.h"
#include "cpu/peak.h"
#include "cuda/engine/cuda_engine.h"
#include "engine/measure.h"
#include "engine/options.h"
#include "reference/reference_engine.h"

namespace semicrf {
namespace {

CudaOptions cuda_options(const EngineOptions& options) {
  return {options.devices, options.device_memory, options.threads, options.spread_windows};
}

}  // namespace

bool takes_gpu(const EngineOptions& options) {
  if (options.is_cuda()) return true;
  return options.backend == EngineOptions::Backend::kAuto && options.instruction_set.empty() &&
         cuda_obstacle().empty();
}

bool knows_cut_edges(const EngineOptions& options) {
  return options.backend != EngineOptions::Backend::kReference &&
         options.backend != EngineOptions::Backend::kCudaPlain;
}

std::unique_ptr<Engine> make_engine(const EngineOptions& options, ChainModel model) {
  if (options.backend == EngineOptions::Backend::kReference) {
    if (!options.instruction_set.empty()) {
      throw DeviceError(
          {"", "", "--instruction-set does not apply to the reference engine", "use --device cpu"});
    }
    return make_reference_engine(std::move(model));
  }
  if (options.backend == EngineOptions::Backend::kCudaPlain)
    return make_plain_cuda_engine(std::move(model), cuda_options(options));
  if (takes_gpu(options)) return make_cuda_engine(std::move(model), options.precision, cuda_options(options));
  return make_cpu_engine(std::move(model), options.precision, options.threads, options.instruction_set);
}

std::vector<std::string> available_instruction_sets() { return cpu_instruction_sets(); }

void warm_up(const EngineOptions& options) {
  if (options.is_cuda()) warm_up_device(options.devices);
}

std::string gpu_obstacle() { return cuda_obstacle(); }

double measure_copy_seconds(const EngineOptions& options, std::span<const unsigned char> bytes) {
  if (takes_gpu(options)) return cuda_copy_seconds(bytes, cuda_options(options));
  const auto begin = std::chrono::steady_clock::now();
  // Every cache line, summed so that the reads must happen.
  const std::size_t threads = static_cast<std::size_t>(std::max(1, options.threads));
  std::atomic<unsigned> sum{0};
  parallel_for(options.threads, threads, [&](std::size_t i, int) {
    unsigned part = 0;
    for (std::size_t at = bytes.size() * i / threads; at < bytes.size() * (i + 1) / threads; at += 64)
      part += bytes[at];
    sum += part;
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

ArithmeticPeaks measure_arithmetic_peaks() { return {measure_add_max_peak(), measure_multiply_add_peak()}; }

}  // namespace semicrf
