#include "eval/metrics/bin_truth.h"

#include <algorithm>

#include "eval/metrics/bin_segments.h"
#include "model/pieces.h"

namespace semicrf {

template <class Visit>
void BinTruth::visit_stretches(const BinRun& run, Visit&& visit) {
  while (next_ < stretches_.size() && stretches_[next_].end <= run.begin) ++next_;
  for (std::size_t i = next_; i < stretches_.size() && stretches_[i].begin < run.end; ++i) {
    const Stretch& stretch = stretches_[i];
    const std::int64_t before = std::max<std::int64_t>(0, stretch.begin - run.begin);
    const std::int64_t inside = std::min(stretch.end, run.end) - run.begin;
    const std::int64_t first = count_bins(before, run.bin_size);
    const std::int64_t end =
        stretch.end >= run.end ? count_bins(inside, run.bin_size) : inside / run.bin_size;
    if (first < end) visit(stretch, first, end);
  }
}

BinEvents BinTruth::starts(const BinRun& run) {
  BinEvents found;
  visit_stretches(run, [&](const Stretch& stretch, std::int64_t first, std::int64_t end) {
    const auto bin_of = [&](std::int64_t base) { return (base - run.begin) / run.bin_size; };
    if (stretch.begin >= run.begin && bin_of(stretch.begin) == first) ++first;
    if (run.first_is_given) first = std::max<std::int64_t>(first, 1);
    if (first >= end) return;
    found.bins += end - first;
    std::int64_t last = -1;
    for (const Segment& segment :
         segments_meeting(stretch.truth, run.begin + first * run.bin_size, run.begin + end * run.bin_size)) {
      if (segment.begin <= stretch.begin || segment.begin < run.begin || segment.begin >= run.end) continue;
      const std::int64_t bin = bin_of(segment.begin);
      if (bin < first || bin >= end || bin == last) continue;
      ++found.events;
      last = bin;
    }
  });
  return found;
}

std::span<const Segment> BinTruth::labels(const BinRun& run) {
  labels_.clear();
  visit_stretches(run, [&](const Stretch& stretch, std::int64_t first, std::int64_t end) {
    const BaseGrid grid{run.begin + first * run.bin_size, run.bin_size,
                        std::min(run.end, run.begin + end * run.bin_size)};
    const std::span<const Segment> truth = segments_meeting(stretch.truth, grid.origin, grid.limit);
    if (truth.size() == 1) {
      labels_.push_back({first, end, truth[0].label});
      return;
    }
    for (const Segment& segment : bin_segments(truth, grid).segments)
      labels_.push_back({first + segment.begin, first + segment.end, segment.label});
  });
  return labels_;
}

}  // namespace semicrf
