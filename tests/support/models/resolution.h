// How far the scores of a case can be told apart in double at all.
#pragma once

#include <span>

#include "core/segment.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

// What is added to tolerances: 0 unless scores above 1e6 in magnitude are there, else 16 ulp of the largest
// (docs/algorithm.md, section 4, "Exact"), for each segment of a block of 16 positions that has such a score
// on the best path.
//
// Transitions, durations and scores of the ends count as scores of positions do. A duration of -1e9 matters
// even where the best path has none: at a boundary that no allowed segment ends at, nearer to the beginning
// than the shortest duration, every message is about -1e9. Numbers that an engine stores relative to such a
// message have a scale of 1e9, and a double of that size is known to 1.2e-7 only, which is then the error of
// every probability made of them.
double resolution_of(const ModelCase& sample, std::span<const Segment> best_path);

}  // namespace semicrf::testing
