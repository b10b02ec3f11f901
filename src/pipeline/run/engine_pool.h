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

// An engine per device, or one that works with all threads; and engines of one thread, each made when it is
// asked for. Pieces that were cut have engines of their own, of the chains of their EdgeRoles, which are made
// likewise.
class EnginePool {
 public:
  EnginePool(const EngineOptions& options, const ChainModel& model);
  int devices() const { return static_cast<int>(engines_.size()); }
  Engine& device(int index) { return *engines_[static_cast<std::size_t>(index)]; }
  Engine& first() const { return *engines_.front(); }
  // Null: the edges are no cuts. Lives as long as this object.
  const EdgeRoles* roles(CutEdges cut) const;
  // The engine of the same device for pieces whose edges are cut like this.
  Engine& for_edges(Engine& device, CutEdges cut) const;
  int threads() const { return options_.threads; }
  int threads_per_device() const { return std::max(1, threads() / devices()); }
  // Of one thread; index < threads(). Made at the first call; an index is for one caller at a time.
  Engine& single(int index, CutEdges cut = {});

 private:
  struct ForEdges {
    std::unique_ptr<EdgeRoles> roles;
    std::vector<std::unique_ptr<Engine>> engines;  // of the devices
    std::vector<std::unique_ptr<Engine>> singles;
  };
  ForEdges& for_edges(CutEdges cut) const;
  EngineOptions options_of(std::size_t device) const;
  EngineOptions options_of_single(std::size_t index) const;

  EngineOptions options_;
  ChainModel model_;
  std::vector<std::unique_ptr<Engine>> engines_;  // of the devices
  std::vector<std::unique_ptr<Engine>> singles_;
  mutable std::mutex mutex_;             // of what pieces that were cut have
  mutable std::array<ForEdges, 4> cut_;  // by left + 2 right; the first one is not used
};

}  // namespace semicrf
