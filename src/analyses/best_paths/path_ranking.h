// The N best segmentations in their order, enumerated best first from the deviations that the search kept:
// every segmentation but the best one is another, its parent, with one more deviation to the left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyses/best_paths/deviation_search.h"
#include "analyses/viterbi/segment_list.h"

namespace semicrf {

struct RankedPath {
  DeviationChain chain;
  double gain = 0;      // score of the path less that of the best path, in double from the scores themselves
  int first_label = 0;  // label of the path's first segment
};

// The best path and those that lose least according to the messages, at most `most` altogether. Behind the
// best path they are sorted by `gain`, those of equal gain by the tie rule.
std::vector<RankedPath> rank_paths(const Deviations& deviations, std::size_t most);

// The segments of a path. `best`: the segments of the best path, with the labels of the model. Labels of the
// deviations, which are those of the chain with roles, are divided by `roles`.
SegmentList segments_of(const RankedPath& path, const Deviations& deviations, const SegmentList& best,
                        std::int64_t length, int roles);

}  // namespace semicrf
