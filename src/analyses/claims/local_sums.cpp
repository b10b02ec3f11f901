#include "analyses/claims/local_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/sizes.h"

namespace semicrf {

LocalSums::LocalSums(const ClaimStretch& stretch, std::int64_t begin, std::int64_t end)
    : stretch_(stretch),
      rows_(stretch.rows()),
      model_(stretch.tables().model),
      begin_(begin),
      end_(end),
      origin_(std::max<std::int64_t>(0, begin - model_.max_duration)),
      limit_(std::min(rows_.n, end + model_.max_duration + 1)),
      before_(model_.num_labels),
      ends_(model_.num_labels),
      tail_ends_(model_.num_labels) {}

// --- statements ---

double LocalSums::avoiding(const Restriction& restriction) {
  const bool extends = restriction.starts != Restriction::Starts::kNone;
  std::vector<ScaledNumbers> extended;
  if (extends) {
    extended = starts_before(restriction);
    extend(restriction, nullptr, extended);
  }
  std::vector<const ScaledNumbers*> starts;
  starts.reserve(model_.num_labels);
  for (int c = 0; c < model_.num_labels; ++c)
    starts.push_back(!restriction.meets(stretch_.tables(), c) ? nullptr
                     : extends                                ? &extended[c]
                                                              : &starts_before(c));
  return crossings(starts);
}

double LocalSums::any_start() {
  std::vector<ScaledNumbers> starts = starts_before(Restriction::none());
  return first_start(
      Restriction::none(), [](int) { return true; }, starts);
}

// The starts that are allowed before the first one of the label are those of segmentations without any.
ClaimResult LocalSums::starts_or_not(int label) {
  const Restriction others_before = Restriction::all_but(label);
  std::vector<ScaledNumbers> starts = starts_before(others_before);
  const double found = first_start(
      others_before, [&](int c) { return stretch_.tables().is(c, label); }, starts);
  std::vector<const ScaledNumbers*> all;
  all.reserve(starts.size());
  for (const ScaledNumbers& one : starts) all.push_back(&one);
  return {found, crossings(all)};
}

double LocalSums::within(int label) {
  double sum = kNegativeInfinity;
  const int roles = stretch_.tables().roles;
  for (int c = label * roles; c < (label + 1) * roles; ++c)
    sum = log_add(sum, crossing(c, starts_until_begin(c), kNegativeInfinity));
  return rows_.level + sum;
}

double LocalSums::ends_inside(int label) {
  double sum = kNegativeInfinity;
  const int roles = stretch_.tables().roles;
  for (int c = label * roles; c < (label + 1) * roles; ++c) {
    const std::int64_t last_near = begin_ + durations(c).max_duration();
    ScaledNumbers starts = starts_until_begin(c);
    double tail = left_tail(c);
    for (std::int64_t t = begin_ + 1; t < end_; ++t) {
      double segments = t <= last_near ? ended_within_reach(c, t, starts) : kNegativeInfinity;
      if (durations(c).has_tail()) {
        carry_tail(c, t, starts, tail);
        segments = log_add(segments, tail);
      }
      sum = log_add(sum, segments + stretch_.row(rows_.ends, c, t - 1));
      if (t > last_near && tail == kNegativeInfinity) break;
    }
  }
  return rows_.level + sum;
}

double LocalSums::leaves(int label) {
  const Restriction staying = Restriction::only_label(label);
  std::vector<ScaledNumbers> starts = starts_before(staying);
  return first_start(
      staying, [&](int c) { return !stretch_.tables().is(c, label); }, starts);
}

double LocalSums::segment(int c) const {
  if (stretch_.free_from(c, end_) > begin_) return kNegativeInfinity;
  return rows_.level + start_row(c, begin_) + model_.duration_score(end_ - begin_, c) +
         stretch_.content(c, end_) - stretch_.content(c, begin_) + stretch_.row(rows_.ends, c, end_ - 1);
}

double LocalSums::other_end(int c) {
  const DurationWeights& weights = durations(c);
  const std::int64_t stop = std::min(stretch_.free_to(c, begin_), limit_);
  const std::int64_t longest = weights.max_duration(), start = begin_ - origin_;
  double rest = weights.sum_from(start, ends(c), 1, std::min(stop, end_ - 1) - origin_);
  rest = log_add(rest, weights.sum_from(start, ends(c), end_ - begin_ + 1, stop - origin_));
  if (weights.has_tail()) {
    const auto in_tail = [&](std::int64_t e) {
      return weights.last_score() + static_cast<double>(e - begin_ - longest) * weights.log_tail();
    };
    const std::int64_t first = begin_ + longest + 1, beyond = std::max(first, end_ + 1);
    for (std::int64_t e = first; e <= std::min(stop, end_ - 1); ++e)
      rest = log_add(rest, in_tail(e) + ends(c).log(e - origin_));
    if (beyond <= stop) rest = log_add(rest, in_tail(beyond) + tail_ends(c).log(beyond - origin_));
  }
  return rows_.level + start_row(c, begin_) + rest - stretch_.content(c, begin_);
}

double LocalSums::starts_first(const Wanted& wanted) {
  double sum = kNegativeInfinity;
  for (int c = 0; c < model_.num_labels; ++c) {
    const double start = wanted(c) ? start_row(c, begin_) : kNegativeInfinity;
    if (start != kNegativeInfinity) sum = log_add(sum, start + rest_of(c, begin_, sum - kNothing - start));
  }
  return rows_.level + sum;
}

// --- parts of them ---

// The sum where one segment, of any label that has starts, crosses the end of the interval. Labels with the
// largest bounds come first, so that those that add nothing are recognised early.
double LocalSums::crossings(const std::vector<const ScaledNumbers*>& starts) {
  struct LabelStarts {
    int label;
    const ScaledNumbers* starts;
    double bound;
  };
  std::vector<LabelStarts> order;
  for (int c = 0; c < model_.num_labels; ++c)
    if (const ScaledNumbers* own = starts[c]) order.push_back({c, own, own->largest() + ends(c).largest()});
  std::ranges::sort(order, std::greater<>(), &LabelStarts::bound);
  double sum = kNegativeInfinity;
  for (const LabelStarts& one : order) sum = log_add(sum, crossing(one.label, *one.starts, sum - kNothing));
  return rows_.level + sum;
}

// The sum where a segment of a wanted label starts inside the interval, term by term for the first such
// start, before which there are only starts that `before` allows. Afterwards `starts`, which begins as
// starts_before(), has these.
double LocalSums::first_start(const Restriction& before, const Wanted& wanted,
                              std::vector<ScaledNumbers>& starts) {
  double sum = kNegativeInfinity;
  const FirstStart add = [&](std::int64_t t, int c, double log) {
    if (log != kNegativeInfinity && wanted(c)) sum = log_add(sum, log + rest_of(c, t, sum - kNothing - log));
  };
  extend(before, &add, starts);
  return rows_.level + sum;
}

// The numbers gamma_s - S_s of the starts before the interval; -inf from there on. Made once per label.
const ScaledNumbers& LocalSums::starts_before(int c) {
  std::optional<ScaledNumbers>& known = before_[c];
  if (known) return *known;
  std::vector<double> logs(local(end_), kNegativeInfinity);
  for (std::int64_t s = origin_; s < begin_; ++s) logs[local(s)] = start_row(c, s) - stretch_.content(c, s);
  return known.emplace(std::move(logs));
}

std::vector<ScaledNumbers> LocalSums::starts_before(const Restriction& restriction) {
  std::vector<ScaledNumbers> starts;
  starts.reserve(model_.num_labels);
  for (int c = 0; c < model_.num_labels; ++c)
    starts.push_back(restriction.meets(stretch_.tables(), c) ? starts_before(c)
                                                             : ScaledNumbers(std::vector<double>()));
  return starts;
}

// starts_before() and the start at the first position of the interval.
ScaledNumbers LocalSums::starts_until_begin(int c) {
  ScaledNumbers starts = starts_before(c);
  starts.set(begin_ - origin_, start_row(c, begin_) - stretch_.content(c, begin_));
  return starts;
}

// Goes through the interval and adds the starts that `restriction` allows to `starts`. `first`, if not null,
// is called for every position and label with the message that a start there would have.
void LocalSums::extend(const Restriction& restriction, const FirstStart* first,
                       std::vector<ScaledNumbers>& starts) {
  const int labels = model_.num_labels;
  std::vector<double> tails(labels), alpha(labels, kNegativeInfinity);
  for (int c = 0; c < labels; ++c) tails[c] = left_tail(c);
  for (std::int64_t t = begin_; t < end_; ++t) {
    for (int c = 0; t > begin_ && c < labels; ++c)
      if (restriction.meets(stretch_.tables(), c)) alpha[c] = ended(c, t, starts[c], tails[c]);
    for (int c = 0; c < labels; ++c) {
      const bool allowed = restriction.allows(stretch_.tables(), c);
      if (first == nullptr && !allowed) continue;
      const double start = t == begin_ ? start_row(c, t) : started(c, t, alpha);
      if (first != nullptr) (*first)(t, c, start);
      if (allowed) starts[c].set(t - origin_, start - stretch_.content(c, t));
    }
  }
}

// The message of the tail at boundary `begin`.
double LocalSums::left_tail(int c) const {
  return rows_.left_tails.empty() || begin_ == 0 ? kNegativeInfinity
                                                 : stretch_.row(rows_.left_tails, c, begin_ - 1);
}

// The message alpha_t of the restricted sums; t > begin. Carries the tail along.
double LocalSums::ended(int c, std::int64_t t, ScaledNumbers& starts, double& tail) const {
  double sum = ended_within_reach(c, t, starts);
  if (durations(c).has_tail()) {
    carry_tail(c, t, starts, tail);
    sum = log_add(sum, tail);
  }
  return rows_.end_scores.empty() ? sum : sum + stretch_.row(rows_.end_scores, c, t - 1);
}

// Segments of at most K positions that end at boundary t, without their end score.
double LocalSums::ended_within_reach(int c, std::int64_t t, ScaledNumbers& starts) const {
  const DurationWeights& weights = durations(c);
  const std::int64_t first = std::max({origin_, t - weights.max_duration(), stretch_.free_from(c, t)});
  return weights.sum_into(t - origin_, first - origin_, starts) + stretch_.content(c, t);
}

// Carries the tail from boundary t - 1 to t.
void LocalSums::carry_tail(int c, std::int64_t t, const ScaledNumbers& starts, double& tail) const {
  const DurationWeights& weights = durations(c);
  tail += stretch_.row(rows_.emissions, c, t - 1);
  const std::int64_t enters = t - weights.max_duration() - 1;
  if (enters >= std::max(stretch_.free_from(c, t), origin_))
    tail = log_add(tail, starts.log(enters - origin_) + stretch_.content(c, t) + weights.last_score());
  tail += weights.log_tail();
}

// The message gamma_t, from alpha_t.
double LocalSums::started(int c, std::int64_t t, const std::vector<double>& alpha) const {
  double sum = kNegativeInfinity;
  for (int from = 0; from < model_.num_labels; ++from) {
    const double log = alpha[from] + model_.transition_at(from, c);
    if (log != kNegativeInfinity) sum = log_add(sum, log);
  }
  return rows_.start_scores.empty() ? sum : sum + stretch_.row(rows_.start_scores, c, t);
}

// The numbers X_e + S_e of the boundaries e > begin within reach. Made once per label.
const ScaledNumbers& LocalSums::ends(int c) {
  std::optional<ScaledNumbers>& known = ends_[c];
  if (known) return *known;
  std::vector<double> logs(local(limit_) + 1, kNegativeInfinity);
  for (std::int64_t e = begin_ + 1; e <= limit_; ++e)
    logs[local(e)] = stretch_.row(rows_.ends, c, e - 1) + stretch_.content(c, e);
  return known.emplace(std::move(logs));
}

// Q(m) of the boundaries m > begin: LSE over e >= m of X_e + (e - m) ln q with the content of [m, e), plus
// S_m. Made once per label.
const ScaledNumbers& LocalSums::tail_ends(int c) {
  std::optional<ScaledNumbers>& known = tail_ends_[c];
  if (known) return *known;
  const DurationWeights& weights = durations(c);
  const ScaledNumbers& single = ends(c);
  const std::int64_t top = end_ + weights.max_duration() + 1;
  std::vector<double> logs(local(std::max(top, limit_)) + 1, kNegativeInfinity);
  const bool goes_on = top <= rows_.n && stretch_.free_to(c, end_) >= top;
  if (goes_on)
    logs[local(top)] = stretch_.row(rows_.right_tails, c, end_) - weights.last_score() - weights.log_tail() +
                       stretch_.content(c, end_);
  for (std::int64_t m = std::min(top - 1, limit_); m > begin_; --m) {
    const bool passes = m < rows_.n && stretch_.free_to(c, m) > m;
    const double later = passes ? logs[local(m) + 1] + weights.log_tail() : kNegativeInfinity;
    logs[local(m)] = log_add(single.log(m - origin_), later);
  }
  return known.emplace(std::move(logs));
}

// An upper bound of crossing() that is quick to compute.
double LocalSums::most_crossing(int c, const ScaledNumbers& starts) {
  const DurationWeights& weights = durations(c);
  const double counts = std::log(limit_ - origin_ + 1);
  double left = starts.largest() + counts + std::max(weights.largest_score(), weights.last_score());
  if (weights.has_tail() && begin_ > 0)
    left = log_add(left, stretch_.row(rows_.left_tails, c, begin_ - 1) - stretch_.content(c, begin_));
  return left + most_ends(c);
}

// An upper bound of the sum of all ends, those in the tail included.
double LocalSums::most_ends(int c) {
  const DurationWeights& weights = durations(c);
  const double sum = ends(c).largest() + std::log(limit_ - origin_ + 1);
  if (!weights.has_tail() || end_ == rows_.n) return sum;
  return log_add(sum, stretch_.row(rows_.right_tails, c, end_) - weights.last_score() - weights.log_tail() +
                          stretch_.content(c, end_));
}

// The sum where one segment of c starts before `end` of the interval and ends there or later. Sums below
// `floor` may be given as -inf.
double LocalSums::crossing(int c, const ScaledNumbers& starts, double floor) {
  const DurationWeights& weights = durations(c);
  const std::int64_t longest = weights.max_duration(), last = end_ - 1;
  const std::int64_t clear = stretch_.free_from(c, end_), stop = stretch_.free_to(c, last);
  if (clear == end_ || most_crossing(c, starts) < floor) return kNegativeInfinity;
  const std::int64_t first = std::max({origin_, end_ - longest, clear});
  double sum = weights.sum_between(starts, first - origin_, last - origin_, ends(c), end_ - origin_,
                                   std::min(stop, limit_) - origin_, floor);
  if (!weights.has_tail()) return sum;
  const ScaledNumbers& beyond = tail_ends(c);
  const double enters = weights.last_score() + weights.log_tail();
  // Segments that come into the tail behind the interval: their first boundary there is s + K + 1.
  const std::int64_t near = std::max({origin_, end_ - longest, clear});
  sum = log_add(
      sum, enters + log_dot(starts, near - origin_, beyond, near + longest + 1 - origin_,
                            std::min(last, std::min(stop, limit_) - longest - 1) - near + 1, floor - enters));
  // Segments that are in the tail before the end of the interval.
  for (std::int64_t s = std::max({origin_, begin_ - longest, clear}); s < end_ - longest; ++s)
    sum = log_add(sum, starts.log(s - origin_) + weights.last_score() +
                           static_cast<double>(end_ - s - longest) * weights.log_tail() +
                           beyond.log(end_ - origin_));
  if (clear > begin_ || begin_ == 0) return sum;
  return log_add(sum, stretch_.row(rows_.left_tails, c, begin_ - 1) - stretch_.content(c, begin_) +
                          static_cast<double>(end_ - begin_) * weights.log_tail() +
                          beyond.log(end_ - origin_));
}

// The sum over everything right of a start of c at t inside the interval: its duration, content and what
// follows. Sums below `floor` may be given as -inf.
double LocalSums::rest_of(int c, std::int64_t t, double floor) {
  const DurationWeights& weights = durations(c);
  if (std::max(weights.largest_score(), weights.last_score()) + most_ends(c) - stretch_.content(c, t) < floor)
    return kNegativeInfinity;
  const std::int64_t stop = std::min(stretch_.free_to(c, t), limit_);
  double rest = weights.sum_from(t - origin_, ends(c), 1, stop - origin_);
  const std::int64_t m = t + weights.max_duration() + 1;
  if (weights.has_tail() && m <= stop)
    rest = log_add(rest, weights.last_score() + weights.log_tail() + tail_ends(c).log(m - origin_));
  return rest - stretch_.content(c, t);
}

}  // namespace semicrf
