// The statements of App. C against brute force.
#include "lab/banded/banded.h"

#include <algorithm>

#include "support/catch.h"

using namespace semicrf::lab;

TEST_CASE("banded: powers of the boundary adjacency have the entries m <= j - i <= m K") {
  for (Index T = 1; T <= 9; ++T)
    for (Index K = 1; K <= 4; ++K)
      for (Index m = 1; m <= T + 2; ++m) {
        INFO("T=" << T << " K=" << K << " m=" << m);
        const Pattern product = power(boundary_reachability(T, K), m);
        bool equal = true;
        for (Index i = 0; i <= T; ++i)
          for (Index j = 0; j <= T; ++j)
            equal = equal && product(i, j) == (j >= i && m <= j - i && j - i <= m * K);
        CHECK(equal);
        // Lemma 2 with the condition that it leaves out: beyond T segments there is nothing.
        CHECK(product.bandwidth() == (m <= T ? std::min(T, m * K) : 0));
      }
}

TEST_CASE("banded: the corrected bound holds under all orderings, the printed one does not") {
  Index violations = 0, checked = 0;
  for (Index K = 1; K <= 7; ++K)
    for (Index C = 1; C <= 3; ++C)
      for (Index S = 1; S <= 2 * K + 4; ++S) {
        const Pattern pattern = duration_compatibility(K, C, S);
        if (pattern.size() > 7) continue;
        ++checked;
        INFO("K=" << K << " C=" << C << " S=" << S);
        const Index smallest = smallest_bandwidth(pattern);
        CHECK(smallest >= corrected_bound(K, C, S));
        if (S >= 2 * K) CHECK(smallest == corrected_bound(K, C, S));  // dense, so the bound is met
        const bool violated = smallest < printed_bound(C, S);
        CHECK(violated == (S >= 2 * K + 2));
        violations += violated ? 1 : 0;
        for (const auto& order : {identity_order(pattern.size()), snake_order(pattern.size(), C),
                                  reverse_cuthill_mckee(pattern), middle_out_order(pattern)}) {
          std::vector<Index> sorted = order;
          std::sort(sorted.begin(), sorted.end());
          CHECK(sorted == identity_order(pattern.size()));
          CHECK(pattern.permuted(order).bandwidth() >= smallest);
          CHECK(pattern.permuted(order).count() == pattern.count());
        }
      }
  CHECK(checked > 50);
  CHECK(violations > 10);
  CHECK(duration_compatibility(4, 1, 100).bandwidth() == 3);  // the review's example: 49 is claimed
  CHECK(printed_bound(1, 100) == 49);
}

TEST_CASE("banded: the operators of the tree fill up with the span") {
  const Index K = 8, C = 2, n = K * C;
  CHECK(tree_operator(K, C, 1).count() == C * n + (n - C));
  Index before = 0;
  for (const Index steps : {1, 2, 4, 8}) {
    const Index count = tree_operator(K, C, steps).count();
    CHECK(count > before);
    before = count;
  }
  CHECK(tree_operator(K, C, 16).count() == n * n);
}

TEST_CASE("banded: durations counted from 0, as the authors' package counts them") {
  // K = 3, S = 1: durations 0 and 1, which go together unless both are 1.
  const Pattern small = compatibility_from_zero(3, 1, 1);
  CHECK(small.size() == 2);
  CHECK((small(0, 0) && small(0, 1) && small(1, 0) && !small(1, 1)));
  // Values of their functions: identity 14, their snake 26, reverse Cuthill-McKee 13 of n - 1 = 32.
  const Pattern pattern = compatibility_from_zero(12, 3, 4);
  CHECK(pattern.size() == 33);
  CHECK(pattern.bandwidth() == 14);
  CHECK(pattern.permuted(low_high_order(33, 3)).bandwidth() == 26);
  CHECK(pattern.permuted(reverse_cuthill_mckee(pattern)).bandwidth() == 13);
  CHECK(low_high_order(8, 2) == std::vector<Index>{0, 1, 6, 7, 2, 3, 4, 5});
}
