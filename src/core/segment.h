// A labelled stretch of positions.
#pragma once

#include <cstdint>

namespace semicrf {

struct Segment {
  std::int64_t begin = 0;  // first position, 0-based, in bins of the piece
  std::int64_t end = 0;    // one past the last position
  int label = 0;           // 0..C-1

  friend bool operator==(const Segment&, const Segment&) = default;
};

// A segment of a path in 8 bytes: the segments follow each other without gaps, so that length and label are
// enough.
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
