// Figure 2 of the paper, A to G, on the processor.
#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "lab/frontier/measure.h"
#include "lab/product.h"
#include "lab/tables/table.h"

namespace semicrf::lab {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// A, B and E: time per position against n = (K+1) C for several T. A larger n is not asked for where the cube
// of n, which is how trees grow, says that it would take longer than `longest`.
void write_times(const Run& run) {
  Table table(run, "frontier_times.tsv",
              {"method", "pass", "T", "K", "C", "n", "seconds", "seconds_per_position", "bytes",
               "positions_per_second"});
  const double longest = run.pick(0.2, 4.0), least = run.pick(0.005, 0.1);
  const std::size_t limit = run.pick<std::size_t>(512, 4096) * kMebibyte;
  const std::vector<Shape> models{{0, 2, 2},  {0, 4, 3},  {0, 8, 3}, {0, 12, 4},
                                  {0, 24, 4}, {0, 30, 5}, {0, 60, 8}};
  for (const std::string& method : all_methods())
    for (const Pass pass : {Pass::kForward, Pass::kBoth})
      for (const Index T : run.pick<std::vector<Index>>({64, 256, 1024}, {64, 128, 256, 512, 1024, 4096})) {
        double expected = 0, n_before = 0;
        for (const Shape& model : models) {
          const Shape shape{T, model.K, model.C};
          const auto positions = static_cast<double>(T), n = static_cast<double>((shape.K + 1) * shape.C);
          if (n_before > 0 && expected * std::pow(n / n_before, 3) > longest) break;
          const Cost found = cost(method, pass, shape, least, limit);
          if (found.refused) break;
          table.row(method, name_of(pass), T, shape.K, shape.C, n, found.seconds, found.seconds / positions,
                    found.bytes, positions / found.seconds);
          expected = found.seconds;
          n_before = n;
        }
      }
}

// C: T = 128, K = 4, C = 3.
void write_memory(const Run& run) {
  Table table(run, "frontier_memory.tsv", {"method", "pass", "T", "K", "C", "bytes", "scores_bytes"});
  const Shape shape{128, 4, 3};
  const std::size_t scores = (shape.T + 1) * shape.C * sizeof(double);  // S, which every method is given
  for (const std::string& method : all_methods())
    for (const Pass pass : {Pass::kForward, Pass::kBoth})
      table.row(method, name_of(pass), shape.T, shape.K, shape.C, predicted_bytes(method, pass, shape),
                scores);
}

// D and F: the largest n (C = 3) that fits a limit, by bisection over K; and that the answer is right: where
// the limit is small enough to try, the largest runs and the next one is refused.
void write_largest(const Run& run) {
  Table table(run, "frontier_largest.tsv",
              {"method", "limit_mib", "T", "C", "largest_K", "largest_n", "tried"});
  constexpr Index kLabels = 3, kMostDurations = 100'000;
  for (const std::size_t limit_mib : {std::size_t{1}, std::size_t{1024}, std::size_t{48} * 1024})
    for (const std::string& method : all_methods())
      for (const Index T :
           run.pick<std::vector<Index>>({64, 128, 4096, 100'000, 1'000'000},
                                        {64, 128, 256, 512, 1024, 4096, 16384, 100'000, 1'000'000})) {
        const std::size_t limit = limit_mib * kMebibyte;
        const auto fits = [&](Index K) {
          return predicted_bytes(method, Pass::kBoth, {T, K, kLabels}) <= limit;
        };
        const Index K = bisect(1, std::min<Index>(T, kMostDurations), fits);
        std::string tried = "no";
        if (limit_mib == 1 && T <= run.pick<Index>(128, 1024) && K > 0 && !is_product(method)) {
          const Shape largest{T, K, kLabels}, next{T, K + 1, kLabels};
          const bool runs = !cost(method, Pass::kBoth, largest, 0, limit).refused;
          const bool refused = K == T || cost(method, Pass::kBoth, next, 0, limit).refused;
          tried = runs && refused ? "runs; the next is refused" : "wrong";
        }
        table.row(method, limit_mib, T, kLabels, K, (K + 1) * kLabels, tried);
      }
}

}  // namespace

void write_frontier(const Run& run) {
  write_memory(run);
  write_largest(run);
  write_times(run);
}

// G, and flat in T: the product alone. "random": all scores N(0, 1), so that nearly every position is a
// boundary and long durations count for nothing. "long": faint emissions, rare transitions, all durations
// alike, so that all count. Every sequence has scores of its own.
void write_long(const Run& run) {
  Table table(run, "frontier_long.tsv",
              {"figure", "scores", "method", "pass", "B", "T", "K", "C", "threads", "seconds",
               "positions_per_second"});
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto measure = [&](const char* figure, const char* scores, Index B, const Shape& shape, bool both) {
    std::vector<Sequence> sequences;
    Problem problem;
    for (Index b = 0; b < B; ++b) {
      problem = random_problem(shape, b + 1, false);
      if (scores == std::string("long")) make_durations_count(problem);
      Sequence sequence = sequence_of(problem);
      sequence.f32.assign(sequence.f64.begin(), sequence.f64.end());
      sequence.f64.clear();
      sequences.push_back(std::move(sequence));
    }
    const auto engine = product_engine("cpu float", chain_of(problem), threads);
    for (const bool backward : {false, true}) {
      if (backward && !both) continue;
      const double begin = processor_seconds();
      for (const Sequence& sequence : sequences) {
        if (backward)
          marginals(*engine, sequence);
        else
          log_partition(*engine, sequence);
      }
      const double seconds = processor_seconds() - begin;
      table.row(figure, scores, "cpu float", name_of(backward ? Pass::kBoth : Pass::kForward), B, shape.T,
                shape.K, shape.C, threads, seconds, static_cast<double>(B * shape.T) / seconds);
    }
  };
  for (const char* scores : {"random", "long"}) {
    for (const Index T :
         run.pick<std::vector<Index>>({10'000, 100'000}, {10'000, 100'000, 1'000'000, 4'000'000}))
      measure("flat in T", scores, 1, {T, 100, 24}, true);
    for (const Index K : {2000, 4000, 8000})
      measure("G", scores, run.pick<Index>(1, 32), {50'000, K, 6}, run.full);
  }
}

}  // namespace semicrf::lab
