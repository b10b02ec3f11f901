#include "analyses/intervals/start_interval.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/chain_model.h"

namespace semicrf {

void StartInterval::Posteriors::keep_last(std::size_t count) {
  for (std::vector<double>* values : {&starts, &ends})
    values->erase(values->begin(), values->end() - static_cast<std::ptrdiff_t>(count));
}

void StartInterval::Posteriors::clear() {
  starts.clear();
  ends.clear();
}

void StartInterval::add(const PathPosteriors& at) {
  if (here_.starts.size() <= kReach) here_.add(at.start, at.end);
  // At the first position of this segment the next one's label cannot start instead of it.
  if (here_.starts.size() == 1) return;
  if (next_.starts.size() >= 2 * kReach) next_.keep_last(kReach);
  next_.add(at.next_start, at.next_end);
}

FoundInterval StartInterval::end_segment(const Segment& segment) {
  FoundInterval found{BoundaryInterval{segment.begin, segment.begin}, {}, {}};
  if (!std::exchange(first_, false)) found = grown(segment);
  std::swap(left_, next_);
  next_.clear();
  here_.clear();
  return found;
}

FoundInterval StartInterval::grown(const Segment& segment) const {
  const std::size_t to_left = std::min(left_.starts.size(), kReach);
  const std::size_t last_left = left_.starts.size() - 1;
  const std::int64_t least_distance = least_distance_(segment.label);
  std::size_t before = 0, after = 0;  // bins taken
  double sum = here_.starts.front(), ends = 0;
  FoundInterval found;
  for (;;) {
    if (sum >= level_) {
      const BoundaryInterval interval{segment.begin - static_cast<std::int64_t>(before),
                                      segment.begin + static_cast<std::int64_t>(after)};
      const bool one_start = interval.upper - interval.lower < least_distance;
      const bool enough = one_start || sum - ends >= level_;
      if (enough && found.candidates.empty()) {
        found.interval = interval;
        return found;
      }
      found.candidates.push_back({interval, sum});
      if (enough) break;
    }
    const bool can_left = before < to_left, can_right = after + 1 < here_.starts.size();
    if (!can_left && !can_right) break;
    const double on_left = can_left ? left_.starts[last_left - before] : -1;
    const double on_right = can_right ? here_.starts[after + 1] : -1;
    sum += std::max(on_left, on_right);
    // An end at the last bin of the interval has no start after it there.
    if (on_left >= on_right) {
      ends += left_.ends[last_left - before];
      ++before;
    } else {
      ends += here_.ends[after];
      ++after;
    }
  }
  if (!found.candidates.empty()) add_posteriors(segment.begin, found);
  return found;
}

void StartInterval::add_posteriors(std::int64_t boundary, FoundInterval& found) const {
  const BoundaryInterval& widest = found.candidates.back().interval;
  found.posteriors.assign(left_.starts.end() - (boundary - widest.lower), left_.starts.end());
  found.posteriors.insert(found.posteriors.end(), here_.starts.begin(),
                          here_.starts.begin() + (widest.upper - boundary + 1));
}

namespace {

// The segments of one label of the chain that start in the interval.
struct Open {
  explicit Open(std::int64_t n) : starts(std::vector<double>(n, kNegativeInfinity)) {}
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

RepeatTables::RepeatTables(const ChainModel& chain) : claims(chain) {
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
  std::vector<Open> open(labels, Open(n));
  std::vector<double> alpha(labels, kNegativeInfinity);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t t = interval.lower + i;
    for (int c = 0; i > 0 && c < labels; ++c) {
      const std::size_t column = c;
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
      if (shape_.has_boundary) start += at(t, shape_.boundary + c);
      if (c == label_) {
        const double all = message(t, c) - level;
        if (all != kNegativeInfinity) share = std::exp(std::min(0.0, start - all));
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
