#include "model/durations/duration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace semicrf {

std::optional<DurationKind::ContinuedTail> DurationSpec::continued_tail(std::size_t label) const {
  if (tail.empty() || tail[label] == 0 || kind->is_table()) return std::nullopt;
  const auto continued = kind->continued_tail(values[label]);
  return continued && continued->q == tail[label] ? continued : std::nullopt;
}

std::vector<double> duration_table(const DurationSpec& spec, int max_duration, int num_labels) {
  const std::size_t labels = num_labels, rows = max_duration;
  std::vector<double> table(rows * labels);
  for (std::size_t c = 0; c < labels; ++c) spec.kind->fill(spec.values[c], {table.data() + c, labels, rows});
  return table;
}

std::vector<double> tail_scores(const DurationSpec& spec) {
  if (std::none_of(spec.tail.begin(), spec.tail.end(), [](double q) { return q > 0; })) return {};
  std::vector<double> scores(spec.tail.size(), kNegativeInfinity);
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (spec.tail[c] <= 0) continue;
    const auto continued = spec.continued_tail(c);
    scores[c] = continued ? continued->log_q : std::log(spec.tail[c]);
  }
  return scores;
}

DurationSummary summarize_durations(const ChainModel& chain, int label) {
  DurationSummary summary;
  double best = kNegativeInfinity;
  for (int k = 1; k <= chain.max_duration; ++k) {
    const double score = chain.duration_score(k, label);
    if (score == kNegativeInfinity) continue;
    if (summary.shortest == 0) summary.shortest = k;
    summary.longest = k;
    if (score > best) {
      best = score;
      summary.most_likely = k;
    }
  }
  double mass = 0;
  double weighted = 0;
  double last = 0;  // weight of duration K
  for (int k = 1; k <= chain.max_duration; ++k) {
    last = std::exp(chain.duration_score(k, label) - best);
    if (best == kNegativeInfinity) last = 0;
    mass += last;
    weighted += last * k;
  }
  const double log_q = chain.has_tail() ? chain.log_tail[label] : kNegativeInfinity;
  if (log_q != kNegativeInfinity) {
    // Sums over j >= 1 of last q^j and of (K + j) last q^j.
    const double odds = std::exp(log_q) / -std::expm1(log_q);
    const double tail = last * odds;
    weighted += tail * (chain.max_duration + 1 / -std::expm1(log_q));
    mass += tail;
    summary.tail_mass = tail / mass;
  }
  summary.mean = weighted / mass;
  return summary;
}

SeenDurations seen_durations(std::vector<std::int64_t> durations) {
  SeenDurations seen;
  if (durations.empty()) return seen;
  std::sort(durations.begin(), durations.end());
  const auto at = [&](double share) {
    return durations[std::lround(share * static_cast<double>(durations.size() - 1))];
  };
  seen.segments = std::ssize(durations);
  seen.mean = mean_duration(durations);
  seen.low = at(0.05);
  seen.median = at(0.5);
  seen.high = at(0.95);
  return seen;
}

}  // namespace semicrf
