// The reference engine: the recurrences of docs/algorithm.md sections 1-3, 7 and 8 written down plainly,
// scalar, in the log domain and in double. It is the definition of correct that the other engines are
// compared with.
//
// It treats a sequence as a whole: its grid is one chunk that covers anything, so a window is always [0, T),
// `left` and `right` are always null (std::logic_error otherwise) and nothing is warmed up. Memory O(T C),
// time O(T (K C + C^2)).
#pragma once

#include <memory>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "engine/engine.h"

namespace semicrf {

std::unique_ptr<Engine> make_reference_engine(ChainModel model);

// The reference engine with transitions that depend on the duration of the segment that they lead to: (K, C,
// C) [k-1][from][to] in natural logarithms (-inf forbids), in place of model.transition; segments in the tail
// have row K. Time O(T K C^2). Expected counts of transitions are (K, C, C), too. forward() has no start
// messages (std::logic_error), and states no open segments: both depend on how long a segment will be.
// std::logic_error for another number of entries.
std::unique_ptr<Engine> make_reference_engine(ChainModel model, std::vector<double> transition_by_duration);

// log Z of the sequence that `scores` holds as a whole ([0, T), T >= 1); -inf when no segmentation has a
// finite score.
double log_partition(const ChainModel& model, const ScoreWindow& scores);

}  // namespace semicrf
