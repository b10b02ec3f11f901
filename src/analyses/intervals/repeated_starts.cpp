#include "analyses/intervals/repeated_starts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/chain_model.h"

namespace semicrf {
namespace {

// The segments of one label of the chain that start in the interval.
struct Open {
  explicit Open(std::int64_t n)
      : starts(std::vector<double>(static_cast<std::size_t>(n), kNegativeInfinity)) {}
  ScaledNumbers starts;             // messages of the starts, less the content of the interval before them
  double content = 0;               // content of the positions so far, without the forbidden ones
  std::int64_t clear = 0;           // no position from here on is forbidden
  double tail = kNegativeInfinity;  // segments longer than K, with their content
};

// The message of the segments that end right before position t, which is counted from the interval's first
// position.
double ended(const DurationWeights& weights, std::int64_t t, Open& open) {
  const std::int64_t first = std::max({std::int64_t{0}, t - weights.max_duration(), open.clear});
  double sum = weights.sum_into(t, first, open.starts) + open.content;
  if (!weights.has_tail()) return sum;
  if (const std::int64_t enters = t - weights.max_duration() - 1; enters >= open.clear)
    open.tail = log_add(open.tail, open.starts.log(enters) + open.content + weights.last_score());
  open.tail += weights.log_tail();
  return log_add(sum, open.tail);
}

}  // namespace

RepeatTables::RepeatTables(const ChainModel& chain, int count) : claims(chain, count) {
  for (int to = 0; to < chain.num_labels; ++to) {
    std::vector<double> scores;
    scores.reserve(chain.num_labels);
    for (int from = 0; from < chain.num_labels; ++from) scores.push_back(chain.transition_at(from, to));
    into.emplace_back(std::move(scores)).linear();  // made here, because several threads use them
  }
}

// A forward recursion over the interval for the segmentations with a start of the label in it. At each start
// of the label the sum over those with an earlier start in the interval is divided by the full message of the
// start: the ratio is the probability that this start is not the first one. The recursion goes on with the
// full message.
double RepeatedStarts::expected(const BoundaryInterval& interval) const {
  const int labels = tables_.claims.model.num_labels;
  const std::int64_t n = interval.upper - interval.lower + 1;
  const double level = at(interval.lower, 0);
  std::vector<Open> open(static_cast<std::size_t>(labels), Open(n));
  std::vector<double> alpha(static_cast<std::size_t>(labels), kNegativeInfinity);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t t = interval.lower + i;
    for (int c = 0; i > 0 && c < labels; ++c) {
      const auto column = static_cast<std::size_t>(c);
      Open& own = open[column];
      const double score = at(t - 1, shape_.emissions + column);
      if (score == kNegativeInfinity) {
        own.clear = i;
        own.tail = kNegativeInfinity;
      } else {
        own.content += score;
        own.tail += score;
      }
      alpha[column] = ended(tables_.claims.durations[column], i, own);
      if (shape_.has_boundary) alpha[column] += at(t - 1, shape_.boundary + shape_.labels + column);
    }
    const ScaledNumbers ended_here(alpha);
    double share = 0;  // the probability that a start here is not the first one
    for (int c = 0; c < labels; ++c) {
      double start = log_dot(ended_here, 0, tables_.into[c], 0, labels);
      if (shape_.has_boundary) start += at(t, shape_.boundary + static_cast<std::size_t>(c));
      if (tables_.claims.is(c, label_)) {
        const double all = message(t, c) - level;
        if (all != kNegativeInfinity) share = std::max(share, std::exp(std::min(0.0, start - all)));
        start = all;
      }
      Open& own = open[c];
      if (start != kNegativeInfinity) own.starts.set(i, start - own.content);
    }
    sum += posteriors_[t - first_] * share;
  }
  return sum;
}

}  // namespace semicrf
