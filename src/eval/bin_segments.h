// Segments in bases laid on a grid of bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/segment.h"

namespace semicrf {

// Bin i is the bases [origin + i bin_size, origin + (i+1) bin_size), the last one cut at `limit`.
struct BaseGrid {
  std::int64_t origin = 0;
  std::int64_t bin_size = 1;
  std::int64_t limit = 0;
};

struct BinnedSegments {
  std::vector<Segment> segments;  // in bins, sorted, disjoint; bins between them have no segment
  std::int64_t moved = 0;         // segments with an edge inside a bin, which therefore moved
  std::int64_t lost = 0;          // segments that got no bin at all
};

// A bin gets the label that covers most of its bases, the leftmost of several, and belongs to the segment of
// that label that covers most of it; a bin less than half of which is covered by segments belongs to none.
// `segments` are sorted and disjoint; parts outside the grid do not count. The rule is that of training.
BinnedSegments bin_segments(std::span<const Segment> segments, const BaseGrid& grid);

}  // namespace semicrf
