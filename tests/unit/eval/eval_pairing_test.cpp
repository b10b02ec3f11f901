// Pairs of labels against all one to one pairings; the adjusted Rand index against counts of pairs of bases.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "eval/metrics/evaluation.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;

namespace {

std::int64_t bases_of(const LabelOverlaps& overlaps, const std::vector<std::pair<int, int>>& pairs) {
  std::int64_t sum = 0;
  for (const auto& pair : pairs) sum += overlaps.contains(pair) ? overlaps.at(pair) : 0;
  return sum;
}

// The largest sum over all ways to give the labels 0..n-1 of both sides to each other.
std::int64_t largest_sum(const LabelOverlaps& overlaps, int labels) {
  std::vector<int> order(static_cast<std::size_t>(labels));
  std::iota(order.begin(), order.end(), 0);
  std::int64_t largest = 0;
  do {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < labels; ++i) pairs.emplace_back(i, order[static_cast<std::size_t>(i)]);
    largest = std::max(largest, bases_of(overlaps, pairs));
  } while (std::ranges::next_permutation(order).found);
  return largest;
}

// From its definition: of all pairs of bases, those that are together in both, in the first, in the second.
double counted_index(const std::vector<int>& a, const std::vector<int>& b) {
  double both = 0, first = 0, second = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      all += 1;
      first += a[i] == a[j] ? 1 : 0;
      second += b[i] == b[j] ? 1 : 0;
      both += a[i] == a[j] && b[i] == b[j] ? 1 : 0;
    }
  const double expected = first * second / all;
  return (both - expected) / ((first + second) / 2 - expected);
}

}  // namespace

TEST_CASE("pairs of labels have the largest overlap of all one to one pairings") {
  std::mt19937 random(static_cast<unsigned>(testing::test_seed(4203)));
  for (int round = 0; round < 300; ++round) {
    const int labels = 1 + static_cast<int>(random() % 6);
    LabelOverlaps overlaps;
    const unsigned largest = round % 3 == 0 ? 3 : 1000;  // also many equal sums
    for (int cells = 0; cells < labels * labels; ++cells)
      if (random() % 3 != 0)
        overlaps[{static_cast<int>(random()) & 1 ? cells % labels : 0, cells / labels}] = random() % largest;
    const std::vector<std::pair<int, int>> pairs = best_label_pairs(overlaps);
    CHECK(bases_of(overlaps, pairs) == largest_sum(overlaps, labels));
    for (const auto& [a, b] : pairs) {
      CHECK(overlaps.at({a, b}) > 0);
      CHECK(std::ranges::count(pairs, a, &std::pair<int, int>::first) == 1);
      CHECK(std::ranges::count(pairs, b, &std::pair<int, int>::second) == 1);
    }
  }
  CHECK(best_label_pairs({}).empty());
}

TEST_CASE("of equal sums the pairs of equal labels are taken") {
  const LabelOverlaps overlaps{{{0, 0}, 5}, {{0, 1}, 5}, {{1, 0}, 5}, {{1, 1}, 5}};
  CHECK(best_label_pairs(overlaps) == std::vector<std::pair<int, int>>{{0, 0}, {1, 1}});
}

TEST_CASE("a thousand labels are paired") {
  std::mt19937 random(static_cast<unsigned>(testing::test_seed(4204)));
  constexpr int kLabels = 1000;
  LabelOverlaps overlaps;
  for (int i = 0; i < kLabels; ++i) {
    overlaps[{i, kLabels - 1 - i}] = 1'000'000;
    for (int n = 0; n < 20; ++n) overlaps[{i, static_cast<int>(random() % kLabels)}] += 1 + random() % 1000;
  }
  const std::vector<std::pair<int, int>> pairs = best_label_pairs(overlaps);
  REQUIRE(pairs.size() == kLabels);
  CHECK(std::ranges::all_of(pairs, [](const auto& pair) { return pair.first + pair.second == kLabels - 1; }));
}

TEST_CASE("the adjusted Rand index counts pairs of bases") {
  std::mt19937 random(static_cast<unsigned>(testing::test_seed(4205)));
  for (int round = 0; round < 50; ++round) {
    std::vector<int> a(60), b(60);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<int>(random() % 4);
      b[i] = random() % 3 == 0 ? static_cast<int>(random() % 4) : 3 - a[i];
    }
    LabelOverlaps overlaps;
    for (std::size_t i = 0; i < a.size(); ++i) ++overlaps[{a[i], b[i]}];
    CHECK(std::abs(*adjusted_rand_index(overlaps) - counted_index(a, b)) < 1e-12);
  }
  CHECK_FALSE(adjusted_rand_index({}).has_value());
  CHECK(*adjusted_rand_index({{{0, 5}, 7}}) == 1);
  CHECK(*adjusted_rand_index({{{0, 5}, 1}}) == 1);
  CHECK(*adjusted_rand_index({{{0, 0}, 7}, {{0, 1}, 7}}) == 0);
  CHECK(std::abs(*adjusted_rand_index({{{0, 1}, 3'000'000'000}, {{1, 0}, 100'000'000'000}}) - 1) < 1e-12);
}
