// One to one matching of boundaries and segments against an exhaustive search.
#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "eval/metrics/matching.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;

namespace {

// The size of a largest matching between n and m things, by augmenting paths.
std::int64_t largest_matching(std::size_t n, std::size_t m,
                              const std::function<bool(std::size_t, std::size_t)>& fits) {
  std::vector<std::size_t> partner(m, n);
  std::vector<char> seen;
  const std::function<bool(std::size_t)> place = [&](std::size_t i) {
    for (std::size_t j = 0; j < m; ++j) {
      if (seen[j] != 0 || !fits(i, j)) continue;
      seen[j] = 1;
      if (partner[j] == n || place(partner[j])) {
        partner[j] = i;
        return true;
      }
    }
    return false;
  };
  std::int64_t size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    seen.assign(m, 0);
    size += place(i) ? 1 : 0;
  }
  return size;
}

// Sorted disjoint segments within [0, length), with gaps now and then.
std::vector<Segment> random_segments(std::mt19937& random, std::int64_t length, int labels) {
  std::vector<Segment> segments;
  for (std::int64_t at = 0; at < length;) {
    const auto size = static_cast<std::int64_t>(1 + random() % 6);
    const std::int64_t end = std::min(length, at + size);
    if (random() % 6 != 0)
      segments.push_back({at, end, static_cast<int>(random() % static_cast<unsigned>(labels))});
    at = end;
  }
  return segments;
}

bool share_half(const Segment& a, const Segment& b) {
  std::int64_t both = 0, either = 0;
  for (std::int64_t t = std::min(a.begin, b.begin); t < std::max(a.end, b.end); ++t) {
    const bool in_a = a.begin <= t && t < a.end, in_b = b.begin <= t && t < b.end;
    both += in_a && in_b ? 1 : 0;
    either += in_a || in_b ? 1 : 0;
  }
  return a.label == b.label && 2 * both >= either;
}

std::int64_t size_of(const std::vector<int>& matched) { return static_cast<std::int64_t>(matched.size()); }

}  // namespace

TEST_CASE("ratios, and what is not defined") {
  const MatchCounts counts{8, 4, 3};
  CHECK(*counts.precision() == 0.75);
  CHECK(*counts.recall() == 0.375);
  CHECK(*counts.f1() == 0.5);
  CHECK_FALSE(MatchCounts{}.f1());
  CHECK_FALSE(MatchCounts{}.precision());
  CHECK_FALSE(MatchCounts{3, 0, 0}.precision());
  CHECK(*MatchCounts{3, 0, 0}.recall() == 0);
  CHECK(*MatchCounts{3, 0, 0}.f1() == 0);
}

TEST_CASE("boundaries by hand") {
  const auto pairs = [](std::vector<std::int64_t> a, std::vector<std::int64_t> b, std::int64_t tolerance) {
    return count_pairs_within(a, b, tolerance);
  };
  CHECK(pairs({10, 20}, {10, 21}, 0) == 1);
  CHECK(pairs({10, 20}, {10, 21}, 1) == 2);
  CHECK(pairs({10}, {9, 11}, 1) == 1);  // one to one
  CHECK(pairs({10, 12}, {11}, 1) == 1);
  CHECK(pairs({10, 12}, {8, 11}, 2) == 2);  // 12 must leave 11's neighbour alone: 8-10, 11-12
  CHECK(pairs({0, 3}, {2, 5}, 2) == 2);
  CHECK(pairs({10}, {13}, 2) == 0);
  CHECK(pairs({}, {1}, 5) == 0);
}

TEST_CASE("boundaries: the largest number of pairs") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(testing::test_seed(seed));
    const auto draw = [&random] {
      std::vector<std::int64_t> positions;
      for (std::int64_t t = 0; t < 30; ++t)
        if (random() % 4 == 0) positions.push_back(t);
      return positions;
    };
    const auto a = draw(), b = draw();
    const auto tolerance = static_cast<std::int64_t>(random() % 6);
    INFO("seed " << seed);
    const std::int64_t best = largest_matching(
        a.size(), b.size(), [&](std::size_t i, std::size_t j) { return std::abs(a[i] - b[j]) <= tolerance; });
    REQUIRE(count_pairs_within(a, b, tolerance) == best);
  }
}

TEST_CASE("segments by hand") {
  const std::vector<Segment> truth = {{0, 10, 0}, {10, 20, 1}, {20, 30, 0}};
  CHECK(match_exact_segments(truth, truth) == std::vector<int>{0, 1, 0});
  CHECK(match_overlapping_segments(truth, truth) == std::vector<int>{0, 1, 0});
  // Both halves of the first; the second moved by 4 of 10 (6 of 14 shared) and by 3 (7 of 13); a wrong label.
  CHECK(match_overlapping_segments(truth, std::vector<Segment>{{0, 5, 0}, {5, 10, 0}}) ==
        std::vector<int>{0});
  CHECK(match_overlapping_segments(truth, std::vector<Segment>{{14, 24, 1}}).empty());
  CHECK(match_overlapping_segments(truth, std::vector<Segment>{{13, 23, 1}}) == std::vector<int>{1});
  CHECK(match_overlapping_segments(truth, std::vector<Segment>{{20, 30, 1}}).empty());
  // One that covers two segments as its halves gets one of them.
  CHECK(match_overlapping_segments(std::vector<Segment>{{0, 5, 0}, {5, 10, 0}},
                                   std::vector<Segment>{{0, 10, 0}}) == std::vector<int>{0});
  CHECK(match_exact_segments(truth, std::vector<Segment>{{0, 10, 0}, {10, 21, 1}, {21, 30, 0}}) ==
        std::vector<int>{0});
}

TEST_CASE("segments: the largest number of pairs") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(testing::test_seed(seed));
    const int labels = 1 + static_cast<int>(random() % 3);
    const auto a = random_segments(random, 40, labels), b = random_segments(random, 40, labels);
    INFO("seed " << seed);
    REQUIRE(size_of(match_overlapping_segments(a, b)) ==
            largest_matching(a.size(), b.size(),
                             [&](std::size_t i, std::size_t j) { return share_half(a[i], b[j]); }));
    REQUIRE(size_of(match_exact_segments(a, b)) ==
            largest_matching(a.size(), b.size(), [&](std::size_t i, std::size_t j) { return a[i] == b[j]; }));
  }
}
