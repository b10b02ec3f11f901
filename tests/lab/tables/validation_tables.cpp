// Table 5 of the paper: (a), (b) invariants of posteriors, (c) gradients against central differences.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/compensated_sum.h"
#include "lab/tables/table.h"
#include "lab/validation/random_batch.h"

namespace semicrf::lab {
namespace {

int threads() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

// What Table 5 (a) and (b) observe of a batch.
struct Invariants {
  double least_boundary = 1, most_boundary = 0;
  double expected_segments = 0;  // the mean of sequences
  double normalization = 0;      // largest |sum_c P(c|t) - 1| as computed, before the engine divides by it
  // Largest |sum_{k,c} k E[segments of c that are k long] - T|. Counts are no sums of label posteriors, which
  // the engines divide by their sum; -1 where segments longer than K have no count of their length.
  double length_error = 0;
  double least_label = 1;
  std::int64_t positions = 0;
  int sequences = 0;

  void add(const Marginals& found, int labels, bool tails) {
    CompensatedSum total, segments;
    for (const double p : found.labels) least_label = std::min(least_label, p);
    const auto C = static_cast<Index>(labels);
    for (Index i = 0; i < found.counts.duration.size(); ++i)
      total.add(static_cast<double>(i / C + 1) * found.counts.duration[i]);
    for (const double p : found.boundary) {
      least_boundary = std::min(least_boundary, p);
      most_boundary = std::max(most_boundary, p);
      segments.add(p);
    }
    const auto T = static_cast<std::int64_t>(found.labels.size()) / labels;
    normalization = std::max(normalization, found.normalization_error);
    length_error = tails ? -1 : std::max(length_error, std::fabs(total.plus(-static_cast<double>(T))));
    expected_segments += segments.value();
    positions += T;
    ++sequences;
  }
};

const std::vector<std::string> kInvariantColumns{"case",
                                                 "engine",
                                                 "B",
                                                 "T",
                                                 "C",
                                                 "K",
                                                 "boundary_min",
                                                 "boundary_max",
                                                 "segments_per_sequence",
                                                 "max|sum_c-1|",
                                                 "length_error",
                                                 "label_min",
                                                 "positions",
                                                 "seconds",
                                                 "max|posterior-double|"};

struct Batch {
  std::string name;
  int B, labels, durations;
  std::int64_t T;
  ChainModel model;
  std::function<Sequence(std::int64_t length, int b, bool single)> draw;
  // The first is T long, the others down to half of it: ragged.
  std::int64_t length(int b) const { return T - T / 2 * b / std::max(1, B); }
};

void write_batch(Table& table, const Batch& batch, const std::vector<std::string>& engines) {
  for (const std::string& name : engines) {
    const bool single = name.ends_with("float");
    const auto engine = product_engine(name, batch.model, threads());
    Invariants invariants;
    double seconds = 0, against_double = 0;
    for (int b = 0; b < batch.B; ++b) {
      const Sequence sequence = batch.draw(batch.length(b), b, single);
      const double begin = seconds_for(name);
      const Marginals found = marginals(*engine, sequence);
      seconds += seconds_for(name) - begin;
      invariants.add(found, batch.labels, batch.model.has_tail());
      if (!single || b > 0) continue;
      const auto exact = marginals(*product_engine("cpu double", batch.model, threads()), sequence);
      for (std::size_t i = 0; i < exact.labels.size(); ++i)
        against_double = std::max(against_double, std::fabs(exact.labels[i] - found.labels[i]));
    }
    table.row(batch.name, name, batch.B, batch.T, batch.labels, batch.durations, invariants.least_boundary,
              invariants.most_boundary, invariants.expected_segments / invariants.sequences,
              invariants.normalization, invariants.length_error, invariants.least_label, invariants.positions,
              seconds, against_double);
  }
}

void write_invariants(const Run& run) {
  Table table(run, "validation_invariants.tsv", kInvariantColumns);
  const auto untrained = [](std::string name, int B, std::int64_t T, int C, int K) {
    return Batch{
        std::move(name), B, C, K, T, untrained_model(C, K, 1), [C](std::int64_t length, int b, bool single) {
          return noise_sequence(length, C, static_cast<std::uint64_t>(b) + 1, single);
        }};
  };
  write_batch(table, untrained("a", 4, 2000, 32, 50), product_engines());
  std::vector<std::string> in_float;
  for (const std::string& name : product_engines())
    if (name.ends_with("float")) in_float.push_back(name);
  write_batch(table, untrained("b", run.pick(2, 142), 100'000, 24, 100), in_float);
  // As the issue asks: where segments are long, so that the posterior is one of segments.
  for (const double mean : {20.0, 1000.0}) {
    const int C = 24, K = 100;
    const Batch batch{"b, mean duration " + std::to_string(static_cast<int>(mean)),
                      run.pick(2, 16),
                      C,
                      K,
                      100'000,
                      segment_model(C, K, mean),
                      [=](std::int64_t length, int b, bool single) {
                        return segment_sequence(length, C, mean, static_cast<std::uint64_t>(b) + 1, single);
                      }};
    write_batch(table, batch, {"cpu double", "cpu float"});
  }
}

// One long sequence in windows; every window's warmed-up right state must agree with its neighbour's.
void write_long_sequences(const Run& run) {
  Table table(run, "validation_long.tsv",
              {"mean_duration", "T", "C", "K", "engine", "max|sum_c-1|", "segments", "windows",
               "disagreeing_windows", "seconds"});
  const int C = 8, K = 100;
  const std::int64_t T = run.pick<std::int64_t>(600'000, 10'000'000);
  for (const double mean : {20.0, 1000.0}) {
    const Sequence sequence = segment_sequence(T, C, mean, 1, true);
    const auto engine = product_engine("cpu float", segment_model(C, K, mean), threads());
    const std::int64_t chunk = engine->info().grid.chunk, halo = engine->info().grid.warmup;
    const std::int64_t step = std::max<std::int64_t>(1, 500'000 / chunk) * chunk;
    double worst = 0, seconds = 0;
    CompensatedSum segments;
    std::vector<double> boundary, labels;
    BoundaryState left, warmed;
    int windows = 0, disagreeing = 0;
    for (std::int64_t begin = 0; begin < T; begin += step, ++windows) {
      const std::int64_t end = std::min(T, begin + step);
      boundary.assign(static_cast<std::size_t>(end - begin), 0);
      labels.assign(boundary.size() * static_cast<std::size_t>(C), 0);
      const double clock = processor_seconds();
      const auto window = engine->posteriors(
          sequence.window(C, std::max<std::int64_t>(0, begin - halo), std::min(T, end + halo)), {begin, end},
          begin == 0 ? nullptr : &left, nullptr, {.boundary = boundary.data(), .labels = labels.data()});
      seconds += processor_seconds() - clock;
      for (const ChunkReport& report : window.chunks) worst = std::max(worst, report.max_normalization_error);
      for (const double p : boundary) segments.add(p);
      if (begin > 0 &&
          !agreement(window.left_backward, warmed, engine->info().grid.tolerance, engine->precision()))
        ++disagreeing;
      left = window.right_forward;
      warmed = window.right_warmed;
    }
    table.row(mean, T, C, K, "cpu float", worst, segments.value(), windows, disagreeing, seconds);
  }
}

// Central differences of log Z (reference engine, forward alone) against the gradients of an engine.
class Differences {
 public:
  explicit Differences(Problem problem) : problem_(std::move(problem)) {}
  static constexpr double kStep = 1e-3;  // the paper's

  std::vector<double> by(std::vector<double> Problem::*scores, Index first) {
    std::vector<double> gradient;
    for (Index i = first; i < (problem_.*scores).size(); ++i) {
      double& entry = (problem_.*scores)[i];
      const double middle = entry;
      entry = middle + kStep;
      const double up = value();
      entry = middle - kStep;
      gradient.push_back((up - value()) / (2 * kStep));
      entry = middle;
    }
    return gradient;
  }

 private:
  double value() const {
    return log_partition(*product_engine("reference", chain_of(problem_)), sequence_of(problem_));
  }
  Problem problem_;
};

void write_gradients(const Run& run) {
  Table table(run, "validation_gradients.tsv",
              {"engine", "parameter", "elements", "cosine", "largest_error/largest_entry", "largest_error"});
  const Problem problem = random_problem({100, 25, 16}, 3, false);
  Differences differences(problem);
  const auto by_S = differences.by(&Problem::S, problem.shape.C);  // S[0] stays 0: 1600 entries
  const auto by_transition = differences.by(&Problem::transition, 0);
  const auto by_duration = differences.by(&Problem::duration, 0);
  for (const std::string& name : product_engines()) {
    const Marginals found = marginals(*product_engine(name, chain_of(problem)), sequence_of(problem));
    const Index C = problem.shape.C;
    std::vector<double> S(found.ends);  // (D.18): p_end(t-1) - p_start(t)
    for (Index i = 0; i + C < S.size(); ++i) S[i] -= found.starts[i + C];
    const auto row = [&](const char* parameter, const std::vector<double>& a, const std::vector<double>& b) {
      double ab = 0, aa = 0, bb = 0, largest = 0, error = 0;
      for (Index i = 0; i < a.size(); ++i) {
        ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
        largest = std::max(largest, std::fabs(b[i]));
        error = std::max(error, std::fabs(a[i] - b[i]));
      }
      table.row(name, parameter, a.size(), ab / std::sqrt(aa * bb), error / largest, error);
    };
    row("S", S, by_S);
    row("transition", found.counts.transition, by_transition);
    row("duration", found.counts.duration, by_duration);
  }
}

}  // namespace

void write_validation(const Run& run) {
  write_invariants(run);
  write_long_sequences(run);
  write_gradients(run);
}

}  // namespace semicrf::lab
