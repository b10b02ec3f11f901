#include "eval/metrics/reliability.h"

#include <algorithm>
#include <cmath>

#include "eval/metrics/ratio.h"

namespace semicrf {
namespace {

// Deviations of a normal distribution within which 95 % lie.
constexpr double kDeviations = 1.959963984540054;

// Centre of Wilson's interval plus `sign` times half its width.
double wilson(const ReliabilityBin& bin, double sign) {
  const double n = static_cast<double>(bin.count), share = static_cast<double>(bin.events) / n;
  const double square = kDeviations * kDeviations;
  const double spread = kDeviations * std::sqrt(share * (1 - share) / n + square / (4 * n * n));
  return std::clamp((share + square / (2 * n) + sign * spread) / (1 + square / n), 0.0, 1.0);
}

}  // namespace

std::optional<double> ReliabilityBin::mean_predicted() const { return ratio(predicted_sum, count); }
std::optional<double> ReliabilityBin::observed() const { return ratio(events, count); }
double ReliabilityBin::observed_lower() const { return wilson(*this, -1); }
double ReliabilityBin::observed_upper() const { return wilson(*this, 1); }

Reliability::Reliability(int bins) : bins_(static_cast<std::size_t>(bins)) {}

std::size_t Reliability::bin_of(double p) const {
  std::size_t bin =
      std::min(bins_.size() - 1, static_cast<std::size_t>(p * static_cast<double>(bins_.size())));
  // The product may be rounded across an edge.
  while (bin > 0 && p < lower(bin)) --bin;
  while (bin + 1 < bins_.size() && p >= lower(bin + 1)) ++bin;
  return bin;
}

void Reliability::add(double p, double resolution, std::int64_t count, std::int64_t events) {
  if (count == 0) return;
  const double happened = static_cast<double>(events), not_happened = static_cast<double>(count - events);
  ReliabilityBin& bin = bins_[bin_of(p)];
  bin.count += count;
  bin.events += events;
  bin.predicted_sum += p * static_cast<double>(count);
  squared_error_ += happened * (1 - p) * (1 - p) + not_happened * p * p;
  const double inner = p == 0 ? resolution : p == 1 ? 1 - resolution : p;
  if (events > 0) event_loss_ -= happened * std::log(inner);
  if (count > events) other_loss_ -= not_happened * std::log1p(-inner);
}

std::int64_t Reliability::count() const {
  std::int64_t sum = 0;
  for (const ReliabilityBin& bin : bins_) sum += bin.count;
  return sum;
}

std::int64_t Reliability::events() const {
  std::int64_t sum = 0;
  for (const ReliabilityBin& bin : bins_) sum += bin.events;
  return sum;
}

std::optional<double> Reliability::mean(double sum) const { return ratio(sum, count()); }

std::optional<double> Reliability::mean_predicted() const {
  double sum = 0;
  for (const ReliabilityBin& bin : bins_) sum += bin.predicted_sum;
  return mean(sum);
}

std::optional<double> Reliability::observed() const { return mean(static_cast<double>(events())); }
std::optional<double> Reliability::brier() const { return mean(squared_error_); }
std::optional<double> Reliability::log_loss() const { return mean(event_loss_ + other_loss_); }

std::optional<double> Reliability::calibration_error() const {
  double sum = 0;
  for (const ReliabilityBin& bin : bins_)
    sum += std::abs(bin.predicted_sum - static_cast<double>(bin.events));
  return mean(sum);
}

Reliability& Reliability::operator+=(const Reliability& other) {
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    bins_[i].count += other.bins_[i].count;
    bins_[i].events += other.bins_[i].events;
    bins_[i].predicted_sum += other.bins_[i].predicted_sum;
  }
  squared_error_ += other.squared_error_;
  event_loss_ += other.event_loss_;
  other_loss_ += other.other_loss_;
  return *this;
}

const StatisticList<Reliability>& reliability_statistics() {
  using enum StatisticUnit;
  using R = Reliability;
  static const StatisticList<R> list = {
      {"bins", "bins", kCount, "predictions", &R::count},
      {"events", "events", kCount, "how many of them happened", &R::events},
      {"mean_predicted", "mean predicted", kNumber, "mean prediction", &R::mean_predicted},
      {"observed", "observed", kNumber, "share that happened", &R::observed},
      {"brier", "Brier score", kNumber, "mean squared error", &R::brier},
      {"log_loss", "log loss", kNats, "mean of -ln of what was predicted for what happened", &R::log_loss},
      {"expected_calibration_error", "calibration error", kNumber,
       "mean over them of the distance between mean prediction and share in their part",
       &R::calibration_error},
  };
  return list;
}

}  // namespace semicrf
