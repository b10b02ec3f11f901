// Every backend under every semiring against the enumeration of all segmentations; gradients against the
// enumeration and the reference engine; the bytes that were predicted against those that were taken.
#include <map>
#include <string>

#include "lab/backends/all_backends.h"
#include "lab/backends/low_rank.h"
#include "lab/semirings/expectation.h"
#include "lab/semirings/k_max.h"
#include "lab/semirings/max.h"
#include "lab/semirings/sampling.h"
#include "lab/semirings/standard.h"
#include "lab/tests/enumerate_edges.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;
using namespace semicrf::lab;

namespace {

constexpr Index kBest = 5;

std::string describe(const Problem& problem, std::uint64_t seed) {
  return "T=" + std::to_string(problem.shape.T) + " K=" + std::to_string(problem.shape.K) +
         " C=" + std::to_string(problem.shape.C) + " seed=" + std::to_string(seed);
}

// Equal, or both the same infinity.
bool close(double a, double b, double tolerance) {
  return a == b || std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

// One problem in each shape, plain and with everything, and with transitions that depend on the duration.
template <class Body>
void for_small_problems(Body body) {
  std::uint64_t seed = testing::test_seed(1);
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{1, 3, 2}, Shape{3, 1, 2}, Shape{4, 2, 2}, Shape{4, 4, 2}, Shape{5, 3, 2},
        Shape{3, 7, 3}, Shape{6, 2, 1}, Shape{8, 3, 1}, Shape{9, 5, 1}}) {
    for (const bool everything : {false, true}) {
      Problem problem = random_problem(shape, ++seed, everything);
      body(problem, seed);
      if (!everything) continue;
      Problem by_duration = problem;
      by_duration.by_duration = true;
      by_duration.transition = random_problem({shape.K * shape.C, 1, shape.C}, seed, false).S;
      by_duration.transition.erase(by_duration.transition.begin(),
                                   by_duration.transition.begin() + static_cast<std::ptrdiff_t>(shape.C));
      by_duration.transition.resize(shape.K * shape.C * shape.C);
      body(by_duration, seed);
    }
  }
}

// Totals and the sums through every edge, by one semiring; `check(found, paths)` compares one such sum.
template <class Ring, class Check>
void check_semiring(Ring ring, Check check) {
  for_small_problems([&](const Problem& problem, std::uint64_t seed) {
    const std::vector<Path> paths = enumerate_paths(problem);
    for_each_backend([&](auto backend) {
      using Backend = decltype(backend);
      INFO(Backend::name << " " << Ring::name << " " << describe(problem, seed));
      Memory memory;
      CHECK(check(Backend::run(problem, ring, memory, ForwardOnly{}), paths));
      Index edges = 0;
      bool all = true;
      const auto total = Backend::run(problem, ring, memory, [&](const Edge& edge, const auto& through) {
        ++edges;
        all = all && check(through, with_edge(paths, edge));
      });
      CHECK(check(total, paths));
      CHECK(all);
      Index expected = 0;
      for (Index t = 1; t <= problem.shape.T; ++t)
        expected += std::min(problem.shape.K, t) * problem.shape.C * problem.shape.C;
      CHECK(edges == expected);
    });
  });
}

}  // namespace

TEST_CASE("backends: log Z and edge masses equal the enumeration") {
  check_semiring(Log{}, [](double found, const std::vector<Path>& paths) {
    return close(found, static_cast<double>(log_sum(paths)), 1e-12);
  });
}

TEST_CASE("backends: best scores equal the enumeration") {
  check_semiring(Max{}, [](double found, const std::vector<Path>& paths) {
    return close(found, paths.empty() ? kNegativeInfinity : best_scores(paths).front(), 1e-12);
  });
}

TEST_CASE("backends: the k best scores equal the enumeration") {
  check_semiring(KMax<kBest>{}, [](const KMax<kBest>::Value& found, const std::vector<Path>& paths) {
    std::vector<double> best = best_scores(paths);
    best.resize(kBest, kNegativeInfinity);
    return std::equal(best.begin(), best.end(), found.begin(),
                      [](double a, double b) { return close(b, a, 1e-12); });
  });
}

TEST_CASE("backends: expected score and entropy equal the enumeration") {
  check_semiring(Expectation{}, [](const Expectation::Value& found, const std::vector<Path>& paths) {
    if (paths.empty()) return found.log_weight == kNegativeInfinity;
    return close(found.log_weight, static_cast<double>(log_sum(paths)), 1e-12) &&
           close(found.mean, static_cast<double>(expected_score(paths)), 1e-11);
  });
}

TEST_CASE("backends: plain sums equal the enumeration") {
  check_semiring(Standard{}, [](double found, const std::vector<Path>& paths) {
    const double expected = paths.empty() ? 0 : static_cast<double>(std::exp(log_sum(paths)));
    return std::fabs(found - expected) <= 1e-12 * expected;
  });
}

TEST_CASE("backends: draws are segmentations, with the weights of the enumeration") {
  check_semiring(Sampling(testing::test_seed(7)),
                 [](const Sampling::Value& found, const std::vector<Path>& paths) {
                   return close(found.log_weight, static_cast<double>(log_sum(paths)), 1e-12);
                 });
  const Problem problem = random_problem({4, 2, 2}, testing::test_seed(11), false);
  const std::vector<Path> paths = enumerate_paths(problem);
  const auto key = [](std::vector<Edge> edges) {
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.t < b.t; });
    std::string text;
    for (const Edge& e : edges)
      text += std::to_string(e.t) + "," + std::to_string(e.from) + "," + std::to_string(e.to) + ";";
    return text;
  };
  std::map<std::string, double> probability;
  for (const Path& path : paths)
    probability[key(path.edges)] = static_cast<double>(std::exp(path.score - log_sum(paths)));
  for_each_backend([&](auto backend) {
    using Backend = decltype(backend);
    INFO(Backend::name);
    constexpr int kDraws = 2000;
    Sampling ring(testing::test_seed(13));
    std::map<std::string, int> seen;
    for (int i = 0; i < kDraws; ++i) {
      ring.forget();
      Memory memory;
      ++seen[key(ring.edges(Backend::run(problem, ring, memory, ForwardOnly{})))];
    }
    double chi_square = 0;
    for (const auto& [path, p] : probability) {
      const double expected = kDraws * p;
      chi_square += (seen[path] - expected) * (seen[path] - expected) / expected;
    }
    CHECK(seen.size() == probability.size());  // nothing that is no segmentation
    const auto freedom = static_cast<double>(probability.size() - 1);
    CHECK(std::fabs(chi_square - freedom) < 6 * std::sqrt(2 * freedom));
  });
}

TEST_CASE("backends: gradients equal the enumeration") {
  for_small_problems([&](const Problem& problem, std::uint64_t seed) {
    const std::vector<Path> paths = enumerate_paths(problem);
    Gradients expected(problem);
    for (const Path& path : paths)
      for (const Edge& edge : path.edges)
        expected.add(edge, static_cast<double>(path.score), static_cast<double>(log_sum(paths)));
    for_each_backend([&](auto backend) {
      INFO(decltype(backend)::name << " " << describe(problem, seed));
      Memory memory;
      const Gradients found = log_partition_and_gradients<decltype(backend)>(problem, memory).second;
      const auto worst = [&](auto member) {
        double largest = 0;
        for (Index i = 0; i < (found.*member).size(); ++i)
          largest = std::max(largest, std::fabs((found.*member)[i] - (expected.*member)[i]));
        return largest;
      };
      for (const auto member :
           {&Gradients::S, &Gradients::transition, &Gradients::duration, &Gradients::start, &Gradients::end})
        CHECK(worst(member) <= 1e-10);
    });
  });
}

TEST_CASE("backends: log Z and gradients equal the reference engine") {
  for (const Shape& shape : {Shape{120, 6, 3}, Shape{40, 50, 2}, Shape{64, 1, 4}}) {
    const Problem problem = random_problem(shape, testing::test_seed(shape.T), false);
    const std::vector<double> emissions = emissions_of(problem);
    const auto length = static_cast<std::int64_t>(shape.T);
    ScoreWindow scores;
    scores.end = scores.length = length;
    scores.emissions.f64 = emissions.data();
    const auto engine = make_reference_engine(chain_of(problem));
    std::vector<double> labels(emissions.size()), starts(labels), ends(labels);
    ExpectedCounts counts;
    const PosteriorWindow window = engine->posteriors(
        scores, {0, length}, nullptr, nullptr,
        {.labels = labels.data(), .starts = starts.data(), .ends = ends.data(), .counts = &counts});
    const double expected = log_sum(window.right_forward);
    for_each_backend([&](auto backend) {
      INFO(decltype(backend)::name << " " << describe(problem, shape.T));
      Memory memory;
      const auto [found, gradients] = log_partition_and_gradients<decltype(backend)>(problem, memory);
      CHECK(close(found, expected, 1e-12));
      const auto worst = [](const std::vector<double>& a, const std::vector<double>& b) {
        double largest = 0;
        REQUIRE(a.size() == b.size());
        for (Index i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
        return largest;
      };
      CHECK(worst(gradients.start, starts) <= 1e-10);
      CHECK(worst(gradients.end, ends) <= 1e-10);
      CHECK(worst(gradients.labels(), labels) <= 1e-10);
      CHECK(worst(gradients.transition, counts.transition) <= 1e-10);
      CHECK(worst(gradients.duration, counts.duration) <= 1e-10);
    });
  }
}

TEST_CASE("backends: the bytes taken are the bytes predicted, and more than the limit is refused") {
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{2, 3, 2}, Shape{7, 2, 2}, Shape{23, 4, 2}, Shape{50, 3, 1}}) {
    const Problem problem = random_problem(shape, testing::test_seed(5), false);
    const auto check = [&](auto ring) {
      using Ring = decltype(ring);
      for_each_backend([&](auto backend) {
        using Backend = decltype(backend);
        INFO(Backend::name << " " << Ring::name << " T=" << shape.T << " K=" << shape.K << " C=" << shape.C);
        constexpr std::size_t size = sizeof(typename Ring::Value);
        Memory forward, both;
        Backend::run(problem, ring, forward, ForwardOnly{});
        Backend::run(problem, ring, both, [](const Edge&, const auto&) {});
        CHECK(forward.peak() == Backend::bytes(shape, size, false));
        CHECK(both.peak() == Backend::bytes(shape, size, true));
        Memory small(Backend::bytes(shape, size, true) - 1);
        CHECK_THROWS_AS(Backend::run(problem, ring, small, [](const Edge&, const auto&) {}), MemoryRefused);
        CHECK(small.peak() == 0);
      });
    };
    check(Log{});
    check(KMax<kBest>{});
  }
}

TEST_CASE("streaming: a backward ring of K slots is enough where rows are finished before they are stored") {
  for (const Shape& shape : {Shape{30, 4, 3}, Shape{30, 1, 2}, Shape{9, 12, 2}}) {
    const Problem problem = random_problem(shape, testing::test_seed(17), true);
    std::vector<double> masses[2];
    for (const Index rings : {1, 2}) {
      Log ring;
      Memory memory;
      const OnTheFly psi(problem);
      Streaming<Log, OnTheFly> scan(shape, psi, ring, memory, true, true);
      scan.forward();
      scan.backward([&](const Edge&, double mass) { masses[rings - 1].push_back(mass); }, rings);
    }
    CHECK(masses[0] == masses[1]);
  }
}

TEST_CASE("backends: equal transitions for every duration are the usual transitions") {
  const Problem problem = random_problem({60, 7, 3}, testing::test_seed(3), true);
  Problem by_duration = problem;
  by_duration.by_duration = true;
  by_duration.transition.clear();
  for (Index k = 0; k < problem.shape.K; ++k)
    by_duration.transition.insert(by_duration.transition.end(), problem.transition.begin(),
                                  problem.transition.end());
  LowRankTransition low;
  low.log_u.assign(problem.shape.K * problem.shape.C, 0.0);
  low.log_A = problem.transition;
  const double once = low_rank_scan(problem, low, nullptr);
  for_each_backend([&](auto backend) {
    INFO(decltype(backend)::name);
    Memory memory;
    const auto [a, of_a] = log_partition_and_gradients<decltype(backend)>(problem, memory);
    const auto [b, of_b] = log_partition_and_gradients<decltype(backend)>(by_duration, memory);
    CHECK(close(a, b, 1e-12));
    CHECK(close(once, b, 1e-12));
    const Index entries = problem.transition.size();
    for (Index i = 0; i < entries; ++i) {
      double sum = 0;
      for (Index k = 0; k < problem.shape.K; ++k) sum += of_b.transition[k * entries + i];
      CHECK(std::fabs(sum - of_a.transition[i]) <= 1e-10);
    }
  });
}

TEST_CASE("low rank: log Z and gradients equal those of the dense transitions") {
  const Shape shape{40, 6, 3};
  for (Index rank = 1; rank <= 3; ++rank) {
    const std::uint64_t seed = testing::test_seed(100 + rank);
    INFO("rank " << rank << " seed " << seed);
    Problem problem = random_problem(shape, seed, true);
    LowRankTransition low;
    low.rank = rank;
    low.log_u = random_problem({rank * shape.K, 1, shape.C}, seed + 1, false).duration;
    low.log_u.resize(rank * shape.K * shape.C);
    low.log_A = random_problem({1, rank * shape.C, shape.C}, seed + 2, false).duration;
    for (Index i = 0; i < low.log_u.size(); ++i)
      low.log_u[i] = std::sin(static_cast<double>(i * i + seed % 97));
    problem.by_duration = true;
    problem.transition = low.dense(shape);
    LowRankGradients found;
    Memory memory;
    const double log_partition = low_rank_scan(problem, low, &found);
    const auto [expected, dense] = log_partition_and_gradients<StreamingBackend>(problem, memory);
    CHECK(close(log_partition, expected, 1e-12));
    for (Index i = 0; i < found.duration.size(); ++i)
      CHECK(std::fabs(found.duration[i] - dense.duration[i]) <= 1e-10);
    for (Index i = 0; i < found.starts.size(); ++i) {
      CHECK(std::fabs(found.starts[i] - dense.start[i]) <= 1e-10);
      CHECK(std::fabs(found.ends[i] - dense.end[i]) <= 1e-10);
    }
    // The chain rule from the dense gradient: d T_k[c',c] / d log u_r(k,c) = u A / sum, and so for log A.
    std::vector<double> u(low.log_u.size()), A(low.log_A.size());
    for (Index k = 0; k < shape.K; ++k)
      for (Index from = 0; from < shape.C; ++from)
        for (Index to = 0; to < shape.C; ++to)
          for (Index r = 0; r < rank; ++r) {
            const Index i = (k * shape.C + from) * shape.C + to;
            const Index at_u = (r * shape.K + k) * shape.C + to, at_A = (r * shape.C + from) * shape.C + to;
            const double share = std::exp(low.log_u[at_u] + low.log_A[at_A] - problem.transition[i]);
            u[at_u] += dense.transition[i] * share;
            A[at_A] += dense.transition[i] * share;
          }
    for (Index i = 0; i < u.size(); ++i) CHECK(std::fabs(found.u[i] - u[i]) <= 1e-10);
    for (Index i = 0; i < A.size(); ++i) CHECK(std::fabs(found.A[i] - A[i]) <= 1e-10);
  }
}
