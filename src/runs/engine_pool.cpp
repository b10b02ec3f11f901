#include "runs/engine_pool.h"

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
    : options_(options), model_(model), singles_(std::max(1, options.threads)) {
  engines_.resize(options.spread_windows ? 1 : std::max<std::size_t>(1, options.devices.size()));
  // A GPU takes a tenth of a second to open.
  parallel_for(devices(), engines_.size(), [&](std::size_t i, int) {
    engines_[i] = make_engine(options_of({i, false}), model);
  });
}

EngineOptions EnginePool::options_of(const Worker& worker) const {
  EngineOptions own = options_;
  if (worker.single) {
    own.threads = 1;
    own.spread_windows = false;
  }
  const bool shares = worker.single ? !options_.devices.empty() : engines_.size() > 1;
  if (shares) own.devices = {options_.devices[worker.index % options_.devices.size()]};
  return own;
}

EnginePool::Worker EnginePool::worker_of(const Engine& device) const {
  Worker worker;
  while (engines_[worker.index].get() != &device) ++worker.index;
  return worker;
}

// The caller holds the mutex.
EnginePool::ForEdges& EnginePool::for_edges(CutEdges cut) const {
  ForEdges& own = cut_[(cut.left ? 1u : 0u) + (cut.right ? 2u : 0u)];
  if (own.roles == nullptr) {
    own.roles = std::make_unique<EdgeRoles>(model_, cut);
    own.engines.resize(engines_.size());
    own.host.resize(engines_.size());
    own.singles.resize(singles_.size());
  }
  return own;
}

const EdgeRoles* EnginePool::roles(CutEdges cut) const {
  if (!cut.any()) return nullptr;
  const std::lock_guard lock(mutex_);
  return for_edges(cut).roles.get();
}

Engine& EnginePool::engine(const Worker& worker, CutEdges cut) const {
  if (!cut.any() && !worker.single) return *engines_[worker.index];
  const std::lock_guard lock(mutex_);
  Engines& engines = !cut.any() ? singles_ : worker.single ? for_edges(cut).singles : for_edges(cut).engines;
  std::unique_ptr<Engine>& engine = engines[worker.index];
  if (engine == nullptr)
    engine = make_engine(options_of(worker), cut.any() ? for_edges(cut).roles->chain() : model_);
  return *engine;
}

Engine& EnginePool::host_engine(const Worker& worker, CutEdges cut) const {
  if (worker.single || engines_[worker.index]->own_memory() == nullptr) return engine(worker, cut);
  const std::lock_guard lock(mutex_);
  ForEdges& own = for_edges(cut);
  std::unique_ptr<Engine>& engine = own.host[worker.index];
  if (engine == nullptr) {
    EngineOptions options = options_of(worker);
    options.backend = EngineOptions::Backend::kCpu;
    options.threads = threads_per_device();
    engine = make_engine(options, own.roles->chain());
  }
  return *engine;
}

}  // namespace semicrf
