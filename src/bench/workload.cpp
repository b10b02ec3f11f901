#include "bench/workload.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>

#include "bench/real_workloads.h"

namespace semicrf {
namespace {

std::vector<double> normal_values(std::size_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

BenchSample make_normal_sample(const BenchWorkload& workload, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  BenchSample sample;
  const auto labels = static_cast<std::size_t>(workload.num_labels);
  ChainModel& model = sample.model;
  model.num_labels = workload.num_labels;
  model.max_duration = workload.max_duration;
  model.transition = normal_values(labels * labels, random);
  for (double& score : model.transition) score += workload.transition_offset;
  model.duration_bias = normal_values(labels * static_cast<std::size_t>(workload.max_duration), random);
  if (workload.log_tail < 0) model.log_tail.assign(labels, workload.log_tail);
  model.start_scores.assign(labels, 0);
  model.end_scores.assign(labels, 0);
  std::normal_distribution<float> normal(0, static_cast<float>(workload.score_scale));
  sample.emissions.resize(static_cast<std::size_t>(workload.positions()) * labels);
  const auto distinct =
      workload.distinct > 0 ? static_cast<std::size_t>(workload.distinct) : sample.emissions.size();
  for (std::size_t i = 0; i < sample.emissions.size(); ++i)
    sample.emissions[i] = i < distinct ? normal(random) : sample.emissions[i - distinct];
  return sample;
}

void forbid(const BenchWorkload& workload, std::uint64_t seed, BenchSample& sample) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  std::vector<double>& bias = sample.model.duration_bias;
  const auto shorter = static_cast<std::size_t>(std::min(workload.min_duration, workload.max_duration) - 1);
  std::fill_n(bias.begin(), shorter * labels, kNegativeInfinity);
  const auto replace = [&](double probability, float by, std::uint64_t offset) {
    if (!(probability > 0)) return;
    std::mt19937_64 random(seed + offset);
    std::bernoulli_distribution chosen(probability);
    for (float& score : sample.emissions)
      if (chosen(random)) score = by;
  };
  replace(workload.masked, -1e9F, 2);
  replace(workload.forbidden, -std::numeric_limits<float>::infinity(), 1);
}

}  // namespace

const char* name_of(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::kNormal:
      return "normal";
    case WorkloadKind::kChr11:
      return "chr11";
    case WorkloadKind::kYeast:
      return "yeast";
    case WorkloadKind::kSpeech:
      return "speech";
  }
  return "";
}

BenchWorkload real_workload(const std::string& name) {
  BenchWorkload workload;
  const auto set = [&](WorkloadKind kind, std::int64_t length, int max_duration, int num_labels) {
    workload.kind = kind;
    workload.length = length;
    workload.max_duration = max_duration;
    workload.num_labels = num_labels;
  };
  if (name == "chr11") {
    set(WorkloadKind::kChr11, 672'261, 500, 10);  // the whole chromosome
  } else if (name == "yeast") {
    set(WorkloadKind::kYeast, 271'061, 2463, 8);  // chromosome II
  } else if (name == "speech") {
    set(WorkloadKind::kSpeech, 300, 30, 39);
    workload.sequences = 32;
  } else {
    throw std::logic_error("no workload is called " + name);
  }
  return workload;
}

std::vector<BenchWorkload> standard_workloads() {
  return {
      {1'000'000, 100, 24}, {1'000'000, 1, 10}, {1'000'000, 500, 10}, {10'000, 100, 8}, {10'000, 1000, 6}};
}

ScoreWindow BenchSample::window(std::int64_t begin, std::int64_t length) const {
  ScoreWindow window;
  window.end = window.length = length;
  window.emissions.f32 = emissions.data() + begin * model.num_labels;
  return window;
}

BenchSample make_sample(const BenchWorkload& workload, std::uint64_t seed) {
  BenchSample sample = workload.kind == WorkloadKind::kNormal ? make_normal_sample(workload, seed)
                                                              : make_real_sample(workload, seed);
  forbid(workload, seed, sample);
  return sample;
}

}  // namespace semicrf
