// One case against every engine that can run here: the reference, the cpu engine in all its forms, and the
// CUDA engine and the plain one below it where their emulation is linked ahead of make_engine
// (tests/emulation).
#pragma once

#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "parity/check_case.h"
#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#ifdef SEMICRF_EMULATED_DEVICE
#include "cuda/engine/cuda_engine.h"
#endif

namespace semicrf::testing {

inline EngineOptions engine_options(EngineOptions::Backend backend, Precision precision) {
  EngineOptions options;
  options.backend = backend;
  options.precision = precision;
  return options;
}

// The cpu engine in all its forms.
inline std::vector<EngineOptions> cpu_engines() {
  std::vector<EngineOptions> engines;
  for (const std::string& instruction_set : available_instruction_sets()) {
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      engines.push_back(engine_options(EngineOptions::Backend::kCpu, precision));
      engines.back().instruction_set = instruction_set;
    }
  }
  return engines;
}

// None where there is no emulated device: in cross-compiled builds and under the thread sanitizer.
inline std::vector<EngineOptions> cuda_engines() {
#ifdef SEMICRF_EMULATED_DEVICE
  if (cuda_obstacle().empty())
    return {engine_options(EngineOptions::Backend::kCuda, Precision::kFloat),
            engine_options(EngineOptions::Backend::kCuda, Precision::kDouble)};
#endif
  return {};
}

// The plain CUDA engine, where there is an emulated device.
inline std::vector<EngineOptions> plain_engines() {
  if (cuda_engines().empty()) return {};
  return {engine_options(EngineOptions::Backend::kCudaPlain, Precision::kDouble)};
}

// All but the reference and the plain CUDA engine, which have no chunks, fallbacks or cut edges.
inline std::vector<EngineOptions> fast_engines() {
  std::vector<EngineOptions> engines = cpu_engines();
  for (const EngineOptions& options : cuda_engines()) engines.push_back(options);
  return engines;
}

inline std::vector<EngineOptions> all_engines() {
  std::vector<EngineOptions> engines = fast_engines();
  engines.insert(engines.begin(), engine_options(EngineOptions::Backend::kReference, Precision::kDouble));
  for (const EngineOptions& options : plain_engines()) engines.push_back(options);
  return engines;
}

// Threads of the emulated device run one by one: cases of much work are left to the others.
inline bool can_afford(const EngineOptions& options, const ModelCase& sample) {
  const std::int64_t most_cells = options.backend == EngineOptions::Backend::kCudaPlain ? 20'000 : 2500;
  return !options.is_cuda() || sample.length * (sample.model.num_labels + 3) <= most_cells;
}

inline void check_these_engines(const std::vector<EngineOptions>& engines, const ModelCase& sample,
                                Examined examined) {
  std::vector<MakeOne> makers;
  for (const EngineOptions& options : engines)
    if (can_afford(options, sample))
      makers.push_back([options](const ChainModel& model) { return make_engine(options, model); });
  expect_none(check_engines(makers, sample, examined), sample.description);
}

inline void check_all_engines(const ModelCase& sample) {
  check_these_engines(all_engines(), sample, {.inference = true, .gradient = false});
}

}  // namespace semicrf::testing
