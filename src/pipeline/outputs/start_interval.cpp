#include "pipeline/outputs/start_interval.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace semicrf {

void StartInterval::begin_piece() {
  first_ = true;
  left_.clear();
  here_.clear();
  next_.clear();
}

void StartInterval::add(double start, double next_start) {
  if (here_.size() <= kReach) here_.push_back(start);
  // At the first position of this segment the next one's label cannot start instead of it.
  if (here_.size() == 1) return;
  if (next_.size() >= 2 * kReach)
    next_.erase(next_.begin(), next_.end() - static_cast<std::ptrdiff_t>(kReach));
  next_.push_back(next_start);
}

std::optional<BoundaryInterval> StartInterval::end_segment(const Segment& segment) {
  std::optional<BoundaryInterval> interval = BoundaryInterval{segment.begin, segment.begin};
  if (!std::exchange(first_, false)) interval = grown(segment.begin);
  std::swap(left_, next_);
  next_.clear();
  here_.clear();
  return interval;
}

std::optional<BoundaryInterval> StartInterval::grown(std::int64_t boundary) const {
  const std::size_t to_left = std::min(left_.size(), kReach);
  std::size_t before = 0, after = 0;  // bins taken
  double sum = here_.front();
  while (sum < level_) {
    const bool can_left = before < to_left, can_right = after + 1 < here_.size();
    if (!can_left && !can_right) return {};
    const double on_left = can_left ? left_[left_.size() - 1 - before] : -1;
    const double on_right = can_right ? here_[after + 1] : -1;
    sum += std::max(on_left, on_right);
    ++(on_left >= on_right ? before : after);
  }
  return BoundaryInterval{boundary - static_cast<std::int64_t>(before),
                          boundary + static_cast<std::int64_t>(after)};
}

}  // namespace semicrf
