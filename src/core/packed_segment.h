// A segment of a path in 8 bytes: the segments follow each other without gaps, so that length and label are
// enough.
#pragma once

#include <cstdint>

#include "core/segment.h"

namespace semicrf {

inline constexpr int kPackedLabelBits = 16;
using PackedSegment = std::uint64_t;  // length << kPackedLabelBits | label

constexpr PackedSegment pack(const Segment& segment) {
  return static_cast<PackedSegment>(segment.end - segment.begin) << kPackedLabelBits |
         static_cast<PackedSegment>(segment.label);
}
constexpr std::int64_t packed_length(PackedSegment packed) {
  return static_cast<std::int64_t>(packed >> kPackedLabelBits);
}
constexpr int packed_label(PackedSegment packed) {
  return static_cast<int>(packed & ((PackedSegment{1} << kPackedLabelBits) - 1));
}

}  // namespace semicrf
