#include "engine/masks.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace semicrf {
namespace {

// +inf where a score is -inf.
double largest_magnitude(const std::vector<double>& scores) {
  double largest = 0;
  for (const double score : scores) largest = std::max(largest, std::fabs(score));
  return largest;
}

}  // namespace

// The segment is split before and behind the position. What is put between may stand beside segments of its
// own label: where these may not follow each other they become one, which takes a tail, as it may be longer
// than K. At most two transitions, three durations and the scores of both ends go, and as many come; a
// segment that is made of three has at most K + 1 positions more in its tail than they had.
bool masks_forbid(const ChainModel& model) {
  constexpr double kMostRepeat =
      1024;  // labels with lower scores are taken for such that may not follow themselves
  if (model.cut.any() || !model.twin.empty()) return false;
  double transition = 0, decay = 0;
  bool repeats = true;
  for (int from = 0; from < model.num_labels; ++from) {
    for (int to = 0; to < model.num_labels; ++to) {
      const double score = model.transition_at(from, to);
      if (from == to && score < -kMostRepeat) {
        repeats = false;
      } else {
        transition = std::max(transition, std::fabs(score));
      }
    }
  }
  if (!repeats && !model.has_tail()) return false;
  for (const double log_q : model.log_tail)
    if (log_q != kNegativeInfinity || !repeats) decay = std::max(decay, -log_q);
  const double ends = largest_magnitude(model.start_scores) + largest_magnitude(model.end_scores);
  const double scores = transition + largest_magnitude(model.duration_bias) + ends;
  return 6 * scores + 2 * (model.max_duration + 1.0) * decay < kMaskDepth / 2;
}

}  // namespace semicrf
