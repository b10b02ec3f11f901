// Reading a window whose scores an engine may be bringing to its device at the same time.
#pragma once

#include "engine/engine.h"
#include "model/score_source.h"

namespace semicrf {

// Scores of `range`, for viterbi() or posteriors() of `engine`, of the sequence that `prefetch` (may be null)
// copies. They are checked where they arrived; where that finds something, or nothing is known, the source
// checks them itself, and says what is wrong.
inline ScoreWindow read_checked(ScoreSource& source, const Engine& engine, ScorePrefetch* prefetch,
                                PositionRange range, ScoreBuffers& buffers) {
  if (prefetch != nullptr && prefetch->sound(range.end)) source.assume_checked(range.begin, range.end);
  return engine.projects() ? source.read_for_projection(range.begin, range.end, buffers)
                           : source.read(range.begin, range.end, buffers);
}

}  // namespace semicrf
