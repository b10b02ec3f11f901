#include "analyses/intervals/start_interval.h"

#include <algorithm>
#include <utility>

namespace semicrf {

void StartInterval::Posteriors::keep_last(std::size_t count) {
  for (std::vector<double>* values : {&starts, &ends})
    values->erase(values->begin(), values->end() - static_cast<std::ptrdiff_t>(count));
}

void StartInterval::Posteriors::clear() {
  starts.clear();
  ends.clear();
}

void StartInterval::add(const PathPosteriors& at) {
  if (here_.starts.size() <= kReach) here_.add(at.start, at.end);
  // At the first position of this segment the next one's label cannot start instead of it.
  if (here_.starts.size() == 1) return;
  if (next_.starts.size() >= 2 * kReach) next_.keep_last(kReach);
  next_.add(at.next_start, at.next_end);
}

FoundInterval StartInterval::end_segment(const Segment& segment) {
  FoundInterval found{BoundaryInterval{segment.begin, segment.begin}, {}, {}};
  if (!std::exchange(first_, false)) found = grown(segment);
  std::swap(left_, next_);
  next_.clear();
  here_.clear();
  return found;
}

FoundInterval StartInterval::grown(const Segment& segment) const {
  const std::size_t to_left = std::min(left_.starts.size(), kReach);
  const std::size_t last_left = left_.starts.size() - 1;
  const std::int64_t least_distance = least_distance_(segment.label);
  std::size_t before = 0, after = 0;  // bins taken
  double sum = here_.starts.front(), ends = 0;
  FoundInterval found;
  for (;;) {
    if (sum >= level_) {
      const BoundaryInterval interval{segment.begin - static_cast<std::int64_t>(before),
                                      segment.begin + static_cast<std::int64_t>(after)};
      const bool one_start = interval.upper - interval.lower < least_distance;
      const bool enough = one_start || sum - ends >= level_;
      if (enough && found.candidates.empty()) {
        found.interval = interval;
        return found;
      }
      found.candidates.push_back({interval, sum});
      if (enough) break;
    }
    const bool can_left = before < to_left, can_right = after + 1 < here_.starts.size();
    if (!can_left && !can_right) break;
    const double on_left = can_left ? left_.starts[last_left - before] : -1;
    const double on_right = can_right ? here_.starts[after + 1] : -1;
    sum += std::max(on_left, on_right);
    // An end at the last bin of the interval has no start after it there.
    if (on_left >= on_right) {
      ends += left_.ends[last_left - before];
      ++before;
    } else {
      ends += here_.ends[after];
      ++after;
    }
  }
  if (!found.candidates.empty()) add_posteriors(segment.begin, found);
  return found;
}

void StartInterval::add_posteriors(std::int64_t boundary, FoundInterval& found) const {
  const BoundaryInterval& widest = found.candidates.back().interval;
  found.posteriors.assign(left_.starts.end() - (boundary - widest.lower), left_.starts.end());
  found.posteriors.insert(found.posteriors.end(), here_.starts.begin(),
                          here_.starts.begin() + (widest.upper - boundary + 1));
}

}  // namespace semicrf
