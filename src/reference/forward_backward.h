// The forward recursion over a whole sequence, in either semiring (docs/algorithm.md sections 2 and 8).
//
// Messages are stored relative to an integer `level` per boundary that follows their size, so that their
// precision does not decay along a sequence, and sums of levels are exact. True message = level[t] + entry.
//
// gamma is kept without the prefix sum S of the algorithm page: a segment's content is added up from its own
// emissions. Nothing cancels, and a -inf emission simply forbids the segments that cover it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compensated_sum.h"
#include "core/row_view.h"
#include "engine/engine.h"
#include "reference/reference_scores.h"
#include "reference/semiring.h"

namespace semicrf {

struct ForwardMessages {
  std::vector<double> level;  // (T+1) integers
  std::vector<double> alpha;  // (T+1, C): all segmentations of [0, t) whose last label is c; row 0 is 0
  std::vector<double> gamma;  // (T, C): everything before a segment of c that starts at s, and its start
                              // score; empty where that depends on the segment's duration
  std::vector<double>
      tail;  // (T+1, C) or empty: open segments of c longer than K at t, content and decay added
  Semiring semiring = Semiring::kLog;
};

ForwardMessages forward(const ReferenceModel& model, const ReferenceScores& scores, Semiring semiring);

// LSE_{c'}( alpha_s(c') + T[c',c] ) + Ps[s,c] with the transition T into a segment of `duration` positions:
// everything before it, and its start score, relative to the level of s. O(C).
double sum_of_sources(const ReferenceModel& model, const ReferenceScores& scores,
                      const ForwardMessages& messages, std::int64_t s, int c, std::int64_t duration);

// The sum of sources, from gamma where it does not depend on the duration.
inline double start_message(const ReferenceModel& model, const ReferenceScores& scores,
                            const ForwardMessages& messages, std::int64_t s, int c, std::int64_t duration) {
  if (model.by_duration()) return sum_of_sources(model, scores, messages, s, c, duration);
  return RowView(messages.gamma, model.num_labels)(s, c);
}

// The state at boundary t that engine.h describes. Where transitions depend on the duration it has no open
// segments (a ring of -inf): what comes before them depends on how long they will be.
BoundaryState forward_state(const ReferenceModel& model, const ReferenceScores& scores,
                            const ForwardMessages& messages, std::int64_t t);

// Calls visit(k, content) for k = 1, 2, ... while k <= longest and k <= t: the content of label c over [t-k,
// t) carried from the level of t - k to `level`. Stops early at a position that forbids label c.
template <class Visit>
void for_each_content(const ReferenceScores& scores, const ForwardMessages& messages, std::int64_t t, int c,
                      std::int64_t longest, double level, Visit visit) {
  CompensatedSum content;
  for (std::int64_t k = 1; k <= std::min(longest, t); ++k) {
    const std::int64_t s = t - k;
    const double score = scores.emission(s, c);
    if (score == kNegativeInfinity) return;
    content.add(score);
    visit(k, content.plus(messages.level[s] - level));
  }
}

// Calls visit(k, open) for the same k: the segment of k positions that ends at t, all before it and its start
// score included.
template <class Visit>
void for_each_open_segment(const ReferenceModel& model, const ReferenceScores& scores,
                           const ForwardMessages& messages, std::int64_t t, int c, std::int64_t longest,
                           double level, Visit visit) {
  for_each_content(scores, messages, t, c, longest, level, [&](std::int64_t k, double content) {
    visit(k, start_message(model, scores, messages, t - k, c, k) + content);
  });
}

// Two ways into the tail of label c at boundary t >= 1, relative to `level`.
struct TailEntries {
  double entering = kNegativeInfinity;    // the segment that becomes K+1 long here
  double continuing = kNegativeInfinity;  // those that were longer than K already
};
// `opened` is what for_each_open_segment gives for k = K+1.
TailEntries tail_entries(const ReferenceModel& model, const ReferenceScores& scores,
                         const ForwardMessages& messages, std::int64_t t, int c, double opened, double level);

// The backward recurrence over a whole sequence, log semiring (docs/algorithm.md sections 2 and 8): the
// forward one seen in a mirror, with levels and content sums of its own. True message = level[t] + entry.
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
  const RowView beta(messages.beta, model.num_labels), tail(messages.tail, model.num_labels);
  const std::int64_t longest = model.max_duration + (model.has_tail() ? 1 : 0);
  for_each_extension(scores, messages, t, c, longest, level, [&](std::int64_t k, double content) {
    const double after = k <= model.max_duration ? scores.end(t + k - 1, c) + beta(t + k, c) : tail(t + k, c);
    visit(k, model.duration_score(k, c) + (content + after));
  });
}

}  // namespace semicrf
