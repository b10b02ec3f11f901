#include "core/sum_in_blocks.h"

#include <cstdint>
#include <random>
#include <vector>

#include "support/catch.h"

using namespace semicrf;

namespace {

double sum_in_windows(const std::vector<double>& values, const std::vector<std::int64_t>& edges,
                      int threads) {
  SumInBlocks<double> in_blocks(0.0);
  double total = 0;
  std::int64_t begin = 0;
  const auto visit = [&](std::int64_t from, std::int64_t to, double& sum) {
    for (std::int64_t t = from; t < to; ++t) sum += values[static_cast<std::size_t>(t)];
  };
  for (const std::int64_t end : edges) {
    in_blocks.add(begin, end, threads, visit, [&](double sum) { total += sum; });
    begin = end;
  }
  return total + in_blocks.open();
}

}  // namespace

TEST_CASE("sums in blocks have the same bits in any windows and on any threads") {
  constexpr std::int64_t kBlock = SumInBlocks<double>::kBlock;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, 1e6);
  for (const std::int64_t count :
       {std::int64_t{1}, kBlock - 1, kBlock, kBlock + 1, 5 * kBlock, 5 * kBlock + 777}) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = normal(random);
    const double whole = sum_in_windows(values, {count}, 1);
    CHECK(sum_in_windows(values, {count}, 3) == whole);
    std::vector<std::int64_t> edges;
    for (std::int64_t edge = 1 + static_cast<std::int64_t>(random() % 3000); edge < count;
         edge += 1 + static_cast<std::int64_t>(random() % 9000))
      edges.push_back(edge);
    edges.push_back(count);
    CHECK(sum_in_windows(values, edges, 2) == whole);
    if (count > kBlock) CHECK(sum_in_windows(values, {kBlock, count}, 1) == whole);
  }
}

TEST_CASE("a block that was not over is taken where the positions after it are left out") {
  constexpr std::int64_t kBlock = SumInBlocks<std::int64_t>::kBlock;
  SumInBlocks<std::int64_t> in_blocks(0);
  std::vector<std::int64_t> taken;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    in_blocks.add(
        begin, end, 2, [](std::int64_t from, std::int64_t to, std::int64_t& sum) { sum += to - from; },
        [&](std::int64_t sum) { taken.push_back(sum); });
  };
  add(3, 8);
  add(8, 8);
  add(10, 12);
  add(2 * kBlock + 1, 4 * kBlock + 5);
  CHECK(taken == std::vector<std::int64_t>{7, kBlock - 1, kBlock});
  CHECK(in_blocks.open() == 5);
}
