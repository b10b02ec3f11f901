// The backward recurrence over a whole sequence, log semiring (docs/algorithm.md sections 2 and 8): forward.h
// seen in a mirror, with levels and content sums of its own. True message = level[t] + entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "engine/engine.h"
#include "reference/reference_scores.h"

namespace semicrf {

struct BackwardMessages {
  std::vector<double> level;  // (T+1) integers
  std::vector<double>
      beta;  // (T+1, C): everything right of t, given that a segment of c ended there; row T is 0
  std::vector<double>
      delta;  // (T, C): a segment of c that starts at s, and all after it; its start score left out
  std::vector<double> tail;  // (T+1, C) or empty: a segment of c longer than K that reaches t >= 1, and all
                             // after it: it ends at t, or covers t and decays
};

BackwardMessages backward(const ChainModel& model, const ReferenceScores& scores);

// The state at boundary t that engine.h describes.
BoundaryState backward_state(const ChainModel& model, const ReferenceScores& scores,
                             const BackwardMessages& messages, std::int64_t t);

// Calls visit(k, content) for k = 1, 2, ... while k <= longest and t + k <= T: the content of label c over
// [t, t+k) carried to the level of t: add it to a message of boundary t + k to have it relative to `level`.
// Stops early at a position that forbids label c.
template <class Visit>
void for_each_extension(const ReferenceScores& scores, const BackwardMessages& messages, std::int64_t t,
                        int c, std::int64_t longest, double level, Visit visit) {
  CompensatedSum content;
  for (std::int64_t k = 1; k <= longest && t + k <= scores.length(); ++k) {
    const double score = scores.emission(t + k - 1, c);
    if (score == kNegativeInfinity) return;
    content.add(score);
    visit(k, content.plus(messages.level[static_cast<std::size_t>(t + k)] - level));
  }
}

}  // namespace semicrf
