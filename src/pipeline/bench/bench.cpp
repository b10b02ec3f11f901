#include "pipeline/bench/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "engine/measure.h"
#include "engine/options.h"
#include "model/score_source.h"
#include "pipeline/analyses/viterbi/viterbi_decoder.h"
#include "pipeline/bench/json_line.h"
#include "pipeline/bench/timing.h"

namespace semicrf {
namespace {

struct PosteriorRun {
  double log_partition = 0;
  double max_normalization_error = 0;
  ChunkTotals totals;
  std::vector<double> boundary, labels;
};

// Boundary and label posteriors of the whole sequence into the memory of `run`, and the expected counts when
// asked for; starts and ends are computed on the way.
void posteriors_of(Engine& engine, const ScoreWindow& whole, PosteriorRun& run,
                   ExpectedCounts* counts = nullptr) {
  const auto length = static_cast<std::size_t>(whole.length);
  run.boundary.resize(length);
  run.labels.resize(length * static_cast<std::size_t>(engine.model().num_labels));
  PosteriorArrays arrays;
  arrays.boundary = run.boundary.data();
  arrays.labels = run.labels.data();
  arrays.counts = counts;
  const PosteriorWindow window = engine.posteriors(whole, {0, whole.length}, nullptr, nullptr, arrays);
  run.log_partition = log_sum(window.right_forward);
  run.totals = {};
  run.totals.add(window.chunks);
  run.max_normalization_error = 0;
  for (const ChunkReport& chunk : window.chunks)
    run.max_normalization_error = std::max(run.max_normalization_error, chunk.max_normalization_error);
}

ViterbiResult path_of(Engine& engine, const ScoreWindow& whole, int threads = 1) {
  MemoryScoreSource source(whole, engine.model().num_labels);
  WindowPlan plan;
  plan.length = plan.window = whole.length;
  return decode_viterbi(engine, source, plan, {}, threads);
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

double relative_error(double found, double expected) {
  return std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
}

// Of any entry.
double largest_error(const std::vector<double>& found, const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::fabs(found[i] - expected[i]));
  return worst;
}

// Relative to the largest entry.
double largest_share(const std::vector<double>& found, const std::vector<double>& expected) {
  return largest_error(found, expected) / largest_error(std::vector<double>(expected.size(), 0), expected);
}

class Bench {
 public:
  Bench(const BenchOptions& options, const std::function<void(const std::string&)>& print)
      : options_(options), print_(print), peaks_(measure_arithmetic_peaks()) {}

  void run(const BenchWorkload& workload) {
    workload_ = workload;
    sample_ = make_sample(workload, options_.seed);
    whole_ = sample_.window(0, workload.length);
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
    json.add("pairs_per_second", passes * workload_.pairs() / seconds).add("peak_pairs_per_second", peak);
    json.add("share_of_peak", passes * workload_.pairs() / seconds / (peak * threads));
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
      engine.viterbi(whole_, {0, workload_.length}, nullptr, true);
    });
    print_(line(engine, "viterbi_sweep", threads, 1, seconds, peaks_.add_max).text());
  }

  void run_viterbi(Engine& engine, int threads) {
    ViterbiResult result;
    const double seconds =
        median_seconds(options_.repeats, [&] { result = path_of(engine, whole_, threads); });
    JsonLine json = line(engine, "viterbi", threads, 1, seconds, peaks_.add_max);
    json.add("score", result.score).add("segments", result.segments.size());
    json.add("fallbacks", result.fallbacks).add("repaired_chunks", result.repaired_chunks);
    if (options_.check)
      json.add("score_error", relative_error(result.score, path_of(*reference(), whole_).score));
    finish(json, engine.viterbi_bytes(workload_.length, true));
  }

  void run_posterior(Engine& engine, int threads) {
    PosteriorRun run;
    const double seconds = median_seconds(options_.repeats, [&] { posteriors_of(engine, whole_, run); });
    JsonLine json = line(engine, "posterior", threads, 2, seconds, peaks_.multiply_add);
    json.add("log_partition", run.log_partition);
    json.add("max_normalization_error", run.max_normalization_error);
    json.add("fallbacks", run.totals.fallbacks).add("repaired_chunks", run.totals.repaired_chunks);
    if (options_.check) {
      PosteriorRun exact;
      posteriors_of(*reference(), whole_, exact);
      json.add("log_partition_error", relative_error(run.log_partition, exact.log_partition));
      json.add("posterior_error", std::max(largest_error(run.labels, exact.labels),
                                           largest_error(run.boundary, exact.boundary)));
    }
    finish(json, engine.posterior_bytes(workload_.length));
  }

  // Everything training asks of a sequence: label posteriors and the expected counts.
  void run_gradient(Engine& engine, int threads) {
    PosteriorRun run;
    ExpectedCounts counts;
    const double seconds = median_seconds(options_.repeats, [&] {
      counts = {};
      posteriors_of(engine, whole_, run, &counts);
    });
    JsonLine json = line(engine, "gradient", threads, 3, seconds, peaks_.multiply_add);
    json.add("log_partition", run.log_partition);
    json.add("segments", std::accumulate(counts.duration.begin(), counts.duration.end(), 0.0));
    json.add("fallbacks", run.totals.fallbacks).add("repaired_chunks", run.totals.repaired_chunks);
    if (options_.check) {
      PosteriorRun exact;
      ExpectedCounts expected;
      posteriors_of(*reference(), whole_, exact, &expected);
      json.add("log_partition_error", relative_error(run.log_partition, exact.log_partition));
      json.add("emission_error", largest_share(run.labels, exact.labels));
      json.add("transition_error", largest_share(counts.transition, expected.transition));
      json.add("duration_error", largest_share(counts.duration, expected.duration));
    }
    finish(json, engine.posterior_bytes(workload_.length, true));
  }

  const BenchOptions& options_;
  const std::function<void(const std::string&)>& print_;
  ArithmeticPeaks peaks_;
  BenchWorkload workload_;
  BenchSample sample_;
  ScoreWindow whole_;
};

}  // namespace

void run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& print) {
  Bench bench(options, print);
  for (const BenchWorkload& workload : options.workloads) bench.run(workload);
}

}  // namespace semicrf
