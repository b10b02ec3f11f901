#include "pipeline/analyses/claims/local_chain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/sizes.h"

namespace semicrf {
namespace {

constexpr int kEvery = -1;  // label

// ln(1 - e^x), x <= 0.
double log_complement(double x) {
  if (x >= 0) return kNegativeInfinity;
  return x > -0.6931471805599453 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

// Which segments may start inside the interval, and which labels may be there at all.
struct Restriction {
  enum class Starts { kNone, kAll, kAllBut };
  Starts starts = Starts::kAll;
  int label = kEvery;  // of kAllBut
  int only = kEvery;   // the label of all segments that meet the interval

  bool meets(const ClaimTables& tables, int c) const { return only == kEvery || tables.is(c, only); }
  bool allows(const ClaimTables& tables, int c) const {
    return meets(tables, c) &&
           (starts == Starts::kAll || (starts == Starts::kAllBut && !tables.is(c, label)));
  }
};

// Sums over the segmentations that agree with a claim about [begin, end) of a stretch. Starts and ends are
// kept for the positions within reach, from `origin_` on.
class LocalSums {
 public:
  LocalSums(const ClaimStretch& stretch, std::int64_t begin, std::int64_t end)
      : stretch_(stretch),
        rows_(stretch.rows()),
        model_(stretch.tables().model),
        begin_(begin),
        end_(end),
        origin_(std::max<std::int64_t>(0, begin - model_.max_duration)),
        limit_(std::min(rows_.n, end + model_.max_duration + 1)),
        before_(wide(model_.num_labels)),
        ends_(wide(model_.num_labels)),
        tail_ends_(wide(model_.num_labels)) {}

  // Exactly the segment [begin, end).
  double segment(int c) const {
    if (stretch_.free_from(c, end_) > begin_) return kNegativeInfinity;
    return rows_.level + start_row(c, begin_) + model_.duration_score(end_ - begin_, c) +
           stretch_.content(c, end_) - stretch_.content(c, begin_) + stretch_.row(rows_.ends, c, end_ - 1);
  }

  // No segment starts inside the interval but those that are allowed, of labels that are allowed.
  double avoiding(const Restriction& restriction) {
    const bool extends = restriction.starts != Restriction::Starts::kNone;
    std::vector<ScaledNumbers> extended;
    if (extends) {
      extended = starts_before(restriction);
      extend(restriction, nullptr, extended);
    }
    std::vector<const ScaledNumbers*> starts;
    starts.reserve(wide(model_.num_labels));
    for (int c = 0; c < model_.num_labels; ++c)
      starts.push_back(!restriction.meets(stretch_.tables(), c) ? nullptr
                       : extends                                ? &extended[wide(c)]
                                                                : &starts_before(c));
    return crossings(starts);
  }

  // One segment of the label holds the interval: it starts before it or with it.
  double within(int label) {
    double sum = kNegativeInfinity;
    const int roles = stretch_.tables().roles;
    for (int c = label * roles; c < (label + 1) * roles; ++c) {
      ScaledNumbers starts = starts_before(c);
      starts.set(begin_ - origin_, start_row(c, begin_) - stretch_.content(c, begin_));
      sum = log_add(sum, crossing(c, starts, kNegativeInfinity));
    }
    return rows_.level + sum;
  }

  // A segment of any label starts inside the interval. What is far below `expected` is left out.
  double any_start(double expected) {
    std::vector<ScaledNumbers> starts = starts_before(Restriction{});
    return first_start(kEvery, expected, starts);
  }

  // A segment of the label starts inside the interval; and none does.
  ClaimResult starts_or_not(int label) {
    std::vector<ScaledNumbers> starts = starts_before(Restriction{});
    const double found = first_start(label, kNegativeInfinity, starts);
    return {found, crossings(pointers(starts))};
  }

 private:
  using FirstStart = std::function<void(std::int64_t t, int c, double log)>;
  struct LabelStarts {
    int label;
    const ScaledNumbers* starts;
    double bound;
  };
  // One segment crosses the end of the interval, of any label that has starts. The largest first, so that
  // those that add nothing are told early.
  double crossings(const std::vector<const ScaledNumbers*>& starts) {
    std::vector<LabelStarts> order;
    for (int c = 0; c < model_.num_labels; ++c)
      if (const ScaledNumbers* own = starts[wide(c)])
        order.push_back({c, own, own->largest() + ends(c).largest()});
    std::ranges::sort(order, std::greater<>(), &LabelStarts::bound);
    double sum = kNegativeInfinity;
    for (const LabelStarts& one : order) sum = log_add(sum, crossing(one.label, *one.starts, sum - kNothing));
    return rows_.level + sum;
  }

  static std::vector<const ScaledNumbers*> pointers(const std::vector<ScaledNumbers>& starts) {
    std::vector<const ScaledNumbers*> all;
    all.reserve(starts.size());
    for (const ScaledNumbers& one : starts) all.push_back(&one);
    return all;
  }

  // A segment of `label` (of any) starts inside the interval: summed over the first of them. Afterwards
  // `starts`, which begins as starts_before(), has those that are allowed where there is none.
  double first_start(int label, double expected, std::vector<ScaledNumbers>& starts) {
    Restriction before;
    before.starts = label == kEvery ? Restriction::Starts::kNone : Restriction::Starts::kAllBut;
    before.label = label;
    double sum = kNegativeInfinity;
    const FirstStart add = [&](std::int64_t t, int c, double log) {
      const double floor = std::max(sum, expected - rows_.level) - kNothing - log;
      if (label == kEvery || stretch_.tables().is(c, label)) sum = log_add(sum, log + rest_of(c, t, floor));
    };
    extend(before, &add, starts);
    return rows_.level + sum;
  }

  double start_row(int c, std::int64_t t) const { return stretch_.row(rows_.starts, c, t); }
  const DurationWeights& durations(int c) const { return stretch_.tables().durations[wide(c)]; }
  std::size_t local(std::int64_t i) const { return wide(i - origin_); }

  // gamma_s - S_s of the starts before the interval; -inf from there on. Made once per label.
  const ScaledNumbers& starts_before(int c) {
    std::optional<ScaledNumbers>& known = before_[wide(c)];
    if (known) return *known;
    std::vector<double> logs(local(end_), kNegativeInfinity);
    for (std::int64_t s = origin_; s < begin_; ++s) logs[local(s)] = start_row(c, s) - stretch_.content(c, s);
    return known.emplace(std::move(logs));
  }
  std::vector<ScaledNumbers> starts_before(const Restriction& restriction) {
    std::vector<ScaledNumbers> starts;
    starts.reserve(wide(model_.num_labels));
    for (int c = 0; c < model_.num_labels; ++c)
      starts.push_back(restriction.meets(stretch_.tables(), c) ? starts_before(c)
                                                               : ScaledNumbers(std::vector<double>()));
    return starts;
  }

  // Goes through the interval and adds the starts that `restriction` allows. `first` is told of what the
  // start of any label at every position would be.
  void extend(const Restriction& restriction, const FirstStart* first, std::vector<ScaledNumbers>& starts) {
    const int labels = model_.num_labels;
    std::vector<double> tails = left_tails(), alpha(wide(labels), kNegativeInfinity);
    for (std::int64_t t = begin_; t < end_; ++t) {
      for (int c = 0; t > begin_ && c < labels; ++c)
        if (restriction.meets(stretch_.tables(), c)) alpha[wide(c)] = ended(c, t, starts[wide(c)], tails);
      for (int c = 0; c < labels; ++c) {
        const bool allowed = restriction.allows(stretch_.tables(), c);
        if (first == nullptr && !allowed) continue;
        const double start = t == begin_ ? start_row(c, t) : started(c, t, alpha);
        if (first != nullptr) (*first)(t, c, start);
        if (allowed) starts[wide(c)].set(t - origin_, start - stretch_.content(c, t));
      }
    }
  }

  // At boundary `begin`.
  std::vector<double> left_tails() const {
    std::vector<double> tails(wide(model_.num_labels), kNegativeInfinity);
    if (rows_.left_tails.empty() || begin_ == 0) return tails;
    for (int c = 0; c < model_.num_labels; ++c)
      tails[wide(c)] = stretch_.row(rows_.left_tails, c, begin_ - 1);
    return tails;
  }

  // alpha_t of the restricted sums; t > begin. Carries the tail along.
  double ended(int c, std::int64_t t, ScaledNumbers& starts, std::vector<double>& tails) const {
    const DurationWeights& weights = durations(c);
    const std::int64_t clear = stretch_.free_from(c, t);
    const std::int64_t first = std::max({origin_, t - weights.max_duration(), clear});
    double sum = weights.sum_into(t - origin_, first - origin_, starts) + stretch_.content(c, t);
    if (weights.has_tail()) {
      double& tail = tails[wide(c)];
      tail += stretch_.row(rows_.emissions, c, t - 1);
      const std::int64_t enters = t - weights.max_duration() - 1;
      if (enters >= std::max(clear, origin_))
        tail = log_add(tail, starts.log(enters - origin_) + stretch_.content(c, t) + weights.last_score());
      tail += weights.log_tail();
      sum = log_add(sum, tail);
    }
    return rows_.end_scores.empty() ? sum : sum + stretch_.row(rows_.end_scores, c, t - 1);
  }

  // gamma_t of alpha_t.
  double started(int c, std::int64_t t, const std::vector<double>& alpha) const {
    double sum = kNegativeInfinity;
    for (int from = 0; from < model_.num_labels; ++from) {
      const double log = alpha[wide(from)] + model_.transition_at(from, c);
      if (log != kNegativeInfinity) sum = log_add(sum, log);
    }
    return rows_.start_scores.empty() ? sum : sum + stretch_.row(rows_.start_scores, c, t);
  }

  // X_e + S_e of the boundaries e > begin within reach. Made once per label.
  const ScaledNumbers& ends(int c) {
    std::optional<ScaledNumbers>& known = ends_[wide(c)];
    if (known) return *known;
    std::vector<double> logs(local(limit_) + 1, kNegativeInfinity);
    for (std::int64_t e = begin_ + 1; e <= limit_; ++e)
      logs[local(e)] = stretch_.row(rows_.ends, c, e - 1) + stretch_.content(c, e);
    return known.emplace(std::move(logs));
  }

  // Q(m) of the boundaries m > begin: LSE over e >= m of X_e + (e - m) ln q with the content of [m, e), plus
  // S_m. Made once per label.
  const ScaledNumbers& tail_ends(int c) {
    std::optional<ScaledNumbers>& known = tail_ends_[wide(c)];
    if (known) return *known;
    const DurationWeights& weights = durations(c);
    const ScaledNumbers& single = ends(c);
    const std::int64_t top = end_ + weights.max_duration() + 1;
    std::vector<double> logs(local(std::max(top, limit_)) + 1, kNegativeInfinity);
    const bool goes_on = top <= rows_.n && stretch_.free_to(c, end_) >= top;
    if (goes_on)
      logs[local(top)] = stretch_.row(rows_.right_tails, c, end_) - weights.last_score() -
                         weights.log_tail() + stretch_.content(c, end_);
    for (std::int64_t m = std::min(top - 1, limit_); m > begin_; --m) {
      const bool passes = m < rows_.n && stretch_.free_to(c, m) > m;
      const double later = passes ? logs[local(m) + 1] + weights.log_tail() : kNegativeInfinity;
      logs[local(m)] = log_add(single.log(m - origin_), later);
    }
    return known.emplace(std::move(logs));
  }

  // A bound of crossing(), quickly.
  double most_crossing(int c, const ScaledNumbers& starts) {
    const DurationWeights& weights = durations(c);
    const double counts = std::log(static_cast<double>(limit_ - origin_ + 1));
    double left = starts.largest() + counts + std::max(weights.largest_score(), weights.last_score());
    if (weights.has_tail() && begin_ > 0)
      left = log_add(left, stretch_.row(rows_.left_tails, c, begin_ - 1) - stretch_.content(c, begin_));
    return left + most_ends(c);
  }
  // A bound of the sum of all ends, and of all in the tail.
  double most_ends(int c) {
    const DurationWeights& weights = durations(c);
    const double sum = ends(c).largest() + std::log(static_cast<double>(limit_ - origin_ + 1));
    if (!weights.has_tail() || end_ == rows_.n) return sum;
    return log_add(sum, stretch_.row(rows_.right_tails, c, end_) - weights.last_score() - weights.log_tail() +
                            stretch_.content(c, end_));
  }

  // One segment of c that starts before `end` of the interval and ends there or later.
  // Less than `floor` may be -inf.
  double crossing(int c, const ScaledNumbers& starts, double floor) {
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
    // Those that are in the tail behind the interval: their first boundary there is s + K + 1.
    const std::int64_t near = std::max({origin_, end_ - longest, clear});
    sum = log_add(sum, enters + log_dot(starts, near - origin_, beyond, near + longest + 1 - origin_,
                                        std::min(last, std::min(stop, limit_) - longest - 1) - near + 1,
                                        floor - enters));
    // Those that are in it before its end.
    for (std::int64_t s = std::max({origin_, begin_ - longest, clear}); s < end_ - longest; ++s)
      sum = log_add(sum, starts.log(s - origin_) + weights.last_score() +
                             static_cast<double>(end_ - s - longest) * weights.log_tail() +
                             beyond.log(end_ - origin_));
    if (clear > begin_ || begin_ == 0) return sum;
    return log_add(sum, stretch_.row(rows_.left_tails, c, begin_ - 1) - stretch_.content(c, begin_) +
                            static_cast<double>(end_ - begin_) * weights.log_tail() +
                            beyond.log(end_ - origin_));
  }

  // Everything right of a start of c at t inside the interval: its duration, content and what follows.
  // Less than `floor` may be -inf.
  double rest_of(int c, std::int64_t t, double floor) {
    const DurationWeights& weights = durations(c);
    if (std::max(weights.largest_score(), weights.last_score()) + most_ends(c) - stretch_.content(c, t) <
        floor)
      return kNegativeInfinity;
    const std::int64_t stop = std::min(stretch_.free_to(c, t), limit_);
    double rest = weights.sum_from(t - origin_, ends(c), stop - origin_);
    const std::int64_t m = t + weights.max_duration() + 1;
    if (weights.has_tail() && m <= stop)
      rest = log_add(rest, weights.last_score() + weights.log_tail() + tail_ends(c).log(m - origin_));
    return rest - stretch_.content(c, t);
  }

  const ClaimStretch& stretch_;
  const StretchRows& rows_;
  const ChainModel& model_;
  std::int64_t begin_, end_;     // the interval
  std::int64_t origin_, limit_;  // first position and last boundary within reach
  std::vector<std::optional<ScaledNumbers>> before_, ends_, tail_ends_;  // per label
};

ClaimResult complete(double log_true) { return {log_true, log_complement(log_true)}; }

// The probability that there is a boundary is 1 less a sum, unless that would cost its digits.
ClaimResult boundary_claim(LocalSums sums) {
  const ClaimResult none = complete(sums.avoiding({Restriction::Starts::kNone, kEvery, kEvery}));
  if (none.log_true < std::log(0.5)) return {none.log_false, none.log_true};
  // The complement is good for a few digits at least, or it is far below what counts.
  const double expected = none.log_false > -25 ? none.log_false : kNegativeInfinity;
  return {sums.any_start(expected), none.log_true};
}

}  // namespace

StretchRows StretchRows::mirrored(std::size_t labels) const {
  StretchRows mirror{n, ends, starts, emissions, end_scores, start_scores, right_tails, left_tails, level};
  for (std::vector<double>* rows : {&mirror.starts, &mirror.ends, &mirror.emissions, &mirror.start_scores,
                                    &mirror.end_scores, &mirror.left_tails, &mirror.right_tails}) {
    if (rows->empty()) continue;
    for (std::size_t c = 0; c < labels; ++c)
      std::reverse(rows->begin() + static_cast<std::ptrdiff_t>(c) * n,
                   rows->begin() + static_cast<std::ptrdiff_t>(c + 1) * n);
  }
  return mirror;
}

ClaimTables::ClaimTables(const ChainModel& chain, int count) : model(chain), roles(count) {
  for (int c = 0; c < chain.num_labels; ++c) durations.emplace_back(chain, c);
}

ClaimStretch::ClaimStretch(StretchRows rows, const ClaimTables& tables)
    : rows_(std::move(rows)), tables_(&tables) {
  const auto labels = wide(num_labels());
  content_.assign(labels * wide(rows_.n + 1), 0.0);
  free_from_.assign(content_.size(), 0);
  free_to_.assign(content_.size(), rows_.n);
  for (int c = 0; c < num_labels(); ++c) {
    for (std::int64_t i = 0; i < rows_.n; ++i) {
      const double score = row(rows_.emissions, c, i);
      const bool forbidden = score == kNegativeInfinity;
      content_[at(c, i + 1)] = content(c, i) + (forbidden ? 0 : score);
      free_from_[at(c, i + 1)] = forbidden ? i + 1 : free_from(c, i);
    }
    for (std::int64_t i = rows_.n; i-- > 0;)
      free_to_[at(c, i)] = row(rows_.emissions, c, i) == kNegativeInfinity ? i : free_to(c, i + 1);
  }
}

LocalClaims::LocalClaims(StretchRows rows, std::int64_t anchor, const ClaimTables& tables,
                         const ClaimTables& mirror)
    : stretch_(std::move(rows), tables), mirror_tables_(mirror) {
  LocalSums sums(stretch_, anchor, anchor + 1);
  const double none = sums.avoiding({Restriction::Starts::kNone, kEvery, kEvery});
  const double all = log_add(none, sums.any_start(kNegativeInfinity));
  if (all > kNegativeInfinity) stretch_.shift(-all);
}

ClaimResult LocalClaims::result(const Claim& claim) {
  const ClaimResult found = unbounded_result(claim);
  return {std::min(found.log_true, 0.0), std::min(found.log_false, 0.0)};
}

ClaimResult LocalClaims::unbounded_result(const Claim& claim) {
  if (claim.kind == ClaimKind::kEnds) {
    if (!mirror_) mirror_.emplace(stretch_.rows().mirrored(wide(stretch_.num_labels())), mirror_tables_);
    const std::int64_t n = stretch_.rows().n;
    return LocalSums(*mirror_, n - claim.end, n - claim.begin).starts_or_not(claim.label);
  }
  LocalSums sums(stretch_, claim.begin, claim.end);
  switch (claim.kind) {
    case ClaimKind::kSegment:
      return complete(sums.segment(claim.label));
    case ClaimKind::kWithin:
      return complete(sums.within(claim.label));
    case ClaimKind::kLabel:
      return complete(sums.avoiding({Restriction::Starts::kAll, kEvery, claim.label}));
    case ClaimKind::kStarts:
      return sums.starts_or_not(claim.label);
    default:
      break;
  }
  const ClaimResult boundary = boundary_claim(std::move(sums));
  if (claim.kind == ClaimKind::kBoundary) return boundary;
  return {boundary.log_false, boundary.log_true};
}

}  // namespace semicrf
