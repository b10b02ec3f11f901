// A distribution of durations from segments that were seen: a table up to K, and a geometric tail.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace semicrf {

struct FittedDurations {
  std::vector<double> log_probability;  // (K), natural logarithms; all finite
  double tail = 0.5;                    // q of the tail, within (0, 1): d > K bins have p[K] q^(d-K)
};

// From durations >= 1 in bins, at least one. Each below K is spread over those within a fifth of it, the
// nearer the more; one segment more is spread over all in proportion to 1/d, so that each of 1..K is
// possible. Those of K bins or more are geometric from K on, with the mean of those seen and one segment
// more. Table and tail together sum to 1.
FittedDurations fit_durations(std::span<const std::int64_t> seen, int max_duration);

// The durations of a state that stays with probability `stay` in each bin; of a state that always or never
// does, nearly so.
FittedDurations staying_durations(double stay, int max_duration);

// The smallest duration that this share of the durations, 0..1, does not exceed; at least one is given.
std::int64_t duration_quantile(std::vector<std::int64_t> durations, double share);

}  // namespace semicrf
