// App. B: every backend under every semiring, and with the durations of every kind, against the enumeration.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "lab/backends/all_backends.h"
#include "lab/semirings/expectation.h"
#include "lab/semirings/k_max.h"
#include "lab/semirings/max.h"
#include "lab/semirings/sampling.h"
#include "lab/semirings/standard.h"
#include "lab/tables/table.h"
#include "lab/tests/enumerate_edges.h"
#include "model/durations/duration.h"

namespace semicrf::lab {
namespace {

constexpr Index kBest = 5;

double difference(double found, double expected) {
  return found == expected ? 0 : std::fabs(found - expected) / std::max(1.0, std::fabs(expected));
}

// How far a sum is from the same sum over listed paths.
double error(double found, const std::vector<Path>& paths, const Log&) {
  return difference(found, static_cast<double>(log_sum(paths)));
}
double error(double found, const std::vector<Path>& paths, const Max&) {
  return difference(found, paths.empty() ? kNegativeInfinity : best_scores(paths).front());
}
double error(double found, const std::vector<Path>& paths, const Standard&) {
  const auto expected = paths.empty() ? 0 : static_cast<double>(std::exp(log_sum(paths)));
  return found == expected ? 0 : std::fabs(found - expected) / expected;
}
double error(const KMax<kBest>::Value& found, const std::vector<Path>& paths, const KMax<kBest>&) {
  std::vector<double> best = best_scores(paths);
  best.resize(kBest, kNegativeInfinity);
  double worst = 0;
  for (Index i = 0; i < kBest; ++i) worst = std::max(worst, difference(found[i], best[i]));
  return worst;
}
double error(const Expectation::Value& found, const std::vector<Path>& paths, const Expectation&) {
  if (paths.empty()) return difference(found.log_weight, kNegativeInfinity);
  const auto log_partition = static_cast<double>(log_sum(paths)),
             mean = static_cast<double>(expected_score(paths));
  return std::max(difference(found.log_weight, log_partition),
                  difference(found.entropy(), log_partition - mean));
}
double error(const Sampling::Value& found, const std::vector<Path>& paths, const Sampling&) {
  return difference(found.log_weight, static_cast<double>(log_sum(paths)));
}

struct Worst {
  double total = 0, through = 0;
  Index problems = 0;
};

template <class Ring>
void check(Ring ring, const Problem& problem, const std::vector<Path>& paths,
           std::map<std::string, Worst>& by_backend) {
  for_each_backend([&](auto backend) {
    Worst& worst = by_backend[decltype(backend)::name];
    ++worst.problems;
    Memory memory;
    const auto total =
        decltype(backend)::run(problem, ring, memory, [&](const Edge& edge, const auto& through) {
          worst.through = std::max(worst.through, error(through, with_edge(paths, edge), ring));
        });
    worst.total = std::max(worst.total, error(total, paths, ring));
  });
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{{1, 1, 1}, {4, 2, 2}, {5, 3, 2}, {3, 7, 3}, {9, 4, 1}};
  return all;
}

template <class Ring>
void write_semiring(Table& table, const Run& run, const Ring& ring) {
  std::map<std::string, Worst> worst;
  std::uint64_t seed = 100;
  for (const Shape& shape : shapes())
    for (int repeat = 0; repeat < run.pick(3, 20); ++repeat) {
      const Problem problem = random_problem(shape, ++seed, repeat % 2 == 1);
      check(ring, problem, enumerate_paths(problem), worst);
    }
  for (const auto& [backend, found] : worst)
    table.row(Ring::name, backend, found.problems, found.total, found.through);
}

// One value of each parameter that makes a plausible law of 1..K.
std::vector<double> values_of(const DurationKind& kind) {
  std::vector<double> values;
  for (const auto& parameter : kind.parameters()) values.push_back(parameter.is_probability ? 0.4 : 2.5);
  return values;
}

}  // namespace

void write_semirings(const Run& run) {
  Table semirings(run, "semirings.tsv",
                  {"semiring", "backend", "problems", "error_of_total", "error_through_edges"});
  write_semiring(semirings, run, Log{});
  write_semiring(semirings, run, Standard{});
  write_semiring(semirings, run, Max{});
  write_semiring(semirings, run, KMax<kBest>{});
  write_semiring(semirings, run, Expectation{});
  write_semiring(semirings, run, Sampling(1));

  Table durations(run, "durations.tsv",
                  {"kind", "backend", "problems", "error_of_log_Z", "error_of_marginals"});
  for (const DurationKind* kind : duration_kinds()) {
    std::map<std::string, Worst> worst;
    std::uint64_t seed = 500;
    for (const Shape& shape : shapes()) {
      Problem problem = random_problem(shape, ++seed, false);
      if (!kind->is_table()) {
        DurationSpec spec;
        spec.kind = kind;
        spec.values.assign(shape.C, values_of(*kind));
        problem.duration = duration_table(spec, static_cast<int>(shape.K), static_cast<int>(shape.C));
      }
      check(Log{}, problem, enumerate_paths(problem), worst);
    }
    for (const auto& [backend, found] : worst)
      durations.row(std::string(kind->name()), backend, found.problems, found.total, found.through);
  }
}

}  // namespace semicrf::lab
