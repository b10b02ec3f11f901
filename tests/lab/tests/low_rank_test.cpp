// Laws of segments: the likelihood rises, what depends on the label before is found, and the law's scores
// make a chain.
#include <cmath>
#include <random>

#include "lab/backends/all_backends.h"
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

// Copy r of label c (label c R + r) has its emissions, the durations of u_r, and is entered by A_r.
TEST_CASE("low rank: the product computes rank R with R copies of each label") {
  constexpr Index R = 2;
  const Shape shape{90, 6, 3};
  const auto [T, K, C] = shape;
  const std::uint64_t seed = semicrf::testing::test_seed(41);
  INFO("seed " << seed);
  Problem problem = random_problem(shape, seed, false);
  const LowRankTransition low{R, random_problem({1, R * K, C}, seed + 1, false).duration,
                              random_problem({1, R * C, C}, seed + 2, false).duration};
  problem.by_duration = true;
  problem.transition = low.dense(shape);
  Memory memory;
  const auto [log_partition, expected] = log_partition_and_gradients<StreamingBackend>(problem, memory);

  Problem copies;
  copies.shape = {T, K, R * C};
  for (const double sum : problem.S) copies.S.insert(copies.S.end(), R, sum);
  for (Index from = 0; from < R * C; ++from)
    for (Index to = 0; to < R * C; ++to)
      copies.transition.push_back(low.log_A[(to % R * C + from / R) * C + to / R]);
  for (Index k = 0; k < K; ++k)
    for (Index to = 0; to < R * C; ++to)
      copies.duration.push_back(problem.duration[k * C + to / R] + low.log_u[(to % R * K + k) * C + to / R]);
  for (const std::string& name : product_engines()) {
    INFO(name);
    const bool exact = name.find("float") == std::string::npos;
    const Marginals found = marginals(*product_engine(name, chain_of(copies)), sequence_of(copies));
    // The first segment's source is summed over: any of R copies.
    const double all_sources = std::log(static_cast<double>(R));
    CHECK(std::fabs(found.log_partition - all_sources - log_partition) <=
          (exact ? 1e-12 : 1e-5) * std::fabs(log_partition));
    const std::vector<double> labels = expected.labels();
    double worst = 0;
    for (Index i = 0; i < labels.size(); ++i) {
      double folded = 0;
      for (Index r = 0; r < R; ++r) folded += found.labels[i * R + r];
      worst = std::max(worst, std::fabs(folded - labels[i]));
    }
    CHECK(worst <= (exact ? 1e-10 : 1e-5));
  }
}
