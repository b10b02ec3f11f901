#include "bench/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <span>
#include <vector>

#include "bench/sequence_passes.h"
#include "bench/timing.h"
#include "core/error.h"
#include "engine/measure.h"
#include "engine/options.h"
#include "inputs/arguments/input_argument.h"
#include "io/arrays/npy_reader.h"
#include "runs/run.h"

namespace semicrf {

namespace {

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

double relative_error(double found, double expected) {
  return std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
}

// The largest error of any entry.
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
    sequences_.clear();
    for (int i = 0; i < workload.sequences; ++i)
      sequences_.push_back(sample_.window(i * workload.length, workload.length));
    for (const int threads : thread_counts()) {
      const SequencePasses passes(options_.engine, sample_.model, threads, sequences_);
      if (options_.forward) run_forward(passes);
      if (options_.viterbi && sequences_.size() == 1) run_viterbi_sweep(passes);
      if (options_.viterbi) run_viterbi(passes);
      if (options_.posterior) run_posterior(passes);
      if (options_.gradient) run_gradient(passes);
    }
  }

 private:
  std::vector<int> thread_counts() const {
    return options_.engine.threads > 1 ? std::vector<int>{1, options_.engine.threads} : std::vector<int>{1};
  }

  // `peak`: pairs per second of one thread; the share counts `passes` over the sequence and no warm-up.
  JsonLine line(const SequencePasses& engines, const char* operation, double passes, double seconds,
                double peak) const {
    const double positions = static_cast<double>(workload_.positions());
    JsonLine json;
    json.add("operation", operation).add("device", engines.engine().description());
    json.add("workload", name_of(workload_.kind));
    json.add("T", workload_.length).add("K", std::int64_t{workload_.max_duration});
    json.add("C", std::int64_t{workload_.num_labels}).add("sequences", std::int64_t{workload_.sequences});
    if (workload_.kind == WorkloadKind::kNormal) json.add("score_scale", workload_.score_scale);
    if (workload_.min_duration > 1) json.add("min_duration", std::int64_t{workload_.min_duration});
    if (workload_.forbidden > 0) json.add("forbidden", workload_.forbidden);
    if (workload_.masked > 0) json.add("masked", workload_.masked);
    if (workload_.log_tail < 0) json.add("log_tail", workload_.log_tail);
    json.add("threads", std::int64_t{engines.threads()});
    json.add("median_seconds", seconds);
    json.add("positions_per_second", positions / seconds);
    json.add("pairs_per_second", passes * workload_.pairs() / seconds).add("peak_pairs_per_second", peak);
    json.add("share_of_peak", passes * workload_.pairs() / seconds / (peak * engines.threads()));
    return json;
  }

  // `directions`: over which the fallbacks were counted.
  void add_totals(JsonLine& json, const ChunkTotals& totals, std::int64_t directions) const {
    const std::int64_t blocks = (workload_.length - 1) / kBlockPositions + 1;
    const auto all = static_cast<double>(blocks * directions * workload_.sequences);
    json.add("fallbacks", totals.fallbacks);
    json.add("fallbacks_per_block", static_cast<double>(totals.fallbacks) / all);
    json.add("repaired_chunks", totals.repaired_chunks);
  }

  void finish(JsonLine& json, std::size_t engine_bytes) const {
    json.add("engine_bytes", static_cast<std::int64_t>(engine_bytes)).add("peak_memory", peak_memory());
    print_(json.text());
  }

  SequencePasses reference() const {
    EngineOptions engine;
    engine.backend = EngineOptions::Backend::kReference;
    return SequencePasses(engine, sample_.model, 1, sequences_);
  }

  void run_forward(const SequencePasses& passes) {
    ForwardRun run;
    const double seconds = median_seconds(options_.repeats, [&] { run = passes.forward(); });
    JsonLine json = line(passes, "forward", 1, seconds, peaks_.multiply_add);
    json.add("log_partition", run.log_partition);
    add_totals(json, run.totals, 1);
    if (options_.check) {
      json.add("log_partition_error", relative_error(run.log_partition, reference().forward().log_partition));
    }
    print_(json.text());
  }

  // The sweep alone: what the traceback reads is kept, but no path is followed.
  void run_viterbi_sweep(const SequencePasses& passes) {
    ChunkTotals totals;
    const double seconds = median_seconds(options_.repeats, [&] {
      totals = {};
      totals.add(passes.engine().viterbi(sequences_.front(), {0, workload_.length}, nullptr, true).chunks);
    });
    JsonLine json = line(passes, "viterbi_sweep", 1, seconds, peaks_.add_max);
    add_totals(json, totals, 1);
    print_(json.text());
  }

  void run_viterbi(const SequencePasses& passes) {
    PathsRun run;
    const double seconds = median_seconds(options_.repeats, [&] { run = passes.paths(); });
    JsonLine json = line(passes, "viterbi", 1, seconds, peaks_.add_max);
    json.add("score", run.score).add("segments", run.segments);
    add_totals(json, run.totals, 1);
    if (options_.check) json.add("score_error", relative_error(run.score, reference().paths().score));
    finish(json, passes.engine().viterbi_bytes(workload_.length, true));
  }

  void run_posterior(const SequencePasses& passes) {
    PosteriorRun run;
    const double seconds = median_seconds(options_.repeats, [&] { passes.posteriors(run, nullptr); });
    JsonLine json = line(passes, "posterior", 2, seconds, peaks_.multiply_add);
    json.add("log_partition", run.log_partition);
    json.add("max_normalization_error", run.max_normalization_error);
    add_totals(json, run.totals, 2);
    if (options_.check) {
      PosteriorRun exact;
      reference().posteriors(exact, nullptr);
      json.add("log_partition_error", relative_error(run.log_partition, exact.log_partition));
      json.add("posterior_error", std::max(largest_error(run.labels, exact.labels),
                                           largest_error(run.boundary, exact.boundary)));
    }
    finish(json, passes.engine().posterior_bytes(workload_.length));
  }

  // Everything training asks of a sequence: label posteriors and the expected counts.
  void run_gradient(const SequencePasses& passes) {
    PosteriorRun run;
    ExpectedCounts counts;
    const double seconds = median_seconds(options_.repeats, [&] {
      counts = {};
      passes.posteriors(run, &counts);
    });
    JsonLine json = line(passes, "gradient", 3, seconds, peaks_.multiply_add);
    json.add("log_partition", run.log_partition);
    json.add("segments", std::accumulate(counts.duration.begin(), counts.duration.end(), 0.0));
    add_totals(json, run.totals, 2);
    if (options_.check) {
      PosteriorRun exact;
      ExpectedCounts expected;
      reference().posteriors(exact, &expected);
      json.add("log_partition_error", relative_error(run.log_partition, exact.log_partition));
      json.add("emission_error", largest_share(run.labels, exact.labels));
      json.add("transition_error", largest_share(counts.transition, expected.transition));
      json.add("duration_error", largest_share(counts.duration, expected.duration));
    }
    finish(json, passes.engine().posterior_bytes(workload_.length, true));
  }

  const BenchOptions& options_;
  const std::function<void(const std::string&)>& print_;
  ArithmeticPeaks peaks_;
  BenchWorkload workload_;
  BenchSample sample_;
  std::vector<ScoreWindow> sequences_;
};

}  // namespace

void run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& print) {
  Bench bench(options, print);
  for (const BenchWorkload& workload : options.workloads) bench.run(workload);
}

namespace {

std::span<const unsigned char> bytes_of(const NpyArray& array) {
  const std::size_t values =
      static_cast<std::size_t>(array.rows()) * static_cast<std::size_t>(array.columns());
  if (array.data_f32() != nullptr)
    return {reinterpret_cast<const unsigned char*>(array.data_f32()), values * sizeof(float)};
  if (array.data_f64() != nullptr)
    return {reinterpret_cast<const unsigned char*>(array.data_f64()), values * sizeof(double)};
  throw InputError({array.name(), "", "--io-only needs scores that can be read in place",
                    "store them as little-endian float32 in C order"});
}

}  // namespace

void run_io_bench(const IoBenchOptions& options, const std::function<void(const std::string&)>& print) {
  const RunOptions& run = options.decode.run;
  std::vector<NpyArray> arrays;
  std::size_t bytes = 0;
  for (const std::string& input : run.input.inputs) {
    arrays.push_back(NpyArray::open(parse_input_argument(input).path));
    bytes += bytes_of(arrays.back()).size();
  }
  // In turn, so that both see the same machine; the first of each is not counted.
  std::vector<double> copies, runs;
  for (int i = 0; i <= options.repeats; ++i) {
    double copy = 0;
    for (const NpyArray& array : arrays) copy += measure_copy_seconds(run.engine, bytes_of(array));
    // What the last run wrote goes now: to free a file's blocks takes a while, too.
    std::error_code none_there;
    std::filesystem::remove(options.decode.output, none_there);
    const double whole = seconds_of([&] { run_decode(options.decode, nullptr); });
    if (i == 0) continue;
    copies.push_back(copy);
    runs.push_back(whole);
  }
  const double copy = median(copies);
  const double whole = median(runs);
  print(JsonLine()
            .add("operation", std::string("io_only"))
            .add("bytes", static_cast<std::int64_t>(bytes))
            .add("median_seconds", copy)
            .add("bytes_per_second", static_cast<double>(bytes) / copy)
            .text());
  print(JsonLine()
            .add("operation", std::string("decode"))
            .add("threads", std::int64_t{run.engine.threads})
            .add("median_seconds", whole)
            .add("over_io_only", whole / copy)
            .text());
}

}  // namespace semicrf
