#include "pipeline/run/engine_pool.h"

#include "core/threads/parallel.h"

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
  parallel_for(devices(), engines_.size(),
               [&](std::size_t i, int) { engines_[i] = make_engine(options_of(i), model); });
}

EngineOptions EnginePool::options_of(std::size_t device) const {
  EngineOptions one = options_;
  if (engines_.size() > 1) one.devices = {options_.devices[device]};
  return one;
}

EngineOptions EnginePool::options_of_single(std::size_t index) const {
  EngineOptions one = options_;
  one.threads = 1;
  one.spread_windows = false;
  if (!options_.devices.empty()) one.devices = {options_.devices[index % options_.devices.size()]};
  return one;
}

EnginePool::ForEdges& EnginePool::for_edges(CutEdges cut) const {
  ForEdges& own = cut_[(cut.left ? 1u : 0u) + (cut.right ? 2u : 0u)];
  const std::lock_guard lock(mutex_);
  if (own.roles == nullptr) {
    own.roles = std::make_unique<EdgeRoles>(model_, cut);
    own.engines.resize(engines_.size());
    own.singles.resize(singles_.size());
  }
  return own;
}

const EdgeRoles* EnginePool::roles(CutEdges cut) const {
  return cut.any() ? for_edges(cut).roles.get() : nullptr;
}

Engine& EnginePool::for_edges(Engine& device, CutEdges cut) const {
  if (!cut.any()) return device;
  ForEdges& own = for_edges(cut);
  std::size_t i = 0;
  while (engines_[i].get() != &device) ++i;
  const std::lock_guard lock(mutex_);
  if (own.engines[i] == nullptr) own.engines[i] = make_engine(options_of(i), own.roles->chain());
  return *own.engines[i];
}

Engine& EnginePool::single(int index, CutEdges cut) {
  const auto at = static_cast<std::size_t>(index);
  std::unique_ptr<Engine>& engine = cut.any() ? for_edges(cut).singles[at] : singles_[at];
  if (engine == nullptr)
    engine = make_engine(options_of_single(at), cut.any() ? for_edges(cut).roles->chain() : model_);
  return *engine;
}

}  // namespace semicrf
