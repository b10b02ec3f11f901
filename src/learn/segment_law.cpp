#include "learn/segment_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/error.h"
#include "core/golden_section.h"
#include "core/row_view.h"
#include "core/sizes.h"

namespace semicrf {
namespace {

constexpr double kLeastLeft = 1e-6;  // least 1 - q of a tail
constexpr double kSeldom = 1e-9;     // counts below this are none

// The point in [low, high] where f is largest, f having one maximum; to 1e-7 of the interval.
template <class Function>
double maximum(double low, double high, Function f) {
  return golden_section(low, high, 1e-7 * (high - low), f, std::greater<>());
}

// Probabilities of 1..K of the negative binomial with this mean and size; with a tail, the last is that of K
// or more, else all are divided by their sum.
std::vector<double> negative_binomial(double mean, double size, std::size_t longest, bool tail) {
  const double excess = std::max(mean - 1, 1e-6);
  const double go_on = excess / (excess + size);
  std::vector<double> p(longest);
  double log_p = size * std::log(size / (excess + size));
  double sum = 0;
  for (std::size_t k = 0; k < longest; ++k) {
    p[k] = std::exp(log_p);
    sum += p[k];
    log_p += std::log((size + static_cast<double>(k)) / static_cast<double>(k + 1) * go_on);
  }
  if (tail) p.back() = std::max(kFloor, 1 - (sum - p.back()));
  sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value = std::max(value / sum, kFloor);
  sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
  return p;
}

double log_likelihood(const std::vector<double>& counts, const std::vector<double>& p) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) sum += counts[i] * std::log(p[i]);
  return sum;
}

// The likeliest negative binomial.
std::vector<double> fit_negative_binomial(const std::vector<double>& counts, double mean, bool tail) {
  const std::size_t longest = counts.size();
  const double high = std::log(std::max(2.0, 4 * std::max(mean, static_cast<double>(longest))));
  const auto best_mean = [&](double log_size) {
    return maximum(std::log(1.0001), high, [&](double log_mean) {
      return log_likelihood(counts, negative_binomial(std::exp(log_mean), std::exp(log_size), longest, tail));
    });
  };
  const double log_size = maximum(std::log(0.05), std::log(1e4), [&](double log_size_now) {
    return log_likelihood(
        counts, negative_binomial(std::exp(best_mean(log_size_now)), std::exp(log_size_now), longest, tail));
  });
  return negative_binomial(std::exp(best_mean(log_size)), std::exp(log_size), longest, tail);
}

// Likeliest probabilities of the entries that are allowed; 0 for the others.
template <class IsAllowed>
std::vector<double> likeliest_allowed(const std::vector<double>& counts, IsAllowed is_allowed) {
  std::vector<double> allowed;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (is_allowed(i)) allowed.push_back(counts[i]);
  allowed = likeliest(allowed);
  std::vector<double> p(counts.size());
  for (std::size_t i = 0, next = 0; i < counts.size(); ++i)
    if (is_allowed(i)) p[i] = allowed[next++];
  return p;
}

}  // namespace

// How long the segments of a label are in a chain: as its table and tail say, or geometric.
struct SegmentLaw::LabelDurations {
  const ChainModel& chain;
  int label;
  double q;  // that a segment which is longer than the table goes on by one more bin
  bool geometric;

  int table() const { return geometric ? 1 : chain.max_duration; }
  double table_probability(int k) const {
    return geometric ? 1 - q : std::exp(chain.duration_score(k, label));
  }
  double probability(std::int64_t k) const {
    if (k <= table()) return table_probability(static_cast<int>(k));
    return table_probability(table()) * std::pow(q, k - table());
  }
  // The mean of d - k over durations d of k bins or more.
  double mean_excess(int k) const {
    if (k >= table()) return q / (1 - q);
    double sum = 0, weighted = 0;
    for (int d = k; d <= table(); ++d) {
      sum += table_probability(d);
      weighted += (d - k) * table_probability(d);
    }
    const double tail = table_probability(table()) * q / (1 - q);
    sum += tail;
    weighted += tail * (table() - k + 1 / (1 - q));
    return sum > 0 ? weighted / sum : 0;
  }
};

std::vector<double> likeliest(const std::vector<double>& counts) {
  std::vector<bool> at_floor(counts.size(), false);
  std::vector<double> p(counts.size());
  // What would fall below the floor stays on it; the others share the rest. Each round takes some down.
  for (bool again = true; again;) {
    again = false;
    double total = 0;
    std::size_t low = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) at_floor[i] ? void(++low) : void(total += counts[i]);
    const double share = (1 - static_cast<double>(low) * kFloor) / total;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      p[i] = at_floor[i] ? kFloor : counts[i] * share;
      if (p[i] >= kFloor) continue;
      at_floor[i] = true;
      again = true;
    }
  }
  return p;
}

std::optional<LawKind> law_from_name(std::string_view name) {
  if (name == "table") return LawKind::kTable;
  if (name == "geometric") return LawKind::kGeometric;
  if (name == "negative-binomial" || name == "negative_binomial") return LawKind::kNegativeBinomial;
  return std::nullopt;
}

int LawOptions::least_duration() const {
  return shortest.empty() ? min_duration : std::ranges::min(shortest);
}

SegmentLaw::SegmentLaw(const LawOptions& options, int labels)
    : kind_(options.durations.value_or(LawKind::kTable)),
      labels_(labels),
      shortest_(options.shortest),
      tail_(options.tail || !options.max_duration || kind_ == LawKind::kGeometric),
      self_transitions_(options.self_transitions),
      tied_(options.tied) {
  if (shortest_.empty()) shortest_.assign(labels, options.min_duration);
  const int longest_shortest = std::ranges::max(shortest_);
  const int usual =
      kind_ == LawKind::kGeometric ? longest_shortest : std::max(kDefaultDuration, longest_shortest);
  max_duration_ = options.max_duration.value_or(usual);
  if (longest_shortest > max_duration_)
    throw UsageError(fmt::format("--min-duration {} is more than the longest duration, {} bins",
                                 longest_shortest, max_duration_),
                     "give a --max-duration of at least as much");
  if (tied_ && std::ranges::min(shortest_) != longest_shortest)
    throw UsageError("--tie durations has one law, and so one --min-duration, for all labels",
                     "give --min-duration N without a label");
  if (labels == 1 && !self_transitions_)
    throw UsageError("one label alone has no other to follow it",
                     "give --labels 2 or more, or --self-transitions");
}

ChainModel SegmentLaw::first(double mean_duration) const {
  ChainModel chain;
  chain.num_labels = labels_;
  chain.max_duration = max_duration_;
  chain.initial = InitialTerm::kNone;
  const std::size_t labels = labels_;
  chain.start_scores.assign(labels, -std::log(labels));
  chain.end_scores.assign(labels, 0.0);
  const double others = self_transitions_ ? labels_ : labels_ - 1;
  chain.transition.assign(labels * labels, -std::log(others));
  const RowView transition(chain.transition, labels_);
  for (int c = 0; c < labels_ && !self_transitions_; ++c) transition(c, c) = kNegativeInfinity;
  // Geometric durations from the label's shortest one on.
  chain.duration_bias.assign(max_duration_ * labels, kNegativeInfinity);
  const RowView durations(chain.duration_bias, labels_);
  if (tail_) chain.log_tail.resize(labels);
  for (int c = 0; c < labels_; ++c) {
    const int before = shortest_[c] - 1;
    const double q = 1 - 1 / std::max(1.05, mean_duration - before);
    double left = 1;  // 1 - q^(number of durations), without a tail
    if (!tail_) left = -std::expm1((max_duration_ - before) * std::log(q));
    for (int k = before; k < max_duration_; ++k)
      durations(k, c) = std::log(1 - q) + (k - before) * std::log(q) - std::log(left);
    if (tail_) chain.log_tail[c] = std::log(q);
  }
  return chain;
}

ChainModel SegmentLaw::reshaped(const ChainModel& chain) const {
  ChainModel made = first(1);
  made.start_scores = chain.start_scores;
  made.end_scores = chain.end_scores;
  made.transition = chain.transition;
  for (int c = 0; c < labels_; ++c) {
    const double stay = chain.transition_at(c, c);
    if (stay > kNegativeInfinity && (chain.max_duration > 1 || chain.has_tail()))
      throw InputError({"", "", "the --init parameters have segments that follow others of their label",
                        "leave --duration, --max-duration and --tail out: durations stay as they are"});
    const double q = stay > kNegativeInfinity ? std::exp(stay)
                     : chain.has_tail()       ? std::exp(chain.log_tail[c])
                                              : 0;
    const LabelDurations durations{chain, c, std::min(q, 1 - kLeastLeft), stay > kNegativeInfinity};
    reshape_durations(durations, c, made);
    if (!self_transitions_ && stay > kNegativeInfinity) leave_always(c, made);
  }
  return made;
}

void SegmentLaw::reshape_durations(const LabelDurations& durations, int label, ChainModel& chain) const {
  std::vector<double> p(max_duration_);
  double beyond = 1;  // P(K bins or more)
  for (int k = 0; k < max_duration_; ++k) {
    p[k] = std::max(durations.probability(k + 1), kFloor);
    if (k + 1 < max_duration_) beyond -= p[k];
  }
  beyond = std::max(beyond, kFloor);
  if (tail_) {
    const double excess = durations.mean_excess(max_duration_);
    const double q = std::clamp(excess / (1 + excess), kLeastLeft, 1 - kLeastLeft);
    chain.log_tail[label] = std::log(q);
    p.back() = beyond * (1 - q);
  }
  const double left = tail_ ? beyond - p.back() : 0;
  std::fill_n(p.begin(), shortest_[label] - 1, 0.0);
  const double sum = std::accumulate(p.begin(), p.end(), left);
  const RowView scores(chain.duration_bias, labels_);
  for (int k = 0; k < max_duration_; ++k) scores(k, label) = std::log(p[k] / sum);
}

// The other labels share what `label` had of following itself.
void SegmentLaw::leave_always(int label, ChainModel& chain) const {
  const std::span<double> row = RowView(chain.transition, labels_).row(label);
  row[label] = kNegativeInfinity;
  double sum = 0;
  for (const double score : row) sum += std::exp(score);
  for (int to = 0; to < labels_; ++to) {
    if (to == label) continue;
    row[to] = sum > 0 ? row[to] - std::log(sum) : -std::log(labels_ - 1);
  }
}

void SegmentLaw::maximize(const ParameterGradient& counts, ChainModel& chain,
                          const FrozenParts& frozen) const {
  const std::size_t labels = labels_;
  // A distribution over labels.
  const auto set = [&](const double* of, double* scores) {
    std::vector<double> seen(labels);
    for (std::size_t c = 0; c < labels; ++c)
      seen[c] = scores[c] > kNegativeInfinity ? std::max(0.0, of[c]) : 0;
    if (std::accumulate(seen.begin(), seen.end(), 0.0) < kSeldom) return;
    const std::vector<double> p =
        likeliest_allowed(seen, [&](std::size_t c) { return scores[c] > kNegativeInfinity; });
    for (std::size_t c = 0; c < labels; ++c) scores[c] = std::log(p[c]);
  };
  if (!frozen.start) set(counts.start.data(), chain.start_scores.data());
  for (std::size_t from = 0; from < labels && !frozen.transition; ++from)
    set(&counts.transition[from * labels], &chain.transition[from * labels]);
  if (frozen.duration) return;
  // Where labels share a law, each has the counts of all.
  const RowView durations(counts.duration, labels_);
  std::vector<double> seen(chain.max_duration);
  double beyond = 0;
  for (int c = 0; c < labels_; ++c) {
    if (!tied_) {
      std::ranges::fill(seen, 0.0);
      beyond = 0;
    }
    for (int k = 0; k < chain.max_duration; ++k) seen[k] += std::max(0.0, durations(k, c));
    if (chain.has_tail()) beyond += std::max(0.0, counts.tail[c]);
    if (!tied_) maximize_durations(seen, beyond, c, chain);
  }
  for (int c = 0; c < labels_ && tied_; ++c) maximize_durations(seen, beyond, c, chain);
}

void SegmentLaw::maximize_durations(const std::vector<double>& seen, double beyond, int label,
                                    ChainModel& chain) const {
  const int longest = chain.max_duration;
  const RowView scores(chain.duration_bias, labels_);
  const bool tail = tail_ && chain.log_tail[label] > kNegativeInfinity;
  double segments = 0, bins = 0;
  for (int k = 0; k < longest; ++k) {
    segments += seen[k];
    bins += (k + 1) * seen[k];
  }
  if (segments < kSeldom) return;
  if (!tail) beyond = 0;
  bins += beyond;
  // Formulas say how many bins segments have after the first `before`.
  const int before = shortest_[label] - 1;
  bins -= before * segments;
  if (kind_ == LawKind::kGeometric) {
    const double q = std::clamp(1 - segments / bins, kLeastLeft, 1 - kLeastLeft);
    for (int k = before; k < longest; ++k) scores(k, label) = std::log(1 - q) + (k - before) * std::log(q);
    chain.log_tail[label] = std::log(q);
    return;
  }
  std::vector<double> p;
  if (kind_ == LawKind::kTable) {
    p = likeliest_allowed(seen, [&](std::int64_t k) { return scores(k, label) > kNegativeInfinity; });
  } else {
    p = fit_negative_binomial({seen.data() + before, seen.data() + seen.size()}, bins / segments, tail);
    p.insert(p.begin(), before, 0.0);
    // Never worse than what there is.
    std::vector<double> old(longest);
    for (int k = before; k < longest; ++k) old[k] = std::exp(scores(k, label));
    if (tail) old.back() /= -std::expm1(chain.log_tail[label]);
    if (log_likelihood(seen, p) < log_likelihood(seen, old)) p = old;
  }
  double last = std::log(p.back());
  if (tail) {
    const double at_end = seen.back();
    if (at_end > kSeldom) {
      const double q = std::clamp(beyond / (at_end + beyond), kLeastLeft, 1 - kLeastLeft);
      chain.log_tail[label] = std::log(q);
    }
    last += std::log(-std::expm1(chain.log_tail[label]));
  }
  for (int k = 0; k + 1 < longest; ++k) scores(k, label) = std::log(p[k]);
  scores(longest - 1, label) = last;
}

int SegmentLaw::free_parameters(const FrozenParts& frozen) const {
  const int rows = self_transitions_ ? labels_ - 1 : labels_ - 2;
  int durations = 0;
  for (std::size_t c = 0; c < (tied_ ? 1 : shortest_.size()); ++c) {
    const int of_table = max_duration_ - shortest_[c] + (tail_ ? 1 : 0);
    durations += kind_ == LawKind::kGeometric          ? 1
                 : kind_ == LawKind::kNegativeBinomial ? std::min(of_table, 2 + (tail_ ? 1 : 0))
                                                       : of_table;
  }
  return (frozen.start ? 0 : labels_ - 1) + labels_ * (frozen.transition ? 0 : rows) +
         (frozen.duration ? 0 : durations);
}

}  // namespace semicrf
