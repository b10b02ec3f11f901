// The only place that knows which engines exist.
#include <utility>

#include "core/error.h"
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
  throw DeviceError({"", "", "this build has no cpu engine", "use --device reference"});
}

std::vector<std::string> available_instruction_sets() { return {}; }

}  // namespace semicrf
