// First durations: distributions with the moments of what was seen. A table starts as a negative binomial,
// which is smooth.
#include <algorithm>
#include <cmath>

#include "train/start/initial_parameters.h"

namespace semicrf {
namespace {

double mean_of(const std::vector<std::int64_t>& durations) {
  double sum = 0;
  for (const std::int64_t d : durations) sum += static_cast<double>(d);
  return sum / static_cast<double>(durations.size());
}

// A probability that never is 0 or 1.
double proper(double p) { return std::clamp(p, 1e-9, 1 - 1e-6); }

// q of the tail: mean excess over K of the segments seen there, and of one more that exceeds K by half the
// mean duration.
double tail_ratio(const std::vector<std::int64_t>& durations, int max_duration) {
  double excess = std::max(1.0, mean_of(durations) / 2);
  double count = 1;
  for (const std::int64_t d : durations) {
    if (d <= max_duration) continue;
    excess += static_cast<double>(d - max_duration);
    count += 1;
  }
  return proper(excess / (excess + count));
}

// (r, p) of a negative binomial for duration - 1 with the mean and variance seen.
std::pair<double, double> moments_of(const std::vector<std::int64_t>& durations) {
  const double mean = std::max(1e-3, mean_of(durations) - 1);
  // Two segments more that are spread like a geometric distribution: few examples look too regular.
  double squares = 2 * mean * (mean + 1);
  for (const std::int64_t d : durations) {
    const double difference = static_cast<double>(d) - 1 - mean;
    squares += difference * difference;
  }
  const double variance = squares / (static_cast<double>(durations.size()) + 2);
  // Hardly more variance than a Poisson distribution: a large r.
  const double r = variance > 1.01 * mean ? mean * mean / (variance - mean) : 100 * mean;
  return {std::clamp(r, 0.05, 1e4), proper(r / (r + mean))};
}

}  // namespace

void set_initial_durations(const DurationShape& shape, const PathCounts& counts, Parameters& parameters) {
  const std::size_t labels = parameters.labels.size();
  ChainModel& chain = parameters.chain;
  DurationSpec& spec = parameters.duration;
  chain.max_duration = shape.max_duration;
  spec.kind = shape.kind;
  for (std::size_t c = 0; c < labels; ++c) {
    const std::vector<std::int64_t>& durations = counts.durations[c];
    switch (shape.kind) {
      case DurationKind::kGeometric:
        spec.p.push_back(proper(1 / std::max(1.0, mean_of(durations))));
        break;
      case DurationKind::kTable:
      case DurationKind::kNegativeBinomial: {
        const auto [r, p] = moments_of(durations);
        spec.r.push_back(r);
        spec.p.push_back(p);
        break;
      }
      case DurationKind::kPoisson:
        spec.lambda.push_back(mean_of(durations));
        break;
      case DurationKind::kUniform:
        break;
    }
    if (!shape.tail) continue;
    const bool continues = shape.kind == DurationKind::kGeometric;
    spec.tail.push_back(continues ? continued_tail(spec.p[c]) : tail_ratio(durations, shape.max_duration));
  }
  if (shape.kind == DurationKind::kTable) spec.kind = DurationKind::kNegativeBinomial;
  chain.duration_bias = duration_table(spec, shape.max_duration, chain.num_labels);
  if (shape.kind == DurationKind::kTable) {
    spec.kind = shape.kind;
    spec.r.clear();
    spec.p.clear();
    // A linear chain has nothing to say about durations.
    if (shape.max_duration == 1 && !shape.tail) chain.duration_bias.assign(labels, 0.0);
  }
  chain.log_tail = tail_scores(spec);
}

}  // namespace semicrf
