#include "analyses/viterbi/segment_list.h"

#include <vector>

#include "support/catch.h"

using namespace semicrf;

TEST_CASE("segments come back left to right, from any of them, beyond the memory limit too") {
  for (const std::int64_t count : {0, 1, 4095, 4096, 4097, 400'000}) {
    CAPTURE(count);
    SegmentList list;
    std::vector<Segment> part;
    for (std::int64_t i = count; i-- > 0;) {
      part.push_back({i, i + 1, static_cast<int>(i % 7)});
      if (part.size() == 1000 || i == 0) {
        list.append_reversed(part);
        part.clear();
      }
    }
    REQUIRE(list.size() == count);
    for (const std::int64_t first : {std::int64_t{0}, count / 2, count}) {
      SegmentList::Reader reader(list, first);
      std::int64_t at = first;
      bool same = true;
      for (Segment segment; reader.next(segment); ++at)
        same = same && segment == Segment{at, at + 1, static_cast<int>(at % 7)};
      CHECK(same);
      CHECK(at == count);
    }
  }
}
