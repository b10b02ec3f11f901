// The only place that knows which engines exist.
#include <utility>

#include "core/error.h"
#include "cpu/cpu_engine.h"
#include "cpu/peak.h"
#include "cuda/cuda_engine.h"
#include "engine/engine.h"
#include "reference/reference_engine.h"

namespace semicrf {
std::unique_ptr<Engine> make_engine(const EngineOptions& options, ChainModel model) {
  if (options.backend == EngineOptions::Backend::kReference) {
    if (!options.instruction_set.empty()) {
      throw DeviceError(
          {"", "", "the reference engine has no instruction sets to choose from", "use the cpu engine"});
    }
    return make_reference_engine(std::move(model));
  }
  const bool any = options.backend == EngineOptions::Backend::kAuto && options.instruction_set.empty();
  if (options.backend == EngineOptions::Backend::kCuda || (any && cuda_obstacle().empty())) {
    return make_cuda_engine(std::move(model), options.precision, options.devices);
  }
  return make_cpu_engine(std::move(model), options.precision, options.threads, options.instruction_set);
}

std::vector<std::string> available_instruction_sets() { return cpu_instruction_sets(); }

ArithmeticPeaks measure_arithmetic_peaks() { return {measure_add_max_peak(), measure_multiply_add_peak()}; }

}  // namespace semicrf
