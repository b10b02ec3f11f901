#include <cstdint>
#include <random>
#include <vector>

#include "inputs/statements/interval_file.h"
#include "support/catch.h"

namespace semicrf {
namespace {

using Numbers = std::vector<std::size_t>;

TEST_CASE("lines about intervals are found by chromosome, in the order of the file") {
  IntervalIndex index;
  index.add("a", 30, 40);
  index.add("a", 0, 100);
  index.add("b", 30, 40);
  index.add("a", 10, 20);
  index.finish();
  CHECK(index.overlapping("a", 35, 50) == Numbers{0, 1});
  CHECK(index.overlapping("a", 20, 30) == Numbers{1});  // touching ones share no base
  CHECK(index.starting_in("a", 10, 31) == Numbers{0, 3});
  CHECK(index.starting_in("a", 11, 30).empty());
  CHECK(index.overlapping("c", 0, 100).empty());
  CHECK(index.starting_in("c", 0, 100).empty());
}

TEST_CASE("random intervals are found as by looking at each") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    IntervalIndex index;
    std::vector<std::int64_t> begins, ends;
    for (auto left = random() % 20; left > 0; --left) {
      begins.push_back(static_cast<std::int64_t>(random() % 50));
      ends.push_back(begins.back() + 1 + static_cast<std::int64_t>(random() % (left % 5 == 0 ? 50 : 5)));
      index.add("c", begins.back(), ends.back());
    }
    index.finish();
    const auto begin = static_cast<std::int64_t>(random() % 50);
    const std::int64_t end = begin + 1 + static_cast<std::int64_t>(random() % 20);
    Numbers overlapping, starting;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (begins[i] < end && ends[i] > begin) overlapping.push_back(i);
      if (begins[i] >= begin && begins[i] < end) starting.push_back(i);
    }
    INFO("round " << round);
    CHECK(index.overlapping("c", begin, end) == overlapping);
    CHECK(index.starting_in("c", begin, end) == starting);
  }
}

}  // namespace
}  // namespace semicrf
