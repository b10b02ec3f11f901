// Workloads of `semicrf bench` drawn with the statistics of real ones.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/sequence_passes.h"
#include "bench/workload.h"
#include "engine/options.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

BenchWorkload sized(const char* name, std::int64_t length) {
  BenchWorkload workload = real_workload(name);
  workload.length = length;
  return workload;
}

// Differences between the labels' sums over the blocks of 16 positions, sorted.
std::vector<double> block_spreads(const BenchSample& sample) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  std::vector<double> spreads;
  for (std::size_t begin = 0; begin + 16 * labels <= sample.emissions.size(); begin += 16 * labels) {
    std::vector<double> sums(labels);
    for (std::size_t i = 0; i < 16 * labels; ++i)
      sums[i % labels] += static_cast<double>(sample.emissions[begin + i]);
    const auto [low, high] = std::minmax_element(sums.begin(), sums.end());
    spreads.push_back(*high - *low);
  }
  std::sort(spreads.begin(), spreads.end());
  return spreads;
}

EngineOptions cpu_engine() {
  EngineOptions options;
  options.backend = available_instruction_sets().empty() ? EngineOptions::Backend::kReference
                                                         : EngineOptions::Backend::kCpu;
  return options;
}

}  // namespace

TEST_CASE("equal seeds give equal real workloads, and all numbers are scores") {
  for (const char* name : {"chr11", "yeast", "speech"}) {
    INFO(name);
    const BenchWorkload workload = sized(name, 500);
    const BenchSample sample = make_sample(workload, 3);
    CHECK(sample.emissions.size() == static_cast<std::size_t>(workload.positions() * workload.num_labels));
    CHECK(sample.emissions == make_sample(workload, 3).emissions);
    CHECK(sample.emissions != make_sample(workload, 4).emissions);
    CHECK(std::all_of(sample.emissions.begin(), sample.emissions.end(),
                      [](float score) { return std::isfinite(score); }));
    CHECK(sample.model.num_labels == workload.num_labels);
    CHECK(sample.model.duration_bias.size() ==
          static_cast<std::size_t>(workload.max_duration) * static_cast<std::size_t>(workload.num_labels));
    // No label follows itself, as in the parameters of the examples.
    for (int c = 0; c < workload.num_labels; ++c)
      CHECK(sample.model.transition_at(c, c) == kNegativeInfinity);
  }
}

// On the chromosome itself: 202 nats at a tenth of the blocks, 215 at half, 370 at one in a hundred.
TEST_CASE("scores of chr11 spread over the labels as those of the chromosome do") {
  const std::vector<double> spreads = block_spreads(make_sample(sized("chr11", 200'000), 1));
  const auto at = [&](double share) {
    return spreads[static_cast<std::size_t>(share * static_cast<double>(spreads.size()))];
  };
  CHECK(at(0.5) == Approx(214.5).margin(10));
  CHECK(at(0.1) > 150);
  CHECK(at(0.99) > 250);
  CHECK(at(0.99) < 450);
}

TEST_CASE("real workloads have the segments of real data") {
  const auto mean_length = [](const BenchWorkload& workload) {
    const BenchSample sample = make_sample(workload, 1);
    const ScoreWindow whole = sample.window(0, workload.length);
    const SequencePasses passes(cpu_engine(), sample.model, 1, {&whole, 1});
    return static_cast<double>(workload.length) / static_cast<double>(passes.paths().segments);
  };
  // 27.3 bins of chr11 up to base 67,000,000, 313 of yeast II, V and VIII (650,872 bins in 2,076 segments).
  CHECK(mean_length(sized("chr11", 100'000)) == Approx(27.3).epsilon(0.4));
  CHECK(mean_length(sized("yeast", 60'000)) == Approx(313).epsilon(0.4));
}

TEST_CASE("several sequences are computed side by side as one by one") {
  const BenchWorkload workload = sized("speech", 120);
  const BenchSample sample = make_sample(workload, 1);
  std::vector<ScoreWindow> sequences;
  for (int i = 0; i < workload.sequences; ++i)
    sequences.push_back(sample.window(i * workload.length, workload.length));
  const SequencePasses alone(cpu_engine(), sample.model, 1, sequences);
  const SequencePasses together(cpu_engine(), sample.model, 3, sequences);
  CHECK(alone.paths().score == together.paths().score);
  CHECK(alone.paths().segments == together.paths().segments);
  PosteriorRun one, other;
  ExpectedCounts one_counts, other_counts;
  alone.posteriors(one, &one_counts);
  together.posteriors(other, &other_counts);
  CHECK(one.log_partition == other.log_partition);
  CHECK(one.labels == other.labels);
  CHECK(one_counts.duration == other_counts.duration);
  CHECK(one_counts.transition == other_counts.transition);
}

TEST_CASE("workloads forbid short segments and scores, and change nothing else") {
  for (BenchWorkload workload : {sized("chr11", 2000), BenchWorkload{2000, 30, 4}}) {
    const BenchSample plain = make_sample(workload, 5);
    workload.min_duration = 10;
    workload.forbidden = 0.05;
    workload.masked = 0.1;
    const BenchSample sample = make_sample(workload, 5);
    const auto labels = static_cast<std::size_t>(sample.model.num_labels);
    for (std::size_t i = 0; i < plain.model.duration_bias.size(); ++i)
      CHECK(sample.model.duration_bias[i] ==
            (i < 9 * labels ? kNegativeInfinity : plain.model.duration_bias[i]));
    std::size_t forbidden = 0, masked = 0;
    for (std::size_t i = 0; i < plain.emissions.size(); ++i) {
      if (std::isinf(sample.emissions[i])) {
        ++forbidden;
      } else if (sample.emissions[i] == -1e9F) {
        ++masked;
      } else {
        CHECK(sample.emissions[i] == plain.emissions[i]);
      }
    }
    const auto count = static_cast<double>(plain.emissions.size());
    CHECK(std::fabs(static_cast<double>(forbidden) / count - 0.05) < 0.01);
    CHECK(std::fabs(static_cast<double>(masked) / count - 0.095) < 0.015);
  }
}
