#include "pipeline/bench/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

#include "core/error.h"
#include "engine/measure.h"
#include "engine/options.h"
#include "model/score_source.h"
#include "pipeline/analyses/viterbi/viterbi_decoder.h"
#include "pipeline/bench/bench_timing.h"
#include "pipeline/bench/json_line.h"

namespace semicrf {
namespace {

struct Sample {
  ChainModel model;
  std::vector<float> emissions;
  ScoreWindow whole;
};

std::vector<double> normal_values(std::size_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

Sample make_sample(const BenchWorkload& workload, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Sample sample;
  const auto labels = static_cast<std::size_t>(workload.num_labels);
  sample.model.num_labels = workload.num_labels;
  sample.model.max_duration = workload.max_duration;
  sample.model.transition = normal_values(labels * labels, random);
  sample.model.duration_bias =
      normal_values(labels * static_cast<std::size_t>(workload.max_duration), random);
  if (workload.log_tail < 0) sample.model.log_tail.assign(labels, workload.log_tail);
  sample.model.start_scores.assign(labels, 0);
  sample.model.end_scores.assign(labels, 0);
  std::normal_distribution<float> normal;
  sample.emissions.resize(static_cast<std::size_t>(workload.length) * labels);
  for (float& value : sample.emissions) value = normal(random);
  sample.whole.end = sample.whole.length = workload.length;
  sample.whole.emissions.f32 = sample.emissions.data();
  return sample;
}

WindowPlan whole_plan(std::int64_t length) {
  WindowPlan plan;
  plan.length = plan.window = length;
  return plan;
}

struct PosteriorRun {
  double log_partition = 0;
  ChunkReport totals;
  std::int64_t repaired = 0;
  std::vector<double> boundary, labels;
};

// Boundary and label posteriors of the whole sequence into the memory of `run`, and the expected counts when
// asked for; starts and ends are computed on the way.
void posteriors_of(Engine& engine, const Sample& sample, PosteriorRun& run,
                   ExpectedCounts* counts = nullptr) {
  const auto length = static_cast<std::size_t>(sample.whole.length);
  run.boundary.resize(length);
  run.labels.resize(length * static_cast<std::size_t>(sample.model.num_labels));
  PosteriorArrays arrays;
  arrays.boundary = run.boundary.data();
  arrays.labels = run.labels.data();
  arrays.counts = counts;
  const PosteriorWindow window =
      engine.posteriors(sample.whole, {0, sample.whole.length}, nullptr, nullptr, arrays);
  run.log_partition = log_sum(window.right_forward);
  run.totals = {};
  run.repaired = 0;
  for (const ChunkReport& chunk : window.chunks) {
    run.totals.fallbacks += chunk.fallbacks;
    run.totals.max_normalization_error =
        std::max(run.totals.max_normalization_error, chunk.max_normalization_error);
    run.repaired += chunk.repaired ? 1 : 0;
  }
}

ViterbiResult path_of(Engine& engine, const Sample& sample, int threads = 1) {
  MemoryScoreSource source(sample.whole, sample.model.num_labels);
  return decode_viterbi(engine, source, whole_plan(sample.whole.length), {}, threads);
}

double median_seconds(int repeats, const std::function<void()>& work) {
  std::vector<double> seconds;
  work();  // warm-up
  for (int i = 0; i < repeats; ++i) seconds.push_back(seconds_of(work));
  return median(std::move(seconds));
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

double relative_error(double found, double expected) {
  return std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
}

// Of any entry, relative to the largest.
double largest_error(const std::vector<double>& found, const std::vector<double>& expected) {
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    worst = std::max(worst, std::fabs(found[i] - expected[i]));
  }
  return worst / largest;
}

class Bench {
 public:
  Bench(const BenchOptions& options, const std::function<void(const std::string&)>& print)
      : options_(options), print_(print), peaks_(measure_arithmetic_peaks()) {}

  void run(const BenchWorkload& workload) {
    workload_ = workload;
    sample_ = make_sample(workload, options_.seed);
    for (const int threads : thread_counts()) {
      EngineOptions engine_options = options_.engine;
      engine_options.threads = threads;
      const std::unique_ptr<Engine> engine = make_engine(engine_options, sample_.model);
      if (options_.viterbi) run_viterbi_sweep(*engine, threads);
      if (options_.viterbi) run_viterbi(*engine, threads);
      if (options_.posterior) run_posterior(*engine, threads);
      if (options_.gradient) run_gradient(*engine, threads);
    }
  }

 private:
  std::vector<int> thread_counts() const {
    return options_.engine.threads > 1 ? std::vector<int>{1, options_.engine.threads} : std::vector<int>{1};
  }

  // Duration and transition candidates of one pass over the sequence.
  double pairs() const {
    const double labels = workload_.num_labels;
    return static_cast<double>(workload_.length) * (workload_.max_duration * labels + labels * labels);
  }

  // `peak`: pairs per second of one thread; the share counts `passes` over the sequence and no warm-up.
  JsonLine line(const Engine& engine, const char* operation, int threads, double passes, double seconds,
                double peak) const {
    JsonLine json;
    json.add("operation", operation).add("device", engine.description());
    json.add("T", workload_.length).add("K", std::int64_t{workload_.max_duration});
    json.add("C", std::int64_t{workload_.num_labels});
    if (workload_.log_tail < 0) json.add("log_tail", workload_.log_tail);
    json.add("threads", std::int64_t{threads});
    json.add("median_seconds", seconds);
    json.add("positions_per_second", static_cast<double>(workload_.length) / seconds);
    json.add("pairs_per_second", passes * pairs() / seconds).add("peak_pairs_per_second", peak);
    json.add("share_of_peak", passes * pairs() / seconds / (peak * threads));
    return json;
  }

  void finish(JsonLine& json, std::size_t engine_bytes) const {
    json.add("engine_bytes", static_cast<std::int64_t>(engine_bytes)).add("peak_memory", peak_memory());
    print_(json.text());
  }

  std::unique_ptr<Engine> reference() const {
    EngineOptions engine;
    engine.backend = EngineOptions::Backend::kReference;
    return make_engine(engine, sample_.model);
  }

  // The sweep alone: what the traceback reads is kept, but no path is followed.
  void run_viterbi_sweep(Engine& engine, int threads) {
    const double seconds = median_seconds(options_.repeats, [&] {
      engine.viterbi(sample_.whole, {0, workload_.length}, nullptr, true);
    });
    print_(line(engine, "viterbi_sweep", threads, 1, seconds, peaks_.add_max).text());
  }

  void run_viterbi(Engine& engine, int threads) {
    ViterbiResult result;
    const double seconds =
        median_seconds(options_.repeats, [&] { result = path_of(engine, sample_, threads); });
    JsonLine json = line(engine, "viterbi", threads, 1, seconds, peaks_.add_max);
    json.add("score", result.score).add("segments", result.segments.size());
    json.add("fallbacks", result.fallbacks).add("repaired_chunks", result.repaired_chunks);
    if (options_.check)
      json.add("score_error", relative_error(result.score, path_of(*reference(), sample_).score));
    finish(json, engine.viterbi_bytes(workload_.length, true));
  }

  void run_posterior(Engine& engine, int threads) {
    PosteriorRun run;
    const double seconds = median_seconds(options_.repeats, [&] { posteriors_of(engine, sample_, run); });
    JsonLine json = line(engine, "posterior", threads, 2, seconds, peaks_.multiply_add);
    json.add("log_partition", run.log_partition);
    json.add("max_normalization_error", run.totals.max_normalization_error);
    json.add("fallbacks", run.totals.fallbacks).add("repaired_chunks", run.repaired);
    if (options_.check) {
      PosteriorRun exact;
      posteriors_of(*reference(), sample_, exact);
      double worst = 0;
      for (std::size_t i = 0; i < run.labels.size(); ++i) {
        worst = std::max(worst, std::fabs(run.labels[i] - exact.labels[i]));
      }
      for (std::size_t i = 0; i < run.boundary.size(); ++i) {
        worst = std::max(worst, std::fabs(run.boundary[i] - exact.boundary[i]));
      }
      json.add("log_partition_error", relative_error(run.log_partition, exact.log_partition));
      json.add("posterior_error", worst);
    }
    finish(json, engine.posterior_bytes(workload_.length));
  }

  // Everything training asks of a sequence: label posteriors and the expected counts.
  void run_gradient(Engine& engine, int threads) {
    PosteriorRun run;
    ExpectedCounts counts;
    const double seconds = median_seconds(options_.repeats, [&] {
      counts = {};
      posteriors_of(engine, sample_, run, &counts);
    });
    JsonLine json = line(engine, "gradient", threads, 3, seconds, peaks_.multiply_add);
    json.add("log_partition", run.log_partition);
    json.add("segments", std::accumulate(counts.duration.begin(), counts.duration.end(), 0.0));
    json.add("fallbacks", run.totals.fallbacks).add("repaired_chunks", run.repaired);
    if (options_.check) {
      PosteriorRun exact;
      ExpectedCounts expected;
      posteriors_of(*reference(), sample_, exact, &expected);
      json.add("log_partition_error", relative_error(run.log_partition, exact.log_partition));
      json.add("emission_error", largest_error(run.labels, exact.labels));
      json.add("transition_error", largest_error(counts.transition, expected.transition));
      json.add("duration_error", largest_error(counts.duration, expected.duration));
    }
    finish(json, engine.posterior_bytes(workload_.length, true));
  }

  const BenchOptions& options_;
  const std::function<void(const std::string&)>& print_;
  ArithmeticPeaks peaks_;
  BenchWorkload workload_;
  Sample sample_;
};

}  // namespace

std::vector<BenchWorkload> standard_workloads() {
  return {
      {1'000'000, 100, 24}, {1'000'000, 1, 10}, {1'000'000, 500, 10}, {10'000, 100, 8}, {10'000, 1000, 6}};
}

void run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& print) {
  Bench bench(options, print);
  for (const BenchWorkload& workload : options.workloads) bench.run(workload);
}

}  // namespace semicrf
