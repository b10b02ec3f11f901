#include "analyses/intervals/start_interval.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace semicrf {
namespace {

// P(a segment of the label starts at the bin) of each label.
using Starts = std::function<double(std::int64_t bin, int label)>;

// The intervals of all segments of a piece, as a run collects them.
std::vector<std::optional<BoundaryInterval>> collected(const std::vector<Segment>& path, const Starts& starts,
                                                       double level) {
  // No label can start twice in an interval, so that sums are probabilities.
  StartInterval collector(level, [](int) { return std::int64_t{1} << 40; });
  std::vector<std::optional<BoundaryInterval>> intervals;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const int next = i + 1 < path.size() ? path[i + 1].label : -1;
    for (std::int64_t t = path[i].begin; t < path[i].end; ++t)
      collector.add({starts(t, path[i].label), 1, next < 0 ? 0 : starts(t, next), 1});
    const FoundInterval found = collector.end_segment(path[i]);
    REQUIRE(found.candidates.empty());
    intervals.push_back(found.interval);
  }
  return intervals;
}

// The interval of the start of path[i], from the definition.
std::optional<BoundaryInterval> defined(const std::vector<Segment>& path, std::size_t i, const Starts& starts,
                                        double level) {
  constexpr auto kReach = static_cast<std::int64_t>(StartInterval::kReach);
  const std::int64_t at = path[i].begin;
  const std::int64_t leftmost = std::max(path[i - 1].begin + 1, at - kReach);
  const std::int64_t rightmost = std::min(path[i].end - 1, at + kReach);
  BoundaryInterval interval{at, at};
  double sum = starts(at, path[i].label);
  while (sum < level) {
    const bool left = interval.lower > leftmost, right = interval.upper < rightmost;
    if (!left && !right) return {};
    const double before = starts(interval.lower - 1, path[i].label);
    const double after = starts(interval.upper + 1, path[i].label);
    if (left && (!right || before >= after)) {
      --interval.lower;
      sum += before;
    } else {
      ++interval.upper;
      sum += after;
    }
  }
  return interval;
}

bool same(const std::optional<BoundaryInterval>& a, const std::optional<BoundaryInterval>& b) {
  if (!a || !b) return !a && !b;
  return a->lower == b->lower && a->upper == b->upper;
}

TEST_CASE("the interval of a boundary is the one of its definition") {
  std::mt19937 random(11);
  int wide = 0, none = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    std::vector<Segment> path;
    for (std::int64_t begin = 0; path.size() < 8; begin = path.back().end)
      path.push_back(
          {begin, begin + 1 + static_cast<std::int64_t>(random() % 6), static_cast<int>(random() % 3)});
    std::vector<double> values(3 * static_cast<std::size_t>(path.back().end));
    // Few different values: many neighbours are equal, and the sums are exact.
    for (double& value : values) value = static_cast<double>(random() % 4) / 8;
    const Starts starts = [&](std::int64_t bin, int label) {
      const auto index = 3 * bin + label;
      return index < 0 || index >= static_cast<std::int64_t>(values.size())
                 ? 0
                 : values[static_cast<std::size_t>(index)];
    };
    for (const double level : {0.25, 0.5, 0.75}) {
      const auto intervals = collected(path, starts, level);
      REQUIRE(same(intervals[0], BoundaryInterval{0, 0}));
      for (std::size_t i = 1; i < path.size(); ++i) {
        REQUIRE(same(intervals[i], defined(path, i, starts, level)));
        none += intervals[i] ? 0 : 1;
        wide += intervals[i] && intervals[i]->lower < intervals[i]->upper ? 1 : 0;
      }
    }
  }
  CHECK(wide > 500);
  CHECK(none > 500);
}

TEST_CASE("the interval of a boundary ends where the search does") {
  constexpr auto kReach = static_cast<std::int64_t>(StartInterval::kReach);
  const std::vector<Segment> path = {{0, 3 * kReach, 0}, {3 * kReach, 5 * kReach, 1}};
  const std::int64_t at = path[1].begin;
  for (const std::int64_t far : {at - kReach, at - kReach - 1, at + kReach, at + kReach + 1}) {
    CAPTURE(far - at);
    const Starts starts = [&](std::int64_t bin, int) { return bin == far ? 0.75 : bin == at ? 0.125 : 0.0; };
    const std::optional<BoundaryInterval> interval = collected(path, starts, 0.5)[1];
    CHECK(interval.has_value() == (far >= at - kReach && far <= at + kReach));
    if (interval) CHECK((interval->lower == far || interval->upper == far));
  }
}

}  // namespace
}  // namespace semicrf
