// The engines of a run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "model/scores/edge_roles.h"

namespace semicrf {

// Whether several devices should share the windows of every piece, instead of taking pieces in turn: the
// longest (positions) is more than an equal part of all.
bool windows_pay(std::span<const std::int64_t> pieces, std::size_t devices);

// An engine per device, or one that works with all threads; and engines of one thread. Pieces that were cut
// may have engines of their own, of the chains of their EdgeRoles. All but the first are made when they are
// asked for, and live as long as this object.
class EnginePool {
 public:
  // A worker computes: a device, or a thread with an engine of its own. Engines of one worker are for one
  // caller at a time.
  struct Worker {
    std::size_t index = 0;  // index of the device, or of the thread
    bool single = false;    // whether the worker is a thread; then index < threads()
  };

  EnginePool(const EngineOptions& options, const ChainModel& model);
  int devices() const { return static_cast<int>(engines_.size()); }
  Engine& device(int index) { return *engines_[index]; }
  Engine& first() const { return *engines_.front(); }
  // The worker that has this engine of a device.
  Worker worker_of(const Engine& device) const;
  // The roles of labels for pieces with these cut edges; null: no edge is a cut.
  const EdgeRoles* roles(CutEdges cut) const;
  // The worker's engine for pieces whose edges are cut like this.
  Engine& engine(const Worker& worker, CutEdges cut) const;
  // An engine for such pieces that computes in the host's memory, whatever the worker's own does.
  Engine& host_engine(const Worker& worker, CutEdges cut) const;
  int threads() const { return options_.threads; }
  int threads_per_device() const { return std::max(1, threads() / devices()); }

 private:
  using Engines = std::vector<std::unique_ptr<Engine>>;
  struct ForEdges {
    std::unique_ptr<EdgeRoles> roles;
    Engines engines, singles;  // engines of the devices and of the threads
    Engines host;              // host engines for devices that compute in their own memory
  };
  ForEdges& for_edges(CutEdges cut) const;
  EngineOptions options_of(const Worker& worker) const;

  EngineOptions options_;
  ChainModel model_;
  Engines engines_;  // engines of the devices
  mutable Engines singles_;
  mutable std::mutex mutex_;             // guards all that is made when it is asked for
  mutable std::array<ForEdges, 4> cut_;  // indexed by left + 2 right; the first one is not used
};

}  // namespace semicrf
