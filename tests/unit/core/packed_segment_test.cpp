#include "core/segment.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("a packed segment keeps its length and its label") {
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{1} << 47}) {
    for (const int label : {0, 7, 65535}) {
      const PackedSegment packed = pack({5, 5 + length, label});
      CHECK(packed_length(packed) == length);
      CHECK(packed_label(packed) == label);
    }
  }
}
