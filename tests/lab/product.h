// The product's engines, called on plain problems: what the laboratory compares its backends with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/segment.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "lab/gradients.h"
#include "lab/problem.h"

namespace semicrf::lab {

// An engine by name: "reference", "cpu double", "cpu float", "cuda double", "cuda float".
std::unique_ptr<Engine> product_engine(const std::string& name, const ChainModel& model, int threads = 1);
// The names of those that can run here.
std::vector<std::string> product_engines();

// Emissions (T, C) in the precision that is asked for, and what centring subtracts.
struct Sequence {
  std::int64_t length = 0;
  std::vector<float> f32;
  std::vector<double> f64;
  std::vector<double> baseline;
  bool subtract_position_max = false;
  ScoreWindow window(int labels, std::int64_t begin, std::int64_t end) const;
  ScoreWindow whole(int labels) const { return window(labels, 0, length); }
};
Sequence sequence_of(const Problem& problem);
Sequence sequence_of(std::vector<double> emissions, int labels);

double log_partition(Engine& engine, const Sequence& sequence);
std::vector<Segment> best_path(Engine& engine, const Sequence& sequence);

struct Marginals {
  double log_partition = 0;
  std::vector<double> boundary, labels, starts, ends;  // (T), (T, C)
  ExpectedCounts counts;
  double normalization_error = 0;  // largest |sum_c P(c|t) - 1| before the engine divides by it
};
Marginals marginals(Engine& engine, const Sequence& sequence);

// Processor seconds of this process so far; seconds of the clock, for engines whose work is on a device.
double processor_seconds();
double clock_seconds();
inline double seconds_for(const std::string& method) {
  return method.starts_with("cuda") ? clock_seconds() : processor_seconds();
}

}  // namespace semicrf::lab
