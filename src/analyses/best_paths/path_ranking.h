// The N best segmentations in their order, put together of the deviations that the search kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyses/best_paths/deviation_search.h"
#include "analyses/viterbi/segment_list.h"

namespace semicrf {

struct RankedPath {
  DeviationChain chain;
  double gain = 0;      // its score less that of the best path, in double from the scores themselves
  int first_label = 0;  // of its first segment
};

// The best path, then the others as far as there are any, at most `most` altogether: by what they lose
// according to the messages. They are sorted by `gain`, and those of equal gain by the tie rule.
std::vector<RankedPath> rank_paths(const Deviations& deviations, std::size_t most);

// The segments of a path. `best`: of the best path. Labels of the deviations are divided by `roles`, those of
// `best` are as they shall be.
SegmentList segments_of(const RankedPath& path, const Deviations& deviations, const SegmentList& best,
                        std::int64_t length, int roles);

}  // namespace semicrf
