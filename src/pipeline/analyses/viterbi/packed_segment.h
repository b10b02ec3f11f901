// Segments of a path in 8 bytes: they follow each other without gaps, so that length and label are enough.
#pragma once

#include <cstdint>

#include "core/segment.h"

namespace semicrf {

inline constexpr unsigned kPackedLabelBits = 16;

inline std::uint64_t pack(const Segment& segment) {
  return static_cast<std::uint64_t>(segment.end - segment.begin) << kPackedLabelBits |
         static_cast<std::uint64_t>(segment.label);
}
inline std::int64_t packed_length(std::uint64_t packed) {
  return static_cast<std::int64_t>(packed >> kPackedLabelBits);
}
inline int packed_label(std::uint64_t packed) {
  return static_cast<int>(packed & ((std::uint64_t{1} << kPackedLabelBits) - 1));
}

}  // namespace semicrf
