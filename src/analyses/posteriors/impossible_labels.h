// Labels that a position cannot have: engines give them what rounding leaves of sums and differences, and
// here they get 0, so that the others have all of the probability.
#pragma once

#include <span>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "engine/engine.h"

namespace semicrf {

// `labels`: (range, C) label posteriors of an engine, for positions that `scores` has. A label is impossible
// where its score is -inf or, where masks count as such (engine/masks.h), a mask; at the ends of the sequence
// also where its start or end score is -inf. The other labels of such a position are divided by their sum, so
// that a label which is the only one left has exactly 1; so has the only label of a model. Scores that heads
// make of features are finite.
void clear_impossible_labels(const ChainModel& model, const ScoreWindow& scores, PositionRange range,
                             int threads, std::span<double> labels);

}  // namespace semicrf
