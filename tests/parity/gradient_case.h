// Runs an engine over a case for its expected counts and its forward messages, whole or in windows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "parity/engine_parity.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

struct ForwardCase {
  double log_partition = 0;
  // Message = level + value, levels whole numbers.
  std::vector<double> starts, ends, tails;       // (T, C)
  std::vector<double> start_levels, end_levels;  // (T)
  std::int64_t repaired = 0;
  std::int64_t fallbacks = 0;
};

// Windows from left to right, each with its neighbours' true states, all adding to the same counts.
ExpectedCounts counts_case(Engine& engine, const ModelCase& sample, const std::vector<std::int64_t>& edges);

ForwardCase forward_case(Engine& engine, const ModelCase& sample, const std::vector<std::int64_t>& edges);

// One line per disagreement with the reference, and per digit that depends on how the sequence is cut.
struct ExpectedGradient {
  ExpectedCounts counts;
  ForwardCase forward;
  double segments = 0;  // expected number
  std::vector<Segment> best_path;
};
ExpectedGradient expected_gradient(Engine& reference, const ModelCase& sample);
std::vector<std::string> compare_gradient(const ExpectedGradient& expected, Engine& candidate,
                                          const ModelCase& sample);

}  // namespace semicrf::testing
