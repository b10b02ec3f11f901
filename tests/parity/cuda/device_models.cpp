#include "parity/cuda/device_models.h"

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>

#include "cuda/tables/tile_config.h"

namespace semicrf::testing {

ModelCase opposed_blocks_case(std::int64_t length, std::uint64_t seed) {
  constexpr std::size_t kLabels = 2, kBlock = 16, kShortest = 40;
  ModelCase sample = make_case(CaseKind::kPlain, {length, 150, static_cast<int>(kLabels)}, seed);
  sample.description += " opposed blocks";
  for (std::size_t k = 0; k + 1 < kShortest; ++k)
    sample.model.duration_bias[k * kLabels + 1] = kNegativeInfinity;
  for (std::size_t t = 0; t < static_cast<std::size_t>(length); ++t) {
    const double slope = t / kBlock % 3 == 1 ? 30 : -10;
    const std::size_t at = t * kLabels + 1;
    if (!sample.emissions.f32.empty()) sample.emissions.f32[at] += static_cast<float>(slope);
    if (!sample.emissions.f64.empty()) sample.emissions.f64[at] += slope;
  }
  return sample;
}

ModelCase long_segments_case(const CaseShape& shape, std::uint64_t seed) {
  ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
  sample.description += " long segments";
  const auto labels = static_cast<std::size_t>(shape.num_labels);
  for (double& score : sample.model.transition) score -= 8;
  sample.model.log_tail.assign(labels, -0.002);
  const auto adapt = [&](auto& scores) {
    for (auto& score : scores) score *= 0.05f;
    for (std::size_t t = 60, i = 0; t * labels < scores.size(); t += 397, ++i)
      scores[t * labels + i % labels] = -std::numeric_limits<float>::infinity();
  };
  adapt(sample.emissions.f32);
  adapt(sample.emissions.f64);
  sample.baseline.clear();
  return sample;
}

ModelCase slow_case(std::int64_t length, double log_tail, std::uint64_t seed) {
  ModelCase sample = long_segments_case({length, 3, 2}, seed);
  sample.description += " log tail " + std::to_string(log_tail);
  sample.model.log_tail.assign(2, log_tail);
  return sample;
}

namespace {

ModelCase late_repair_of(std::int64_t run, std::int64_t warmup, std::uint64_t seed) {
  constexpr std::size_t kLabels = 4;
  const std::int64_t middle = (2 * warmup / run + 4) * run;  // where the run between the two begins
  ModelCase sample = make_case(CaseKind::kPlain, {middle + 5 * run, 1, static_cast<int>(kLabels)}, seed);
  sample.description += " late repair";
  sample.model.transition.assign(kLabels * kLabels, kNegativeInfinity);
  for (std::size_t c = 0; c < kLabels; ++c) sample.model.transition[c * kLabels + (c + 1) % kLabels] = 0;
  sample.model.duration_bias.assign(kLabels, 0);
  sample.baseline.clear();
  sample.subtract_position_max = false;
  const auto tell = [&](auto& scores, std::int64_t position, std::size_t cycle) {
    for (std::size_t c = 0; c < kLabels && !scores.empty(); ++c) {
      const bool fits = c % cycle == static_cast<std::size_t>(position) % cycle;
      scores[static_cast<std::size_t>(position) * kLabels + c] = fits ? 8 : 0;
    }
  };
  const auto fill = [&](auto& scores) {
    std::fill(scores.begin(), scores.end(), 0);
    tell(scores, middle - run - warmup - run / 2, 4);  // too early for the first of the two
    tell(scores, middle - warmup + run / 4, 2);        // too early for the second
  };
  fill(sample.emissions.f32);
  fill(sample.emissions.f64);
  return sample;
}

}  // namespace

ModelCase late_repair_case(std::size_t real_bytes, std::uint64_t seed) {
  const cuda::RunGrid grid = cuda::run_grid(1);
  const cuda::Teams teams = cuda::teams_of(cuda::choose_tile(4, 1, real_bytes, std::size_t{227} * 1024));
  for (std::int64_t run = grid.unit; run <= grid.chunk; run += cuda::kBlock) {
    ModelCase sample = late_repair_of(run, cuda::run_warmup(grid, real_bytes), seed);
    if (cuda::cut_into_runs(grid, sample.length, teams).run == run) return sample;
  }
  throw std::logic_error("no length is cut into the runs that it was made for");
}

std::vector<CaseShape> tile_shapes(std::size_t count, std::uint64_t seed) {
  constexpr std::array<std::int64_t, 12> kLengths{1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 257, 600};
  constexpr std::array<int, 10> kDurations{1, 2, 3, 15, 16, 17, 31, 33, 64, 100};
  constexpr std::array<int, 16> kLabels{1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40};
  std::mt19937_64 random(seed);
  std::vector<CaseShape> shapes;
  std::vector<std::int64_t> lengths;
  std::vector<int> durations, labels;
  // Every value of each list in a random order, so that a small sample covers all of them.
  const auto draw = [&](auto& left, const auto& all) {
    if (left.empty()) {
      left.assign(all.begin(), all.end());
      std::shuffle(left.begin(), left.end(), random);
    }
    const auto value = left.back();
    left.pop_back();
    return value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t length = draw(lengths, kLengths);
    const int duration = draw(durations, kDurations);
    shapes.push_back({length, duration, draw(labels, kLabels)});
  }
  return shapes;
}

ModelCase silent_case(std::int64_t length, std::int64_t silent, std::uint64_t seed) {
  ModelCase sample = make_case(CaseKind::kPlain, {length, 3, 2}, seed);
  sample.description += ", silent around " + std::to_string(silent);
  sample.model.transition = {0, -50, -50, 0};
  std::mt19937_64 random(seed);
  for (std::int64_t t = 0; t < length; ++t) {
    const bool speaks = t % 40 == 0 && (t < silent - 300 || t >= silent + 300);
    const std::size_t label = random() % 2;
    for (std::size_t c = 0; c < 2; ++c) {
      const std::size_t at = static_cast<std::size_t>(t) * 2 + c;
      const float score = speaks && c == label ? 150.0F : 0.0F;
      if (!sample.emissions.f32.empty()) sample.emissions.f32[at] = score;
      if (!sample.emissions.f64.empty()) sample.emissions.f64[at] = score;
    }
  }
  return sample;
}

}  // namespace semicrf::testing
