#include "eval/metrics/stretches.h"

namespace semicrf {
namespace {

Segment cut(const Segment& segment, std::int64_t begin, std::int64_t end) {
  return {std::max(segment.begin, begin), std::min(segment.end, end), segment.label};
}

}  // namespace

std::span<const Segment> segments_meeting(std::span<const Segment> segments, std::int64_t begin,
                                          std::int64_t end) {
  const auto first = std::ranges::upper_bound(segments, begin, {}, &Segment::end);
  const auto last = std::ranges::lower_bound(first, segments.end(), end, {}, &Segment::begin);
  return {first, last};
}

std::vector<Stretch> make_stretches(std::span<const Segment> truth, std::span<const Segment> predicted,
                                    std::span<const BinRange> wanted) {
  std::vector<Stretch> stretches;
  for (const BinRange& range : wanted) {
    bool open = false;  // the last stretch belongs to this range
    for (const Segment& whole : segments_meeting(truth, range.begin, range.end)) {
      const Segment segment = cut(whole, range.begin, range.end);
      if (!open || stretches.back().end != segment.begin) {
        stretches.emplace_back().begin = segment.begin;
        stretches.back().begins_with_segment = segment.begin == whole.begin;
        open = true;
      }
      stretches.back().truth.push_back(segment);
      stretches.back().end = segment.end;
    }
  }
  for (Stretch& stretch : stretches)
    for (const Segment& segment : segments_meeting(predicted, stretch.begin, stretch.end))
      stretch.predicted.push_back(cut(segment, stretch.begin, stretch.end));
  return stretches;
}

std::vector<BinRange> common_ranges(std::span<const BinRange> a, std::span<const BinRange> b) {
  std::vector<BinRange> common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const BinRange range{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (range.begin < range.end) common.push_back(range);
    if (a[i].end <= b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

std::vector<Segment> merge_touching(std::span<const Segment> segments) {
  std::vector<Segment> merged;
  for (const Segment& segment : segments) {
    if (!merged.empty() && merged.back().label == segment.label && merged.back().end == segment.begin) {
      merged.back().end = segment.end;
    } else {
      merged.push_back(segment);
    }
  }
  return merged;
}

BinnedSegments bin_segments(std::span<const Segment> segments, const BaseGrid& grid) {
  BinnedSegments result;
  std::vector<LabelRecord> records;
  for (const Segment& segment : segments) {
    const std::int64_t begin = std::max(segment.begin, grid.origin) - grid.origin;
    const std::int64_t end = std::min(segment.end, grid.limit) - grid.origin;
    if (begin >= end) continue;
    const bool cut = end == grid.limit - grid.origin;
    if (begin % grid.bin_size != 0 || (end % grid.bin_size != 0 && !cut)) ++result.moved;
    records.push_back({segment.begin, segment.end, segment.label, std::ssize(records)});
  }
  for (const LabelledRun& run : label_bins(records, {grid.origin, grid.limit - grid.origin, grid.bin_size}))
    result.segments.push_back({run.begin, run.end, run.label});
  // All bins of a segment lie together: it only ever shares its first and its last one.
  result.lost = static_cast<std::int64_t>(records.size() - result.segments.size());
  return result;
}

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
