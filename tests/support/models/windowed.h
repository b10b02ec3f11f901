// Engines and window plans for tests of what runs over windows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "windows/window_plan.h"

namespace semicrf::testing {

// The reference, then cpu in both precisions where there is one.
inline std::vector<EngineOptions> engines_to_test() {
  std::vector<EngineOptions> options(1);
  options.front().backend = EngineOptions::Backend::kReference;
  if (available_instruction_sets().empty()) return options;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    EngineOptions cpu;
    cpu.backend = EngineOptions::Backend::kCpu;
    cpu.precision = precision;
    cpu.threads = 2;
    options.push_back(cpu);
  }
  return options;
}

// Windows of `chunks` chunks; 0, or where the engine cannot cut: one window.
inline WindowPlan plan_in_windows(const Engine& engine, std::int64_t length, std::int64_t chunks) {
  WindowPlan plan;
  plan.length = plan.window = length;
  const ChunkGrid grid = engine.grid(length);
  if (chunks == 0 || length / chunks <= grid.chunk) return plan;
  plan.window = chunks * grid.chunk;
  plan.left_halo = plan.right_halo = grid.warmup;
  return plan;
}

}  // namespace semicrf::testing
