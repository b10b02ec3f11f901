// The forward-backward algorithm: posteriors from the two passes (docs/algorithm.md sections 3 and 5).
#pragma once

#include "core/chain_model.h"
#include "engine/engine.h"
#include "reference/backward.h"
#include "reference/forward.h"
#include "reference/reference_scores.h"

namespace semicrf {

// Fills the arrays that are asked for, clamped to [0, 1], and returns the sums over the sequence. Where no
// segmentation is finite every posterior is 0.
//
// Label posteriors follow P(c|t) = P(c|t-1) + p_start(t,c) - p_end(t-1,c). So that no error accumulates along
// the sequence, every max(K, 64) positions they, and the log Z that everything is divided by, are taken anew
// from the mass of the segments through that boundary.
ChunkReport posteriors(const ReferenceModel& model, const ReferenceScores& scores,
                       const ForwardMessages& forward, const BackwardMessages& backward,
                       const PosteriorArrays& out);

}  // namespace semicrf
