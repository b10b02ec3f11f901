#include "eval/metrics/stretches.h"

#include <algorithm>

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

}  // namespace semicrf
