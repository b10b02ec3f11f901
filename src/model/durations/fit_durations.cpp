#include "model/durations/fit_durations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace semicrf {
namespace {

constexpr double kSpread = 0.2;        // a duration is spread by this share on both sides
constexpr double kLeastChance = 1e-9;  // least probability of staying, and of leaving
constexpr double kSegmentsBeside = 1;  // spread over all durations

// Adds 1 to `counts` (index d - 1), over the durations from 1 to counts.size() within a fifth of `seen`.
void add_spread(std::int64_t seen, std::vector<double>& counts) {
  const double width = 1 + std::floor(kSpread * static_cast<double>(seen));
  const auto share = [&](std::int64_t d) { return 1 - std::fabs(static_cast<double>(d - seen)) / width; };
  const std::int64_t reach = static_cast<std::int64_t>(width) - 1;
  const std::int64_t low = std::max<std::int64_t>(1, seen - reach),
                     high = std::min<std::int64_t>(std::ssize(counts), seen + reach);
  double sum = 0;
  for (std::int64_t d = low; d <= high; ++d) sum += share(d);
  for (std::int64_t d = low; d <= high; ++d) counts[static_cast<std::size_t>(d - 1)] += share(d) / sum;
}

}  // namespace

FittedDurations fit_durations(std::span<const std::int64_t> seen, int max_duration) {
  const auto longest = static_cast<std::size_t>(max_duration);
  std::vector<double> counts(longest - 1, 0.0);
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
  for (std::size_t k = 1; k <= longest; ++k) harmonic += 1 / static_cast<double>(k);
  const auto beside = [&](std::size_t k) { return kSegmentsBeside / (static_cast<double>(k) * harmonic); };
  const double total = static_cast<double>(seen.size()) + kSegmentsBeside;
  FittedDurations fitted;
  // The segment more of the tail is K bins beyond K, or as many as the others of the mean.
  const double mean_beyond = long_ones > 0 ? beyond / long_ones : static_cast<double>(max_duration);
  const double excess = (beyond + std::max(mean_beyond, 1.0)) / (long_ones + 1);
  fitted.tail = excess / (1 + excess);
  for (std::size_t k = 1; k < longest; ++k)
    fitted.log_probability.push_back(std::log((counts[k - 1] + beside(k)) / total));
  fitted.log_probability.push_back(std::log((long_ones + beside(longest)) / total) +
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
