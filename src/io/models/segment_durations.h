// How long the segments of a BED file are, by label.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

struct SegmentDurations {
  std::vector<std::vector<std::int64_t>> seen;                    // a list per label, in bins
  std::vector<std::optional<std::array<std::uint8_t, 3>>> color;  // by label: the first "r,g,b" of column 9
};

// Segments that touch and have the same label count as one; the end of a segment is rounded up to whole bins,
// as the last one of a chromosome is cut. InputError with the place: a label that is not among `labels`; a
// begin that is not on a multiple of `bin_size` bases; what read_segmentation() refuses. ReadError.
SegmentDurations read_segment_durations(const std::string& path, const std::vector<Label>& labels,
                                        std::int64_t bin_size);

}  // namespace semicrf
