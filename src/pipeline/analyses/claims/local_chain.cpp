#include "pipeline/analyses/claims/local_chain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

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
};

// Sums over the segmentations of one LocalRows.
class LocalSums {
 public:
  LocalSums(const LocalRows& rows, const ClaimTables& tables)
      : rows_(rows), tables_(tables), model_(tables.model) {
    const auto labels = static_cast<std::size_t>(model_.num_labels);
    const auto n = static_cast<std::size_t>(rows.n);
    content_.assign(labels * (n + 1), 0.0);
    free_from_.assign(labels * (n + 1), 0);
    free_to_.assign(labels * (n + 1), rows.n);
    for (std::size_t c = 0; c < labels; ++c) {
      for (std::size_t i = 0; i < n; ++i) {
        const double score = rows.emissions[c * n + i];
        const bool forbidden = score == kNegativeInfinity;
        content_[c * (n + 1) + i + 1] = content_[c * (n + 1) + i] + (forbidden ? 0 : score);
        free_from_[c * (n + 1) + i + 1] =
            forbidden ? static_cast<std::int64_t>(i) + 1 : free_from_[c * (n + 1) + i];
      }
      for (std::size_t i = n; i-- > 0;)
        free_to_[c * (n + 1) + i] = rows.emissions[c * n + i] == kNegativeInfinity
                                        ? static_cast<std::int64_t>(i)
                                        : free_to_[c * (n + 1) + i + 1];
    }
  }

  // Exactly the segment [begin, end).
  double segment(int c) const {
    const std::int64_t duration = rows_.end - rows_.begin;
    const double content = content_of(c, rows_.begin, rows_.end);
    if (content == kNegativeInfinity) return content;
    return rows_.level + row(rows_.starts, c, rows_.begin) + model_.duration_score(duration, c) + content +
           row(rows_.ends, c, rows_.end - 1);
  }

  // No segment starts inside the interval but those that are allowed, of labels that are allowed.
  double avoiding(const Restriction& restriction) {
    std::vector<ScaledNumbers> starts = starts_before();
    if (restriction.starts != Restriction::Starts::kNone) extend(restriction, nullptr, starts);
    double sum = kNegativeInfinity;
    for (int c = 0; c < model_.num_labels; ++c)
      if (restriction.only == kEvery || restriction.only == c)
        sum = log_add(sum, crossing(c, starts[static_cast<std::size_t>(c)]));
    return rows_.level + sum;
  }

  // One segment of c holds the interval: it starts before it or with it.
  double within(int c) {
    ScaledNumbers starts = std::move(starts_before()[static_cast<std::size_t>(c)]);
    starts.set(static_cast<std::size_t>(rows_.begin),
               row(rows_.starts, c, rows_.begin) - content_[at(c, rows_.begin)]);
    return rows_.level + crossing(c, starts);
  }

  // A segment of `label` (of any) starts inside the interval: summed over the first of them.
  double first_start(int label) {
    std::vector<ScaledNumbers> starts = starts_before();
    Restriction before;
    before.starts = label == kEvery ? Restriction::Starts::kNone : Restriction::Starts::kAllBut;
    before.label = label;
    double sum = kNegativeInfinity;
    const FirstStart add = [&](std::int64_t t, int c, double log) {
      if (label == kEvery || label == c) sum = log_add(sum, log + rest_of(c, t));
    };
    extend(before, &add, starts);
    return rows_.level + sum;
  }

 private:
  using FirstStart = std::function<void(std::int64_t t, int c, double log)>;

  double row(const std::vector<double>& rows, int c, std::int64_t i) const {
    return rows[static_cast<std::size_t>(c) * static_cast<std::size_t>(rows_.n) +
                static_cast<std::size_t>(i)];
  }
  std::size_t at(int c, std::int64_t i) const {
    return static_cast<std::size_t>(c) * static_cast<std::size_t>(rows_.n + 1) + static_cast<std::size_t>(i);
  }
  const DurationWeights& durations(int c) const { return tables_.durations[static_cast<std::size_t>(c)]; }
  double content_of(int c, std::int64_t from, std::int64_t to) const {
    return free_from_[at(c, to)] > from ? kNegativeInfinity : content_[at(c, to)] - content_[at(c, from)];
  }

  // gamma_s - S_s of the starts before the interval, by label; -inf from there on.
  std::vector<ScaledNumbers> starts_before() const {
    std::vector<ScaledNumbers> starts;
    for (int c = 0; c < model_.num_labels; ++c) {
      std::vector<double> logs(static_cast<std::size_t>(rows_.n), kNegativeInfinity);
      for (std::int64_t s = 0; s < rows_.begin; ++s)
        logs[static_cast<std::size_t>(s)] = row(rows_.starts, c, s) - content_[at(c, s)];
      starts.emplace_back(std::move(logs));
    }
    return starts;
  }

  bool allowed(const Restriction& restriction, int c) const {
    if (restriction.only != kEvery && restriction.only != c) return false;
    return restriction.starts == Restriction::Starts::kAll ||
           (restriction.starts == Restriction::Starts::kAllBut && restriction.label != c);
  }

  // Goes through the interval and adds the starts that `restriction` allows. `first` is told of what the
  // start of any label at every position would be.
  void extend(const Restriction& restriction, const FirstStart* first, std::vector<ScaledNumbers>& starts) {
    const int labels = model_.num_labels;
    std::vector<double> tails = rows_.left_tail, alpha(static_cast<std::size_t>(labels));
    for (std::int64_t t = rows_.begin; t < rows_.end; ++t) {
      if (t > rows_.begin)
        for (int c = 0; c < labels; ++c) {
          const bool meets = restriction.only == kEvery || restriction.only == c;
          alpha[static_cast<std::size_t>(c)] =
              meets ? ended(c, t, starts[static_cast<std::size_t>(c)], tails) : kNegativeInfinity;
        }
      for (int c = 0; c < labels; ++c) {
        if (first == nullptr && !allowed(restriction, c)) continue;
        const double start = t == rows_.begin ? row(rows_.starts, c, t) : started(c, t, alpha);
        if (first != nullptr) (*first)(t, c, start);
        if (allowed(restriction, c))
          starts[static_cast<std::size_t>(c)].set(static_cast<std::size_t>(t), start - content_[at(c, t)]);
      }
    }
  }

  // alpha_t of the restricted sums; t > begin. Carries the tail along.
  double ended(int c, std::int64_t t, ScaledNumbers& starts, std::vector<double>& tails) const {
    const DurationWeights& weights = durations(c);
    const std::int64_t first = std::max({std::int64_t{0}, t - weights.max_duration(), free_from_[at(c, t)]});
    double sum = weights.sum_into(t, first, starts) + content_[at(c, t)];
    if (weights.has_tail()) {
      double& tail = tails[static_cast<std::size_t>(c)];
      tail += row(rows_.emissions, c, t - 1);
      const std::int64_t enters = t - weights.max_duration() - 1;
      if (enters >= free_from_[at(c, t)])
        tail = log_add(
            tail, starts.logs[static_cast<std::size_t>(enters)] + content_[at(c, t)] + weights.last_score());
      tail += weights.log_tail();
      sum = log_add(sum, tail);
    }
    return rows_.end_scores.empty() ? sum : sum + row(rows_.end_scores, c, t - 1);
  }

  // gamma_t of alpha_t.
  double started(int c, std::int64_t t, const std::vector<double>& alpha) const {
    double sum = kNegativeInfinity;
    for (int from = 0; from < model_.num_labels; ++from) {
      const double log = alpha[static_cast<std::size_t>(from)] + model_.transition_at(from, c);
      if (log != kNegativeInfinity) sum = log_add(sum, log);
    }
    return rows_.start_scores.empty() ? sum : sum + row(rows_.start_scores, c, t);
  }

  // X_e + S_e of the boundaries e = 1 .. n from index e on, as far as a segment that covers [from, e) may.
  ScaledNumbers ends_from(int c, std::int64_t from) const {
    const std::int64_t last = free_to_[at(c, from)];
    std::vector<double> logs(static_cast<std::size_t>(rows_.n) + 1, kNegativeInfinity);
    for (std::int64_t e = from + 1; e <= last; ++e)
      logs[static_cast<std::size_t>(e)] = row(rows_.ends, c, e - 1) + content_[at(c, e)];
    return ScaledNumbers(std::move(logs));
  }

  // One segment of c that starts before `end` of the interval and ends there or later.
  double crossing(int c, const ScaledNumbers& starts) {
    const DurationWeights& weights = durations(c);
    const std::int64_t from = rows_.end, last = rows_.end - 1;
    if (free_from_[at(c, from)] == from) return kNegativeInfinity;  // the last position is forbidden
    const ScaledNumbers ends = ends_from(c, last);
    const std::int64_t first =
        std::max({std::int64_t{0}, from - weights.max_duration(), free_from_[at(c, from)]});
    double sum = weights.sum_between(starts, first, last, ends, from);
    if (!weights.has_tail()) return sum;
    const std::vector<double>& beyond = tail_ends(c);
    const std::int64_t longest = weights.max_duration();
    const std::int64_t oldest = std::max({std::int64_t{0}, rows_.begin - longest, free_from_[at(c, from)]});
    for (std::int64_t s = oldest; s <= last; ++s) {
      const std::int64_t m = std::max(from, s + longest + 1);
      if (m > free_to_[at(c, last)]) break;
      sum = log_add(sum, starts.logs[static_cast<std::size_t>(s)] + weights.last_score() +
                             static_cast<double>(m - s - longest) * weights.log_tail() +
                             beyond[static_cast<std::size_t>(m)]);
    }
    if (free_from_[at(c, from)] <= rows_.begin)
      sum = log_add(sum, rows_.left_tail[static_cast<std::size_t>(c)] - content_[at(c, rows_.begin)] +
                             static_cast<double>(from - rows_.begin) * weights.log_tail() +
                             beyond[static_cast<std::size_t>(from)]);
    return sum;
  }

  // Everything right of a start of c at t inside the interval: its duration, content and what follows.
  double rest_of(int c, std::int64_t t) {
    const DurationWeights& weights = durations(c);
    const std::int64_t stop = free_to_[at(c, t)];
    double largest = kNegativeInfinity;
    std::vector<double> logs;
    for (std::int64_t e = t + 1; e <= std::min(stop, t + weights.max_duration()); ++e) {
      logs.push_back(row(rows_.ends, c, e - 1) + content_[at(c, e)] + weights.score(e - t));
      largest = std::max(largest, logs.back());
    }
    double sum = 0;
    if (largest != kNegativeInfinity)
      for (const double log : logs) sum += std::exp(log - largest);
    double rest = largest == kNegativeInfinity ? largest : largest + std::log(sum);
    const std::int64_t m = t + weights.max_duration() + 1;
    if (weights.has_tail() && m <= stop)
      rest = log_add(rest,
                     weights.last_score() + weights.log_tail() + tail_ends(c)[static_cast<std::size_t>(m)]);
    return rest - content_[at(c, t)];
  }

  // Q(m) for the boundaries m = 1 .. end+K+1: LSE over e >= m of X_e + (e - m) ln q with the content of
  // [m, e), plus S_m. Made once per label.
  const std::vector<double>& tail_ends(int c) {
    tail_ends_.resize(static_cast<std::size_t>(model_.num_labels));
    std::vector<double>& sums = tail_ends_[static_cast<std::size_t>(c)];
    if (!sums.empty()) return sums;
    const DurationWeights& weights = durations(c);
    const std::int64_t top = rows_.end + weights.max_duration() + 1;
    sums.assign(static_cast<std::size_t>(std::max(top, rows_.n) + 1), kNegativeInfinity);
    if (top <= rows_.n && free_to_[at(c, rows_.end)] >= top)
      sums[static_cast<std::size_t>(top)] = rows_.right_tail[static_cast<std::size_t>(c)] -
                                            weights.last_score() - weights.log_tail() +
                                            content_[at(c, rows_.end)];
    for (std::int64_t m = std::min(top - 1, rows_.n); m > 0; --m) {
      const bool passes = m < rows_.n && row(rows_.emissions, c, m) != kNegativeInfinity;
      const double later =
          passes ? sums[static_cast<std::size_t>(m) + 1] + weights.log_tail() : kNegativeInfinity;
      sums[static_cast<std::size_t>(m)] = log_add(row(rows_.ends, c, m - 1) + content_[at(c, m)], later);
    }
    return sums;
  }

  const LocalRows& rows_;
  const ClaimTables& tables_;
  const ChainModel& model_;
  std::vector<double> content_;          // (C, n+1): S, forbidden positions left out
  std::vector<std::int64_t> free_from_;  // (C, n+1): the least s so that [s, i) has no forbidden position
  std::vector<std::int64_t> free_to_;    // (C, n+1): the largest e so that [i, e) has none
  std::vector<std::vector<double>> tail_ends_;  // per label, empty: not made yet
};

ClaimResult complete(double log_true) {
  log_true = std::min(log_true, 0.0);
  return {log_true, log_complement(log_true)};
}

// Whether a segment of `label` starts in the interval: both answers are sums of their own.
ClaimResult starts_claim(const LocalRows& rows, const ClaimTables& tables, int label) {
  LocalSums sums(rows, tables);
  const double found = sums.first_start(label);
  return {std::min(found, 0.0), std::min(sums.avoiding({Restriction::Starts::kAllBut, label, kEvery}), 0.0)};
}

// The probability that there is a boundary is 1 less a sum, unless that would cost its digits.
ClaimResult boundary_claim(LocalSums& sums) {
  const ClaimResult none = complete(sums.avoiding({Restriction::Starts::kNone, kEvery, kEvery}));
  if (none.log_true < std::log(0.5)) return {none.log_false, none.log_true};
  return {std::min(sums.first_start(kEvery), 0.0), none.log_true};
}

}  // namespace

LocalRows LocalRows::mirrored(std::size_t labels) const {
  LocalRows mirror = *this;
  mirror.begin = n - end;
  mirror.end = n - begin;
  mirror.starts = ends;
  mirror.ends = starts;
  mirror.start_scores = end_scores;
  mirror.end_scores = start_scores;
  mirror.left_tail = right_tail;
  mirror.right_tail = left_tail;
  for (std::vector<double>* rows :
       {&mirror.starts, &mirror.ends, &mirror.emissions, &mirror.start_scores, &mirror.end_scores}) {
    if (rows->empty()) continue;
    for (std::size_t c = 0; c < labels; ++c)
      std::reverse(rows->begin() + static_cast<std::ptrdiff_t>(c) * n,
                   rows->begin() + static_cast<std::ptrdiff_t>(c + 1) * n);
  }
  return mirror;
}

ClaimTables::ClaimTables(const ChainModel& chain) : model(chain) {
  for (int c = 0; c < chain.num_labels; ++c) durations.emplace_back(chain, c);
}

ClaimResult claim_result(const Claim& claim, const LocalRows& rows, const ClaimTables& tables,
                         const ClaimTables& mirror) {
  if (claim.kind == ClaimKind::kEnds)
    return starts_claim(rows.mirrored(static_cast<std::size_t>(mirror.model.num_labels)), mirror,
                        claim.label);
  if (claim.kind == ClaimKind::kStarts) return starts_claim(rows, tables, claim.label);
  LocalSums sums(rows, tables);
  if (claim.kind == ClaimKind::kBoundary) return boundary_claim(sums);
  if (claim.kind == ClaimKind::kNoBoundary) {
    const ClaimResult result = boundary_claim(sums);
    return {result.log_false, result.log_true};
  }
  if (claim.kind == ClaimKind::kSegment) return complete(sums.segment(claim.label));
  if (claim.kind == ClaimKind::kWithin) return complete(sums.within(claim.label));
  return complete(sums.avoiding({Restriction::Starts::kAll, kEvery, claim.label}));
}

}  // namespace semicrf
