// Calibration: how well predicted probabilities of yes-or-no events agree with what happened.
// docs/users/evaluation.md defines the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/text/statistic.h"

namespace semicrf {

inline constexpr int kReliabilityBins = 10;

// The events whose probability lies in one part of [0, 1].
struct ReliabilityBin {
  std::int64_t count = 0;
  std::int64_t events = 0;   // events that happened
  double predicted_sum = 0;  // sum of the probabilities

  // Absent in an empty bin.
  std::optional<double> mean_predicted() const;
  std::optional<double> observed() const;  // share that happened
  // Bounds of Wilson's 95 % interval of the share that happens, were the events independent. count > 0.
  double observed_lower() const;
  double observed_upper() const;
};

class Reliability {
 public:
  // `bins` >= 1 parts of [0, 1] of equal width; part i begins at i / bins, and 1 belongs to the last.
  explicit Reliability(int bins = kReliabilityBins);

  // `count` events of probability p in [0, 1], `events` of which happened. A p of exactly 0 or 1 enters the
  // log loss as `resolution` away from it: half of the last digit with which p was written.
  void add(double p, double resolution, std::int64_t count, std::int64_t events);

  const std::vector<ReliabilityBin>& bins() const { return bins_; }
  double lower(std::size_t bin) const { return static_cast<double>(bin) / static_cast<double>(bins_.size()); }
  std::int64_t count() const;
  std::int64_t events() const;
  double squared_error() const {
    return squared_error_;
  }                                                  // sum of (p - y)^2, y = 1 where it happened, else 0
  double event_loss() const { return event_loss_; }  // sum of -ln p over what happened

  // Means over all events; absent when there is none.
  std::optional<double> mean_predicted() const;
  std::optional<double> observed() const;
  std::optional<double> brier() const;
  std::optional<double> log_loss() const;  // nats
  // Mean over the events of |mean prediction - share that happened| of their bin.
  std::optional<double> calibration_error() const;

  // Adds the events of another one with as many bins.
  Reliability& operator+=(const Reliability& other);

 private:
  std::size_t bin_of(double p) const;
  std::optional<double> mean(double sum) const;

  std::vector<ReliabilityBin> bins_;
  double squared_error_ = 0;
  double event_loss_ = 0;
  double other_loss_ = 0;  // sum of -ln (1-p) over what did not happen
};
const StatisticList<Reliability>& reliability_statistics();

}  // namespace semicrf
