// The reference engine: the recurrences of docs/algorithm.md sections 1-3, 7 and 8 written down plainly,
// scalar, in the log domain and in double. It is the definition of correct that the other engines are
// compared with.
//
// It treats a sequence as a whole: its grid is one chunk that covers anything, so a window is always [0, T),
// `left` and `right` are always null (std::logic_error otherwise) and nothing is warmed up. Memory O(T C),
// time O(T (K C + C^2)).
#pragma once

#include <memory>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "engine/engine.h"

namespace semicrf {

std::unique_ptr<Engine> make_reference_engine(ChainModel model);

// log Z of the sequence that `scores` holds as a whole ([0, T), T >= 1); -inf when no segmentation has a
// finite score.
double log_partition(const ChainModel& model, const ScoreWindow& scores);

}  // namespace semicrf
