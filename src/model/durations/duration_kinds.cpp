#include "model/durations/duration_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "core/compensated_sum.h"
#include "core/counts.h"

namespace semicrf {
namespace {

// Sum over durations k of by_scores[k-1] slope(k).
template <class Slope>
double sum_slopes(DurationColumn<const double> by_scores, Slope slope) {
  double sum = 0;
  double k = 1;
  for (std::size_t i = 0; i < by_scores.count; ++i, k += 1) sum += by_scores[i] * slope(k);
  return sum;
}

class Table final : public DurationKind {
 public:
  std::string_view name() const override { return "table"; }
  bool is_table() const override { return true; }
  void fill(std::span<const double>, DurationColumn<double>) const override {
    throw std::logic_error("a duration table has no formula");
  }
};

// log p + (k-1) log(1-p)
class Geometric final : public DurationKind {
 public:
  std::string_view name() const override { return "geometric"; }
  std::span<const Parameter> parameters() const override {
    static constexpr std::array<Parameter, 1> kParameters{{{"p", true}}};
    return kParameters;
  }
  void fill(std::span<const double> values, DurationColumn<double> scores) const override {
    const double log_continue = std::log1p(-values[0]);
    const double log_stop = std::log(values[0]);
    double k = 1;
    for (std::size_t i = 0; i < scores.count; ++i, k += 1) scores[i] = (k - 1) * log_continue + log_stop;
  }
  double derivative(std::span<const double> values, std::size_t,
                    DurationColumn<const double> by_scores) const override {
    const double p = values[0];
    return sum_slopes(by_scores, [p](double k) { return (1 - p) - (k - 1) * p; });
  }
  std::vector<double> estimate(std::span<const std::int64_t> durations) const override {
    return {clamped_probability(1 / std::max(1.0, mean_duration(durations)))};
  }
  std::optional<ContinuedTail> continued_tail(std::span<const double> values) const override {
    return ContinuedTail{1.0 - values[0], std::log1p(-values[0]), -values[0]};
  }
};

// lgamma(k+r-1) - lgamma(r) - lgamma(k) + r log p + (k-1) log(1-p): of k-1.
class NegativeBinomial final : public DurationKind {
 public:
  std::string_view name() const override { return "negative_binomial"; }
  std::span<const Parameter> parameters() const override {
    static constexpr std::array<Parameter, 2> kParameters{{{"r", false}, {"p", true}}};
    return kParameters;
  }
  // The differences of lgamma are summed as logarithms with compensation, so that large r lose no digits.
  void fill(std::span<const double> values, DurationColumn<double> scores) const override {
    const double r = values[0], log_continue = std::log1p(-values[1]);
    CompensatedSum combinations;  // lgamma(k+r-1) - lgamma(r) - lgamma(k)
    const double first = r * std::log(values[1]);
    double k = 1;
    for (std::size_t i = 0; i < scores.count; ++i, k += 1) {
      if (k > 1) combinations.add(std::log((r + (k - 2)) / (k - 1)));
      scores[i] = first + (combinations.value() + (k - 1) * log_continue);
    }
  }
  double derivative(std::span<const double> values, std::size_t parameter,
                    DurationColumn<const double> by_scores) const override {
    const double r = values[0], p = values[1];
    if (parameter == 1) return sum_slopes(by_scores, [=](double k) { return r * (1 - p) - (k - 1) * p; });
    double harmonic = 0;  // digamma(k+r-1) - digamma(r)
    return sum_slopes(by_scores, [=, &harmonic](double k) {
      if (k > 1) harmonic += 1 / (r + (k - 2));
      return r * (harmonic + std::log(p));
    });
  }
  std::vector<double> estimate(std::span<const std::int64_t> durations) const override {
    const double mean = std::max(1e-3, mean_duration(durations) - 1);
    // Two segments more that are spread like a geometric distribution: few examples look too regular.
    double squares = 2 * mean * (mean + 1);
    for (const std::int64_t d : durations) {
      const double difference = static_cast<double>(d) - 1 - mean;
      squares += difference * difference;
    }
    const double variance = squares / (static_cast<double>(durations.size()) + 2);
    // Hardly more variance than a Poisson distribution: a large r.
    const double r = variance > 1.01 * mean ? mean * mean / (variance - mean) : 100 * mean;
    return {std::clamp(r, 0.05, 1e4), clamped_probability(r / (r + mean))};
  }
};

// k log lambda - lgamma(k+1) - lambda
class Poisson final : public DurationKind {
 public:
  std::string_view name() const override { return "poisson"; }
  std::span<const Parameter> parameters() const override {
    static constexpr std::array<Parameter, 1> kParameters{{{"lambda", false}}};
    return kParameters;
  }
  // Summed from duration to duration with compensation, so that large lambda lose no digits.
  void fill(std::span<const double> values, DurationColumn<double> scores) const override {
    const double log_lambda = std::log(values[0]);
    CompensatedSum sum(log_lambda - values[0]);
    double k = 1;
    for (std::size_t i = 0; i < scores.count; ++i, k += 1) {
      if (k > 1) sum.add(log_lambda - std::log(k));
      scores[i] = sum.value();
    }
  }
  double derivative(std::span<const double> values, std::size_t,
                    DurationColumn<const double> by_scores) const override {
    const double lambda = values[0];
    return sum_slopes(by_scores, [lambda](double k) { return k - lambda; });
  }
  std::vector<double> estimate(std::span<const std::int64_t> durations) const override {
    return {mean_duration(durations)};
  }
};

// 0
class Uniform final : public DurationKind {
 public:
  std::string_view name() const override { return "uniform"; }
  void fill(std::span<const double>, DurationColumn<double> scores) const override {
    for (std::size_t i = 0; i < scores.count; ++i) scores[i] = 0;
  }
};

constexpr double kSpread = 0.2;        // a duration is spread by this share on both sides
constexpr double kLeastChance = 1e-9;  // least probability of staying, and of leaving
constexpr double kSegmentsBeside = 1;  // spread over all durations

// Adds 1 to `counts` (index d - 1), over the durations from 1 to counts.size() within a fifth of `seen`.
void add_spread(std::int64_t seen, std::vector<double>& counts) {
  const double width = 1 + std::floor(kSpread * static_cast<double>(seen));
  const auto share = [&](std::int64_t d) { return 1 - std::fabs(d - seen) / width; };
  const std::int64_t reach = static_cast<std::int64_t>(width) - 1;
  const std::int64_t low = std::max<std::int64_t>(1, seen - reach),
                     high = std::min<std::int64_t>(std::ssize(counts), seen + reach);
  double sum = 0;
  for (std::int64_t d = low; d <= high; ++d) sum += share(d);
  for (std::int64_t d = low; d <= high; ++d) counts[d - 1] += share(d) / sum;
}

}  // namespace

double DurationKind::derivative(std::span<const double>, std::size_t, DurationColumn<const double>) const {
  throw std::logic_error("durations of this kind have no parameters");
}
std::vector<double> DurationKind::estimate(std::span<const std::int64_t>) const { return {}; }
std::optional<DurationKind::ContinuedTail> DurationKind::continued_tail(std::span<const double>) const {
  return std::nullopt;
}

const DurationKind& table_durations() {
  static const Table table;
  return table;
}

std::span<const DurationKind* const> duration_kinds() {
  static const Geometric geometric;
  static const NegativeBinomial negative_binomial;
  static const Poisson poisson;
  static const Uniform uniform;
  static const std::array<const DurationKind*, 5> kinds{&table_durations(), &geometric, &negative_binomial,
                                                        &poisson, &uniform};
  return kinds;
}

const DurationKind* find_duration_kind(std::string_view name) {
  for (const DurationKind* kind : duration_kinds())
    if (kind->name() == name) return kind;
  return nullptr;
}

double mean_duration(std::span<const std::int64_t> durations) {
  double sum = 0;
  for (const std::int64_t d : durations) sum += static_cast<double>(d);
  return ratio(sum, durations.size());
}

double clamped_probability(double p) { return std::clamp(p, 1e-9, 1 - 1e-6); }

FittedDurations fit_durations(std::span<const std::int64_t> seen, int max_duration) {
  std::vector<double> counts(max_duration - 1, 0.0);
  double long_ones = 0, beyond = 0;  // segments of K bins or more, and their bins beyond K
  for (const std::int64_t duration : seen) {
    if (duration < max_duration) {
      add_spread(duration, counts);
    } else {
      long_ones += 1;
      beyond += static_cast<double>(duration - max_duration);
    }
  }
  double harmonic = 0;
  for (int k = 1; k <= max_duration; ++k) harmonic += 1.0 / k;
  const auto beside = [&](int k) { return kSegmentsBeside / (k * harmonic); };
  const double total = static_cast<double>(seen.size()) + kSegmentsBeside;
  FittedDurations fitted;
  // The segment more of the tail is K bins beyond K, or as many as the others of the mean.
  const double mean_beyond = long_ones > 0 ? beyond / long_ones : max_duration;
  const double excess = (beyond + std::max(mean_beyond, 1.0)) / (long_ones + 1);
  fitted.tail = excess / (1 + excess);
  for (int k = 1; k < max_duration; ++k)
    fitted.log_probability.push_back(std::log((counts[k - 1] + beside(k)) / total));
  fitted.log_probability.push_back(std::log((long_ones + beside(max_duration)) / total) +
                                   std::log1p(-fitted.tail));
  return fitted;
}

FittedDurations staying_durations(double stay, int max_duration) {
  FittedDurations fitted;
  fitted.tail = std::clamp(stay, kLeastChance, 1 - kLeastChance);
  for (int k = 0; k < max_duration; ++k)
    fitted.log_probability.push_back(std::log1p(-fitted.tail) + k * std::log(fitted.tail));
  return fitted;
}

std::int64_t duration_quantile(std::vector<std::int64_t> durations, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(durations.size()))) - 1;
  const auto place = durations.begin() + std::clamp<std::ptrdiff_t>(rank, 0, std::ssize(durations) - 1);
  std::nth_element(durations.begin(), place, durations.end());
  return *place;
}

}  // namespace semicrf
