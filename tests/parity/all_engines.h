// One case against every engine that can run here.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"

namespace semicrf::testing {

// The cpu engine in all its forms.
inline std::vector<EngineOptions> cpu_engines() {
  std::vector<EngineOptions> engines;
  for (const std::string& instruction_set : available_instruction_sets()) {
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      EngineOptions options;
      options.backend = EngineOptions::Backend::kCpu;
      options.precision = precision;
      options.instruction_set = instruction_set;
      engines.push_back(options);
    }
  }
  return engines;
}

// The reference itself, then cpu_engines().
inline std::vector<EngineOptions> all_engines() {
  std::vector<EngineOptions> engines = cpu_engines();
  engines.insert(engines.begin(), EngineOptions());
  engines.front().backend = EngineOptions::Backend::kReference;
  return engines;
}

inline void check_all_engines(const ModelCase& sample) {
  const auto reference = make_reference_engine(sample.model);
  const ExpectedCase expected = expected_case(*reference, sample);
  for (const EngineOptions& options : all_engines()) {
    const auto candidate = make_engine(options, sample.model);
    for (const std::string& problem :
         compare_with(expected, *candidate, sample, tolerances_of(candidate->precision()))) {
      FAIL_CHECK(problem);
    }
  }
  SUCCEED(sample.description);
}

}  // namespace semicrf::testing
