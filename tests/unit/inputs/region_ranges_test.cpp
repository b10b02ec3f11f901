#include "inputs/region_ranges.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace semicrf {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Pairs pairs(const std::vector<BaseRange>& ranges) {
  Pairs found;
  for (const BaseRange& range : ranges) found.emplace_back(range.begin, range.end);
  return found;
}

TEST_CASE("regions of a part of a chromosome are cut to it and counted from its begin") {
  const std::vector<Region> regions{{"b", 50, 60}, {"a", 30, 40}, {"a", 0, 10}, {"a", 5, 12}, {"a", 12, 20}};
  const RegionRanges ranges(regions);
  CHECK(pairs(ranges.within("a", 0, 100)) == Pairs{{0, 12}, {12, 20}, {30, 40}});  // touching ones stay two
  CHECK(pairs(ranges.within("a", 8, 35)) == Pairs{{0, 4}, {4, 12}, {22, 27}});
  CHECK(ranges.within("a", 20, 30).empty());
  CHECK(ranges.within("c", 0, 100).empty());
  CHECK(RegionRanges().within("a", 0, 100).empty());
}

TEST_CASE("every base of random regions is found, and no other") {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    std::vector<Region> regions(random() % 12);
    for (Region& region : regions) {
      region.chromosome = "c";
      region.begin = static_cast<std::int64_t>(random() % 40);
      region.end = region.begin + 1 + static_cast<std::int64_t>(random() % 9);
    }
    const auto begin = static_cast<std::int64_t>(random() % 30);
    const std::int64_t end = begin + 1 + static_cast<std::int64_t>(random() % 20);
    const std::vector<BaseRange> found = RegionRanges(regions).within("c", begin, end);
    for (std::int64_t base = begin; base < end; ++base) {
      const auto has = [](std::int64_t at) {
        return [at](const auto& range) { return range.begin <= at && at < range.end; };
      };
      CAPTURE(round, base);
      CHECK(std::ranges::any_of(found, has(base - begin)) == std::ranges::any_of(regions, has(base)));
    }
  }
}

}  // namespace
}  // namespace semicrf
