#include "pipeline/run/engine_pool.h"

#include "core/parallel.h"

namespace semicrf {

bool windows_pay(std::span<const std::int64_t> pieces, std::size_t devices) {
  std::int64_t sum = 0, longest = 0;
  for (const std::int64_t piece : pieces) {
    sum += piece;
    longest = std::max(longest, piece);
  }
  return devices > 1 && longest > sum / static_cast<std::int64_t>(devices);
}

EnginePool::EnginePool(const EngineOptions& options, const ChainModel& model)
    : options_(options), model_(model), singles_(static_cast<std::size_t>(std::max(1, options.threads))) {
  engines_.resize(options.spread_windows ? 1 : std::max<std::size_t>(1, options.devices.size()));
  // A GPU takes a tenth of a second to open.
  parallel_for(devices(), engines_.size(), [&](std::size_t i, int) {
    EngineOptions one = options;
    if (engines_.size() > 1) one.devices = {options.devices[i]};
    engines_[i] = make_engine(one, model);
  });
}

Engine& EnginePool::single(int index) {
  const auto at = static_cast<std::size_t>(index);
  if (singles_[at] == nullptr) {
    EngineOptions one = options_;
    one.threads = 1;
    one.spread_windows = false;
    if (!options_.devices.empty()) one.devices = {options_.devices[at % options_.devices.size()]};
    singles_[at] = make_engine(one, model_);
  }
  return *singles_[at];
}

}  // namespace semicrf
