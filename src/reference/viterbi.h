// The best segmentation without back-pointers (docs/algorithm.md section 7): the traceback computes the
// argmax again, along the best path only.
#pragma once

#include <vector>

#include "core/segment.h"
#include "engine/engine.h"
#include "reference/forward_backward.h"
#include "reference/reference_scores.h"

namespace semicrf {

// Follows the best path from the cursor to the start of the sequence (kDone) by the tie rule of engine.h.
// `messages` are those of the max semiring. Appends finished segments right to left. std::logic_error when
// the cursor stands where no finite path passes.
void trace_best_path(const ReferenceModel& model, const ReferenceScores& scores,
                     const ForwardMessages& messages, TraceCursor& cursor, std::vector<Segment>& reversed);

}  // namespace semicrf
