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

}  // namespace semicrf
