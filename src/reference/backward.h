// The backward recurrence over a whole sequence, log semiring (docs/algorithm.md sections 2 and 8): forward.h
// seen in a mirror, with levels and content sums of its own. True message = level[t] + entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compensated_sum.h"
#include "engine/engine.h"
#include "reference/reference_model.h"
#include "reference/reference_scores.h"

namespace semicrf {

struct BackwardMessages {
  std::vector<double> level;  // (T+1) integers
  std::vector<double>
      beta;  // (T+1, C): everything right of t, given that a segment of c ended there; row T is 0
  std::vector<double>
      delta;  // (T, C): a segment of c that starts at s, and all after it; its start score left out, and its
              // transition; empty where that depends on the segment's duration
  std::vector<double> tail;  // (T+1, C) or empty: a segment of c longer than K that reaches t >= 1, and all
                             // after it: it ends at t, or covers t and decays
};

BackwardMessages backward(const ReferenceModel& model, const ReferenceScores& scores);

// The state at boundary t that engine.h describes.
BoundaryState backward_state(const ReferenceModel& model, const ReferenceScores& scores,
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
    visit(k, content.plus(messages.level[t + k] - level));
  }
}

// Calls visit(k, after) for k = 1, 2, ... while t + k <= T and k <= K, or K+1 with a tail: B[k,c], the
// content of [t, t+k), and everything after a segment of c over it, relative to `level`. K+1 stands for all
// that are longer than K.
template <class Visit>
void for_each_duration(const ReferenceModel& model, const ReferenceScores& scores,
                       const BackwardMessages& messages, std::int64_t t, int c, double level, Visit visit) {
  const auto entry = [&](std::int64_t boundary) {
    return static_cast<std::size_t>(boundary) * static_cast<std::size_t>(model.num_labels) +
           static_cast<std::size_t>(c);
  };
  const std::int64_t longest = model.max_duration + (model.has_tail() ? 1 : 0);
  for_each_extension(scores, messages, t, c, longest, level, [&](std::int64_t k, double content) {
    const double after = k <= model.max_duration ? scores.end(t + k - 1, c) + messages.beta[entry(t + k)]
                                                 : messages.tail[entry(t + k)];
    visit(k, model.duration_score(k, c) + (content + after));
  });
}

}  // namespace semicrf
