// First durations: what was seen, spread out.
#include <algorithm>
#include <cmath>
#include <map>

#include "train/initial_parameters.h"

namespace semicrf {
namespace {

constexpr double kBandwidth = 0.3;  // of the spread of a seen duration, on the scale of log durations
constexpr double kFloor = 1e-3;     // share of the probability that every duration gets, together

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

// One column: every seen duration spread as a Gaussian of its logarithm.
void fill_table_column(const std::vector<std::int64_t>& durations, std::size_t label, std::size_t labels,
                       std::vector<double>& table) {
  const auto longest = static_cast<std::int64_t>(table.size() / labels);
  std::map<std::int64_t, double> seen;
  for (const std::int64_t d : durations) seen[d] += 1;
  std::vector<double> mass(static_cast<std::size_t>(longest), 0.0);
  for (const auto& [duration, count] : seen) {
    const double centre = std::log(static_cast<double>(duration));
    const auto low = static_cast<std::int64_t>(std::exp(centre - 5 * kBandwidth));
    const auto high = static_cast<std::int64_t>(std::exp(centre + 5 * kBandwidth)) + 1;
    const auto density = [&](std::int64_t k) {
      const double z = (std::log(static_cast<double>(k)) - centre) / kBandwidth;
      return std::exp(-0.5 * z * z) / static_cast<double>(k);
    };
    double total = 0;
    for (std::int64_t k = std::max<std::int64_t>(1, low); k <= high; ++k) total += density(k);
    for (std::int64_t k = std::max<std::int64_t>(1, low); k <= std::min(high, longest); ++k)
      mass[static_cast<std::size_t>(k - 1)] += count * density(k) / total;
  }
  const auto whole = static_cast<double>(durations.size());
  for (std::size_t k = 0; k < mass.size(); ++k)
    table[k * labels + label] =
        std::log((1 - kFloor) * mass[k] / whole + kFloor / static_cast<double>(longest));
}

// (r, p) of a negative binomial for duration - 1 with the mean and variance seen.
std::pair<double, double> moments_of(const std::vector<std::int64_t>& durations) {
  const double mean = std::max(1e-3, mean_of(durations) - 1);
  double squares = 0;
  for (const std::int64_t d : durations) {
    const double difference = static_cast<double>(d) - 1 - mean;
    squares += difference * difference;
  }
  const double variance = squares / static_cast<double>(durations.size());
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
  if (shape.kind == DurationKind::kTable)
    chain.duration_bias.assign(static_cast<std::size_t>(shape.max_duration) * labels, 0.0);
  for (std::size_t c = 0; c < labels; ++c) {
    const std::vector<std::int64_t>& durations = counts.durations[c];
    switch (shape.kind) {
      case DurationKind::kTable:
        // A linear chain has nothing to say about durations.
        if (shape.max_duration > 1 || shape.tail)
          fill_table_column(durations, c, labels, chain.duration_bias);
        break;
      case DurationKind::kGeometric:
        spec.p.push_back(proper(1 / std::max(1.0, mean_of(durations))));
        break;
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
  if (shape.kind != DurationKind::kTable)
    chain.duration_bias = duration_table(spec, shape.max_duration, chain.num_labels);
  chain.log_tail = tail_scores(spec);
}

}  // namespace semicrf
