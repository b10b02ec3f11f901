#include "eval/metrics/interval_coverage.h"

#include <algorithm>
#include <map>

#include "eval/metrics/ratio.h"

namespace semicrf {
namespace {

// Whether one stretch has all of these bases.
bool is_evaluated(std::span<const Stretch> stretches, const BinRange& bases) {
  const auto stretch = std::ranges::upper_bound(stretches, bases.begin, {}, &Stretch::end);
  return stretch != stretches.end() && stretch->begin <= bases.begin && bases.end <= stretch->end;
}

// Ranges of bases of one label, asked for the bases they hold.
class Ranges {
 public:
  void add(const BinRange& range) { ranges_.push_back(range); }

  // After the last add(), once.
  void sort() {
    std::ranges::sort(ranges_, {}, &BinRange::begin);
    for (std::size_t i = 1; i < ranges_.size(); ++i)  // the end becomes that of all up to here
      ranges_[i].end = std::max(ranges_[i].end, ranges_[i - 1].end);
  }

  bool hold(std::int64_t base) const {
    const auto after = std::ranges::upper_bound(ranges_, base, {}, &BinRange::begin);
    return after != ranges_.begin() && base < std::prev(after)->end;
  }

 private:
  std::vector<BinRange> ranges_;
};

}  // namespace

std::optional<double> IntervalCoverage::holding_share() const { return ratio(holding, intervals); }
std::optional<double> IntervalCoverage::inside_share() const { return ratio(inside, truth); }

void IntervalCoverage::add(std::span<const Stretch> stretches, std::span<const PredictedBoundary> predicted) {
  std::map<int, Ranges> intervals_of;
  for (const PredictedBoundary& boundary : predicted)
    if (boundary.interval) intervals_of[boundary.label].add(*boundary.interval);
  for (auto& [label, ranges] : intervals_of) ranges.sort();

  std::map<int, std::vector<std::int64_t>> starts;  // sorted
  for (const Stretch& stretch : stretches) {
    for (const Segment& segment : stretch.truth) {
      const bool is_first = segment.begin == stretch.begin;
      if (!is_first || stretch.begins_with_segment) starts[segment.label].push_back(segment.begin);
      if (is_first) continue;
      ++truth;
      const auto ranges = intervals_of.find(segment.label);
      if (ranges != intervals_of.end() && ranges->second.hold(segment.begin)) ++inside;
    }
  }

  for (const PredictedBoundary& boundary : predicted) {
    const BinRange bases = boundary.interval.value_or(BinRange{boundary.position, boundary.position + 1});
    if (!is_evaluated(stretches, bases)) continue;
    ++boundaries;
    if (!boundary.interval) continue;
    ++intervals;
    const std::vector<std::int64_t>& of_label = starts[boundary.label];
    const auto first = std::ranges::lower_bound(of_label, bases.begin);
    if (first != of_label.end() && *first < bases.end) ++holding;
  }
}

}  // namespace semicrf
