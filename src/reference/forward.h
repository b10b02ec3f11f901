// The forward recurrence over a whole sequence, in either semiring (docs/algorithm.md sections 2 and 8).
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

#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "engine/engine.h"
#include "reference/reference_scores.h"
#include "reference/semiring.h"

namespace semicrf {

struct ForwardMessages {
  std::vector<double> level;  // (T+1) integers
  std::vector<double> alpha;  // (T+1, C): all segmentations of [0, t) whose last label is c; row 0 is 0
  std::vector<double>
      gamma;  // (T, C): everything before a segment of c that starts at s, and its start score
  std::vector<double>
      tail;  // (T+1, C) or empty: open segments of c longer than K at t, content and decay added
};

ForwardMessages forward(const ChainModel& model, const ReferenceScores& scores, Semiring semiring);

// The state at boundary t that engine.h describes.
BoundaryState forward_state(const ChainModel& model, const ReferenceScores& scores,
                            const ForwardMessages& messages, std::int64_t t);

// Calls visit(k, open) for k = 1, 2, ... while k <= longest and k <= t: `open` is gamma of the segment that
// starts at t - k plus its content up to t, relative to `level`. Stops early at a position that forbids label
// c.
template <class Visit>
void for_each_open_segment(const ReferenceScores& scores, const ForwardMessages& messages, int num_labels,
                           std::int64_t t, int c, std::int64_t longest, double level, Visit visit) {
  CompensatedSum content;
  for (std::int64_t k = 1; k <= std::min(longest, t); ++k) {
    const std::int64_t s = t - k;
    const double score = scores.emission(s, c);
    if (score == kNegativeInfinity) return;
    content.add(score);
    const auto row = static_cast<std::size_t>(s);
    const double gamma =
        messages.gamma[row * static_cast<std::size_t>(num_labels) + static_cast<std::size_t>(c)];
    visit(k, gamma + content.plus(messages.level[row] - level));
  }
}

// Two ways into the tail of label c at boundary t >= 1, relative to `level`.
struct TailEntries {
  double entering = kNegativeInfinity;    // the segment that becomes K+1 long here
  double continuing = kNegativeInfinity;  // those that were longer than K already
};
// `opened` is what for_each_open_segment gives for k = K+1.
TailEntries tail_entries(const ChainModel& model, const ReferenceScores& scores,
                         const ForwardMessages& messages, std::int64_t t, int c, double opened, double level);

}  // namespace semicrf
