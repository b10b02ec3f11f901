// Sums over durations, for the part of a sequence that a claim is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/chain_model.h"

namespace semicrf {

// Numbers as logarithms and as exp(log - top), for sums of products: those of doubles where they do not
// underflow, which is nearly always, else of the logarithms.
struct ScaledNumbers {
  std::vector<double> logs;
  std::vector<double> linear;
  double top = 0;

  explicit ScaledNumbers(std::size_t count) : logs(count, kNegativeInfinity), linear(count, 0.0) {}
  explicit ScaledNumbers(std::vector<double> values);
  // Linear numbers of [begin, end) relative to the largest of them; the others are lost.
  void rescale(std::size_t begin, std::size_t end);
  void set(std::size_t index, double log);
};

// ln(e^a + e^b).
double log_add(double a, double b);

// The scores of the durations of one label: kernels of the sums over segments.
class DurationWeights {
 public:
  DurationWeights(const ChainModel& model, int label);

  std::int64_t max_duration() const { return static_cast<std::int64_t>(rising_.logs.size()); }
  bool has_tail() const { return log_tail_ != kNegativeInfinity && last_score_ != kNegativeInfinity; }
  double log_tail() const { return log_tail_; }      // ln q
  double last_score() const { return last_score_; }  // B[K]
  double score(std::int64_t duration) const { return rising_.logs[static_cast<std::size_t>(duration - 1)]; }

  // LSE over s in [first, end) of from[s] + B[end - s]; end - first <= K. May rescale `from`.
  double sum_into(std::int64_t end, std::int64_t first, ScaledNumbers& from) const;
  // LSE over s in [first, last] and e in [from_end, min(s + K, size of `ends`)) of starts[s] + B[e-s] +
  // ends[e].
  double sum_between(const ScaledNumbers& starts, std::int64_t first, std::int64_t last,
                     const ScaledNumbers& ends, std::int64_t from_end) const;

 private:
  ScaledNumbers rising_;   // B[1], B[2], ...
  ScaledNumbers falling_;  // B[K], B[K-1], ...
  double log_tail_ = kNegativeInfinity;
  double last_score_ = kNegativeInfinity;
};

}  // namespace semicrf
