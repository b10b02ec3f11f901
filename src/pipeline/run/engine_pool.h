// The engines of a run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"

namespace semicrf {

// Whether several devices should share the windows of every piece, instead of taking pieces in turn: the
// longest (positions) is more than an equal part of all.
bool windows_pay(std::span<const std::int64_t> pieces, std::size_t devices);

// An engine per device, or one that works with all threads; and engines of one thread, each made when it is
// asked for.
class EnginePool {
 public:
  EnginePool(const EngineOptions& options, const ChainModel& model);
  int devices() const { return static_cast<int>(engines_.size()); }
  Engine& device(int index) { return *engines_[static_cast<std::size_t>(index)]; }
  Engine& first() const { return *engines_.front(); }
  int threads() const { return options_.threads; }
  int threads_per_device() const { return std::max(1, threads() / devices()); }
  // Of one thread; index < threads(). Made at the first call; an index is for one caller at a time.
  Engine& single(int index);

 private:
  EngineOptions options_;
  ChainModel model_;
  std::vector<std::unique_ptr<Engine>> engines_;  // of the devices
  std::vector<std::unique_ptr<Engine>> singles_;
};

}  // namespace semicrf
