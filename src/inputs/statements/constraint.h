// What all segmentations of a piece must be like: questions of the kind "what if".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace semicrf {

// About positions [begin, end) of a piece.
struct Constraint {
  enum class Kind {
    kForbidden,   // none of the positions has one of the labels
    kBoundary,    // a segment starts at `begin` > 0; end = begin + 1
    kNoBoundary,  // no segment starts at any of the positions; begin > 0
  };
  Kind kind = Kind::kBoundary;
  std::int64_t begin = 0;
  std::int64_t end = 0;        // > begin
  std::vector<int> forbidden;  // labels of kForbidden
  std::size_t number = 0;      // by which its maker knows it
};

}  // namespace semicrf
