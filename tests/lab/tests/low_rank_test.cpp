// Laws of segments: the likelihood rises, what depends on the label before is found, and the law's scores
// make a chain.
#include <cmath>
#include <random>

#include "lab/low_rank/segment_law.h"
#include "lab/product.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf::lab;

namespace {

// Durations of class 0 after label 0, of class 3 after label 1; `dependent` false: either alike.
std::vector<Step> steps_of(bool dependent, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Step> steps;
  for (Index i = 0; i < 4000; ++i) {
    const Index from = random() % 2, side = dependent ? from : random() % 2;
    steps.push_back({from, static_cast<Index>(random() % 2), random() % 10 == 0 ? random() % 4 : 3 * side});
  }
  return steps;
}

}  // namespace

TEST_CASE("low rank: rank 2 finds durations that depend on the label before, and only these") {
  for (const bool dependent : {true, false}) {
    const std::uint64_t seed = semicrf::testing::test_seed(21);
    INFO("dependent " << dependent << " seed " << seed);
    const auto known = steps_of(dependent, seed), aside = steps_of(dependent, seed + 1);
    double before = -INFINITY;
    for (const int rounds : {1, 3, 10, 100}) {
      const double value = mean_log_likelihood(fit(known, 2, 2, 4, 1e-9, rounds, 1), known);
      CHECK(value >= before - 1e-12);
      before = value;
    }
    const double one = mean_log_likelihood(fit(known, 1, 2, 4, 0.5, 100, 1), aside);
    const double two = mean_log_likelihood(fit(known, 2, 2, 4, 0.5, 100, 1), aside);
    CHECK((two - one > 0.3) == dependent);
    CHECK(two - one > -0.01);
  }
}

TEST_CASE("low rank: the scores of a law add up to its probabilities") {
  const SegmentLaw law = fit(steps_of(true, 3), 2, 2, 4, 0.5, 30, 1);
  const auto dense = law.scores().dense({1, 4, 2});
  for (Index from = 0; from < 2; ++from) {
    double total = 0;
    for (Index k = 0; k < 4; ++k)
      for (Index to = 0; to < 2; ++to) {
        const double p = std::exp(dense[(k * 2 + from) * 2 + to]);
        CHECK(std::fabs(p - law.probability({from, to, k})) <= 1e-14);
        total += p;
      }
    CHECK(std::fabs(total - 1) <= 1e-12);
  }
}

TEST_CASE("low rank: classes of durations grow by half an octave") {
  CHECK(duration_class(1) == 0);
  CHECK(duration_class(2) == 2);
  CHECK(duration_class(3) == 3);
  CHECK(duration_class(4) == 4);
  CHECK(duration_class(1024) == 20);
}
