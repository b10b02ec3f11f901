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

// The rule is that of training (label_bins), the leftmost segment being the earliest line. `segments` are
// sorted and disjoint; parts outside the grid do not count.
BinnedSegments bin_segments(std::span<const Segment> segments, const BaseGrid& grid);

}  // namespace semicrf
