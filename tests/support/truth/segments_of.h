// The segments of a spooled list.
#pragma once

#include <vector>

#include "analyses/viterbi/segment_list.h"
#include "core/segment.h"

namespace semicrf::testing {

inline std::vector<Segment> segments_of(const SegmentList& list) {
  std::vector<Segment> segments;
  SegmentList::Reader reader(list);
  for (Segment segment; reader.next(segment);) segments.push_back(segment);
  return segments;
}

}  // namespace semicrf::testing
