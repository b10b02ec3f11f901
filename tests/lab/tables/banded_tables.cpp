// Section 5.1 and App. C: bandwidths by ordering, bounds, powers, fill-in by level, pictures of the patterns.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lab/banded/banded.h"
#include "lab/tables/table.h"

namespace semicrf::lab {
namespace {

double ratio(Index part, Index whole) { return static_cast<double>(part) / static_cast<double>(whole); }

void write_orderings(const Run& run) {
  Table table(run, "banded_orderings.tsv",
              {"K", "C", "S", "n", "identity", "snake", "rcm", "middle_out", "best", "best/(n-1)",
               "best/(KC-1)", "entries/n^2", "printed_bound", "corrected_bound"});
  for (const Index K : run.pick<std::vector<Index>>({4, 8, 16}, {4, 8, 12, 16, 24, 32, 48}))
    for (const Index C : {1, 2, 3, 4, 8})
      for (Index S = 2; S <= 2 * K + 2; S += std::max<Index>(1, K / 8)) {
        const Pattern pattern = duration_compatibility(K, C, S);
        const Index n = pattern.size();
        if (n < 2 || n > 400) continue;
        const Index identity = pattern.bandwidth();
        const Index snake = pattern.permuted(snake_order(n, C)).bandwidth();
        const Index rcm = pattern.permuted(reverse_cuthill_mckee(pattern)).bandwidth();
        const Index middle = pattern.permuted(middle_out_order(pattern)).bandwidth();
        const Index best = std::min({identity, snake, rcm});  // the paper's three
        table.row(K, C, S, n, identity, snake, rcm, middle, best, ratio(best, n - 1), ratio(best, K * C - 1),
                  ratio(pattern.count(), n * n), printed_bound(C, S), corrected_bound(K, C, S));
      }
}

// The grid of the authors' bandwidth report on both matrices: durations counted from 0, as their package has
// it, and M_S as the paper's (C.4) defines it.
void write_counted(const Run& run) {
  Table table(run, "banded_counted.tsv",
              {"matrix", "K", "C", "S", "n", "identity", "low_high", "rcm", "best/(n-1)"});
  for (const bool from_zero : {true, false})
    for (const Index K : {8, 12, 16, 20})
      for (const Index C : {3, 4, 6})
        for (const Index S : {4, 8, 16, 32, 64}) {
          const Pattern pattern =
              from_zero ? compatibility_from_zero(K, C, S) : duration_compatibility(K, C, S);
          const Index n = pattern.size(), identity = pattern.bandwidth();
          const Index low_high = pattern.permuted(low_high_order(n, C)).bandwidth();
          const Index rcm = pattern.permuted(reverse_cuthill_mckee(pattern)).bandwidth();
          table.row(from_zero ? "from 0" : "C.4", K, C, S, n, identity, low_high, rcm,
                    ratio(std::min({identity, low_high, rcm}), n - 1));
        }
}

// The smallest bandwidth over all orderings against both bounds.
void write_bounds(const Run& run) {
  Table table(run, "banded_bounds.tsv",
              {"K", "C", "S", "n", "smallest", "printed_bound", "printed_holds", "corrected_bound",
               "corrected_holds"});
  const Index largest = run.pick<Index>(8, 9);
  for (Index K = 1; K <= 8; ++K)
    for (Index C = 1; C <= 4; ++C)
      for (Index S = 1; S <= 2 * K + 4; ++S) {
        const Pattern pattern = duration_compatibility(K, C, S);
        if (pattern.size() > largest) continue;
        const Index smallest = smallest_bandwidth(pattern);
        table.row(K, C, S, pattern.size(), smallest, printed_bound(C, S),
                  smallest >= printed_bound(C, S) ? 1 : 0, corrected_bound(K, C, S),
                  smallest >= corrected_bound(K, C, S) ? 1 : 0);
      }
}

void write_powers(const Run& run) {
  Table powers(run, "banded_powers.tsv", {"T", "K", "m", "bandwidth", "min(T,mK)", "entries/upper", "m<=T"});
  for (const Index K : {2, 4, 8, 16}) {
    const Index T = run.pick<Index>(64, 128);
    const Pattern base = boundary_reachability(T, K);
    Pattern product = base;
    for (Index m = 1; m <= 2 * T; m *= 2) {
      powers.row(T, K, m, product.bandwidth(), std::min(T, m * K), ratio(product.count(), T * (T + 1) / 2),
                 m <= T ? 1 : 0);
      product = product.times(product);
    }
  }
  Table levels(run, "banded_fill_in.tsv",
               {"K", "C", "n", "level", "steps", "entries/n^2", "bandwidth/(n-1)", "rcm/(n-1)", "log2(K)"});
  for (const auto& [K, C] : {std::pair<Index, Index>{4, 2}, {8, 3}, {16, 2}, {32, 1}, {32, 3}})
    for (Index level = 0; level <= 7; ++level) {
      const Pattern product = tree_operator(K, C, Index{1} << level);
      const Index n = product.size();
      levels.row(K, C, n, level, Index{1} << level, ratio(product.count(), n * n),
                 ratio(product.bandwidth(), n - 1),
                 ratio(product.permuted(reverse_cuthill_mckee(product)).bandwidth(), n - 1),
                 std::log2(static_cast<double>(K)));
    }
}

void write_map(const Run& run, const std::string& name, const Pattern& pattern) {
  Table table(run, std::string("banded_map_").append(name).append(".tsv"), {"row", "column"});
  for (Index i = 0; i < pattern.size(); ++i)
    for (Index j = 0; j < pattern.size(); ++j)
      if (pattern(i, j)) table.row(i, j);
}

}  // namespace

void write_banded(const Run& run) {
  write_orderings(run);
  write_counted(run);
  write_bounds(run);
  write_powers(run);
  const Index K = 16, C = 2;
  for (const Index S : {8, 16, 24}) {
    const Pattern pattern = duration_compatibility(K, C, S);
    const std::string span = std::string("S").append(std::to_string(S));
    write_map(run, span + "_identity", pattern);
    write_map(run, span + "_rcm", pattern.permuted(reverse_cuthill_mckee(pattern)));
    write_map(run, span + "_middle_out", pattern.permuted(middle_out_order(pattern)));
  }
  for (const Index level : {0, 2, 4})
    write_map(run, std::string("tree_level").append(std::to_string(level)),
              tree_operator(K, C, Index{1} << level));
}

}  // namespace semicrf::lab
