#include "model/duration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "core/compensated_sum.h"

namespace semicrf {
namespace {

constexpr std::array<std::pair<DurationKind, std::string_view>, 5> kKindNames{{
    {DurationKind::kTable, "table"},
    {DurationKind::kGeometric, "geometric"},
    {DurationKind::kNegativeBinomial, "negative_binomial"},
    {DurationKind::kPoisson, "poisson"},
    {DurationKind::kUniform, "uniform"},
}};

// Column `label` of a table whose differences are step(k) = bias(k) - bias(k-1), k >= 2.
template <class Step>
void fill_column(std::vector<double>& table, std::size_t labels, std::size_t label, double first, Step step) {
  CompensatedSum sum(first);
  table[label] = first;
  double k = 2;
  for (std::size_t i = labels + label; i < table.size(); i += labels, k += 1) {
    sum.add(step(k));
    table[i] = sum.value();
  }
}

void fill_negative_binomial(std::vector<double>& table, std::size_t labels, std::size_t label, double r,
                            double p) {
  const double log_continue = std::log1p(-p);
  CompensatedSum combinations;  // lgamma(k+r-1) - lgamma(r) - lgamma(k)
  const double first = r * std::log(p);
  double k = 1;
  for (std::size_t i = label; i < table.size(); i += labels, k += 1) {
    if (k > 1) combinations.add(std::log((r + (k - 2)) / (k - 1)));
    table[i] = first + (combinations.value() + (k - 1) * log_continue);
  }
}

}  // namespace

std::string_view duration_kind_name(DurationKind kind) {
  for (const auto& [value, name] : kKindNames) {
    if (value == kind) return name;
  }
  throw std::logic_error("unknown duration kind");
}

std::optional<DurationKind> duration_kind_from_name(std::string_view name) {
  for (const auto& [value, known] : kKindNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::vector<double> duration_table(const DurationSpec& spec, int max_duration, int num_labels) {
  const auto labels = static_cast<std::size_t>(num_labels);
  std::vector<double> table(static_cast<std::size_t>(max_duration) * labels, 0.0);
  for (std::size_t c = 0; c < labels; ++c) {
    switch (spec.kind) {
      case DurationKind::kGeometric: {
        const double log_continue = std::log1p(-spec.p[c]);
        const double log_stop = std::log(spec.p[c]);
        double k = 1;
        for (std::size_t i = c; i < table.size(); i += labels, k += 1)
          table[i] = (k - 1) * log_continue + log_stop;
        break;
      }
      case DurationKind::kNegativeBinomial:
        fill_negative_binomial(table, labels, c, spec.r[c], spec.p[c]);
        break;
      case DurationKind::kPoisson: {
        const double log_lambda = std::log(spec.lambda[c]);
        fill_column(table, labels, c, log_lambda - spec.lambda[c],
                    [&](double k) { return log_lambda - std::log(k); });
        break;
      }
      case DurationKind::kUniform:
        break;
      case DurationKind::kTable:
        throw std::logic_error("a duration table has no formula");
    }
  }
  return table;
}

std::vector<double> tail_scores(const DurationSpec& spec) {
  if (std::none_of(spec.tail.begin(), spec.tail.end(), [](double q) { return q > 0; })) return {};
  std::vector<double> scores(spec.tail.size(), kNegativeInfinity);
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const double q = spec.tail[c];
    if (q <= 0) continue;
    const bool continues = spec.kind == DurationKind::kGeometric && q == continued_tail(spec.p[c]);
    scores[c] = continues ? std::log1p(-spec.p[c]) : std::log(q);
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
  const double log_q = chain.has_tail() ? chain.log_tail[static_cast<std::size_t>(label)] : kNegativeInfinity;
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

}  // namespace semicrf
