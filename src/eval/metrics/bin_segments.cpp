#include "eval/metrics/bin_segments.h"

#include <algorithm>

#include "model/bin_labels.h"

namespace semicrf {

BinnedSegments bin_segments(std::span<const Segment> segments, const BaseGrid& grid) {
  BinnedSegments result;
  std::vector<LabelRecord> records;
  for (const Segment& segment : segments) {
    const std::int64_t begin = std::max(segment.begin, grid.origin) - grid.origin;
    const std::int64_t end = std::min(segment.end, grid.limit) - grid.origin;
    if (begin >= end) continue;
    const bool cut = end == grid.limit - grid.origin;
    if (begin % grid.bin_size != 0 || (end % grid.bin_size != 0 && !cut)) ++result.moved;
    records.push_back({segment.begin, segment.end, segment.label, static_cast<std::int64_t>(records.size())});
  }
  for (const LabelledRun& run : label_bins(records, {grid.origin, grid.limit - grid.origin, grid.bin_size}))
    result.segments.push_back({run.begin, run.end, run.label});
  // All bins of a segment lie together: it only ever shares its first and its last one.
  result.lost = static_cast<std::int64_t>(records.size() - result.segments.size());
  return result;
}

}  // namespace semicrf
