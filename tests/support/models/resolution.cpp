#include "support/models/resolution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace semicrf::testing {
namespace {

constexpr double kLarge = 1e6;
constexpr std::int64_t kBlock = 16;

double largest_of(const ModelCase& sample) {
  double largest = 0;
  const auto look_at = [&](const auto& scores) {
    for (const auto score : scores) {
      if (std::isfinite(score)) largest = std::max(largest, std::fabs(static_cast<double>(score)));
    }
  };
  for (const ScoreTable* table : {&sample.emissions, &sample.start_scores, &sample.end_scores}) {
    look_at(table->f32);
    look_at(table->f64);
  }
  const ChainModel& model = sample.model;
  for (const auto* table : {&model.transition, &model.duration_bias, &model.start_scores, &model.end_scores})
    look_at(*table);
  return largest;
}

}  // namespace

double resolution_of(const ModelCase& sample, std::span<const Segment> best_path) {
  const double largest = largest_of(sample);
  if (largest <= kLarge) return 0;
  std::int64_t most = 1;
  std::int64_t in_block = 0;
  std::int64_t block = -1;
  for (const Segment& segment : best_path) {
    if (segment.begin / kBlock != block) in_block = 0;
    block = segment.begin / kBlock;
    const double duration = sample.model.duration_score(segment.end - segment.begin, segment.label);
    if (std::fabs(duration) > kLarge) ++in_block;
    most = std::max(most, in_block);
  }
  return 16 * static_cast<double>(most) * largest * std::numeric_limits<double>::epsilon();
}

}  // namespace semicrf::testing
