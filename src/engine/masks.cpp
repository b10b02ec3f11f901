#include "engine/masks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace semicrf {
namespace {

bool is_twin(const ChainModel& model, int label) { return !model.twin.empty() && model.twin[label] >= 0; }

// The largest of the scores that labels get at an edge of the sequence: +inf where neither a label nor a twin
// of it can be there.
double largest_magnitude_at_edge(const ChainModel& model, const std::vector<double>& scores) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> least(scores.size(), kNone);
  double largest = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const bool twin = is_twin(model, static_cast<int>(c));
    const auto of = twin ? static_cast<std::size_t>(model.twin[c]) : c;
    const double magnitude = std::fabs(scores[c]);
    least[of] = std::min(least[of], magnitude);
    if (twin) least[c] = 0;
    if (magnitude < kNone) largest = std::max(largest, magnitude);
  }
  for (const double magnitude : least) largest = std::max(largest, magnitude);
  return largest;
}

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
// segment that is made of three has at most K + 1 positions more in its tail than they had. A twin stands at
// an edge of the sequence, and what is split off it is of the label itself, or a twin of the other label.
bool masks_forbid(const ChainModel& model) {
  constexpr double kMostRepeat =
      1024;  // labels with lower scores are taken for such that may not follow themselves
  if (model.cut.any()) return false;
  double transition = 0, decay = 0;
  bool repeats = true;
  for (int from = 0; from < model.num_labels; ++from) {
    for (int to = 0; to < model.num_labels; ++to) {
      const double score = model.transition_at(from, to);
      if (score == kNegativeInfinity && (is_twin(model, from) || is_twin(model, to))) continue;
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
  const double ends = largest_magnitude_at_edge(model, model.start_scores) +
                      largest_magnitude_at_edge(model, model.end_scores);
  const double scores = transition + largest_magnitude(model.duration_bias) + ends;
  return 6 * scores + 2 * (model.max_duration + 1.0) * decay < kMaskDepth / 2;
}

}  // namespace semicrf
