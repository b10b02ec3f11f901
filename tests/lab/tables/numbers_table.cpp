// Statements of App. A about rounding: marginals of tiles that are normalised one by one, and gradients that
// are summed in float or in double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/backends/all_backends.h"
#include "lab/product.h"
#include "lab/tables/table.h"

namespace semicrf::lab {
namespace {

// Edge marginals of one problem, as the streaming algorithm hands them out.
std::vector<std::pair<Edge, double>> log_marginals(const Problem& problem) {
  Log ring;
  Memory memory;
  std::vector<std::pair<Edge, double>> all;
  const double log_partition = StreamingBackend::run(problem, ring, memory, ForwardOnly{});
  StreamingBackend::run(problem, ring, memory, [&](const Edge& edge, double log_mass) {
    all.emplace_back(edge, log_mass - log_partition);
  });
  return all;
}

// A tile of `tau` labels that takes its own largest term for that of all labels is too large by the quotient
// of the two. The error of the transitions' gradient, relative to its largest entry; and that of single
// entries.
void write_tiles(const Run& run) {
  Table table(run, "numbers_tiles.tsv",
              {"C", "tau", "scale", "largest_error/largest_entry", "median_error_of_an_entry"});
  for (const Index C : {16, 32})
    for (const double scale : {0.1, 1.0}) {
      Problem problem = random_problem({run.pick<Index>(40, 100), 10, C}, 1, false);
      for (auto* scores : {&problem.S, &problem.transition, &problem.duration})
        for (double& score : *scores) score *= scale;
      const Index tau = C / 2;  // the paper's table of tiles
      const auto marginals = log_marginals(problem);
      std::map<std::pair<Index, Index>, std::vector<double>> largest;  // by end and duration, of every tile
      for (const auto& [edge, value] : marginals) {
        auto& tiles = largest[{edge.t, edge.k}];
        tiles.resize(C / tau, -std::numeric_limits<double>::infinity());
        tiles[edge.to / tau] = std::max(tiles[edge.to / tau], value);
      }
      std::vector<double> right(C * C), wrong(C * C);
      for (const auto& [edge, value] : marginals) {
        const auto& tiles = largest[{edge.t, edge.k}];
        const double all = *std::max_element(tiles.begin(), tiles.end());
        right[edge.from * C + edge.to] += std::exp(value);
        wrong[edge.from * C + edge.to] += std::exp(value + (all - tiles[edge.to / tau]));
      }
      double error = 0;
      std::vector<double> relative;
      for (Index i = 0; i < right.size(); ++i) {
        error = std::max(error, std::fabs(wrong[i] - right[i]));
        relative.push_back(std::fabs(wrong[i] - right[i]) / right[i]);
      }
      std::nth_element(relative.begin(), relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2),
                       relative.end());
      table.row(C, tau, scale, error / *std::max_element(right.begin(), right.end()),
                relative[relative.size() / 2]);
    }
}

// The gradient by a transition is a sum of T K C^2 marginals per entry; here by sums in float and in double
// against sums in long double.
void write_accumulators(const Run& run) {
  Table table(run, "numbers_accumulators.tsv",
              {"T", "K", "C", "accumulator", "largest_error", "largest_error/largest_entry"});
  const Shape shape{run.pick<Index>(2000, 20'000), 20, 6};
  const auto marginals = log_marginals(random_problem(shape, 1, false));
  std::vector<float> single(shape.C * shape.C);
  std::vector<double> twice(single.size());
  std::vector<long double> truth(single.size());
  for (const auto& [edge, value] : marginals) {
    const Index i = edge.from * shape.C + edge.to;
    const double mu = std::exp(value);
    single[i] += static_cast<float>(mu), twice[i] += mu, truth[i] += static_cast<long double>(mu);
  }
  const auto row = [&](const char* name, const auto& sums) {
    long double error = 0, largest = 0;
    for (Index i = 0; i < truth.size(); ++i) {
      error = std::max(error, std::fabs(static_cast<long double>(sums[i]) - truth[i]));
      largest = std::max(largest, truth[i]);
    }
    table.row(shape.T, shape.K, shape.C, name, static_cast<double>(error),
              static_cast<double>(error / largest));
  };
  row("float", single);
  row("double", twice);
}

// The streaming algorithm as it is for K = 1 and K = 2 (App. D gives them algorithms of their own), against
// the reference engine.
void write_short(const Run& run) {
  Table table(run, "numbers_short.tsv", {"T", "K", "C", "log_Z", "relative_difference"});
  for (const Index K : {1, 2}) {
    const Problem problem = random_problem({run.pick<Index>(200, 2000), K, 6}, 1, false);
    Log ring;
    Memory memory;
    const double found = StreamingBackend::run(problem, ring, memory, ForwardOnly{});
    const double truth = log_partition(*product_engine("reference", chain_of(problem)), sequence_of(problem));
    table.row(problem.shape.T, K, problem.shape.C, found, std::fabs(found - truth) / std::fabs(truth));
  }
}

}  // namespace

void write_numbers(const Run& run) {
  write_short(run);
  write_tiles(run);
  write_accumulators(run);
}

}  // namespace semicrf::lab
