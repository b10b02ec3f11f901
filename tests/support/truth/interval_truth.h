// The intervals of the boundaries of a path, from their definition and all segmentations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyses/intervals/boundary_intervals.h"
#include "support/catch.h"
#include "support/truth/all_paths.h"

namespace semicrf::testing {

struct IntervalCounts {
  int checked = 0, none = 0, wide = 0;
  int repeated = 0;  // whose sum of start posteriors reaches the level before the probability does
};

// Boundaries that are decided by less than `tolerance` are left out.
inline IntervalCounts check_intervals(const ModelCase& sample, const std::vector<PathProbability>& paths,
                                      const std::vector<Segment>& path, double level,
                                      const BoundaryIntervals& found, double tolerance) {
  const auto probability = [&](int label, std::int64_t first, std::int64_t last) {
    double sum = 0;
    for (const PathProbability& one : paths)
      if (std::ranges::any_of(one.path, [&](const Segment& segment) {
            return segment.label == label && segment.begin >= first && segment.begin <= last;
          }))
        sum += one.probability;
    return sum;
  };
  IntervalCounts counts;
  BoundaryIntervals::Reader reader(found);
  const std::optional<BoundaryInterval> first = reader.next();
  REQUIRE(first.has_value());
  CHECK((first->lower == 0 && first->upper == 0));
  for (std::size_t n = 1; n < path.size(); ++n) {
    const std::optional<BoundaryInterval> interval = reader.next();
    const int label = path[n].label;
    std::int64_t lower = path[n].begin, upper = lower;
    double sum = probability(label, lower, upper);
    std::optional<BoundaryInterval> expected;
    bool sure = true, early = false;
    for (;;) {
      const double p = probability(label, lower, upper);
      sure = sure && std::fabs(p - level) > tolerance && std::fabs(sum - level) > tolerance;
      early = early || (sum >= level && p < level);
      if (p >= level) {
        expected = BoundaryInterval{lower, upper};
        break;
      }
      const bool left = lower - 1 > path[n - 1].begin, right = upper + 1 < path[n].end;
      if (!left && !right) break;
      const double before = left ? probability(label, lower - 1, lower - 1) : -1;
      const double after = right ? probability(label, upper + 1, upper + 1) : -1;
      sure = sure && (std::max(before, after) == 0 || std::fabs(before - after) > tolerance);
      before >= after ? --lower : ++upper;
      sum += std::max(before, after);
    }
    if (!sure) continue;
    INFO(sample.description << ", boundary at " << path[n].begin << ", level " << level);
    REQUIRE(interval.has_value() == expected.has_value());
    if (expected) {
      INFO("[" << interval->lower << ", " << interval->upper << "], expected [" << expected->lower << ", "
               << expected->upper << "]");
      REQUIRE((interval->lower == expected->lower && interval->upper == expected->upper));
    }
    ++counts.checked;
    counts.none += expected ? 0 : 1;
    counts.wide += expected && expected->lower < expected->upper ? 1 : 0;
    counts.repeated += early ? 1 : 0;
  }
  return counts;
}

}  // namespace semicrf::testing
