// Sums over durations, for the part of a sequence that a claim is about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/chain_model.h"

namespace semicrf {

// In nats: a term that lies so far below a sum adds nothing to it.
inline constexpr double kNothing = 60;

// Numbers as logarithms and as exp(log - top), for sums of products: those of doubles where they do not
// underflow, which is nearly always, else of the logarithms.
class ScaledNumbers {
 public:
  explicit ScaledNumbers(std::vector<double> logs);

  std::int64_t size() const { return std::ssize(logs_); }
  double log(std::int64_t index) const { return logs_[index]; }
  const double* logs() const { return logs_.data(); }
  // What the linear numbers are relative to; -inf: all are 0.
  double top() const { return top_; }
  // An upper bound of the largest logarithm.
  double largest() const { return largest_; }
  // exp(log - top), made when they are first asked for.
  const double* linear() const {
    if (linear_.empty()) fill(0, logs_.size());
    return linear_.data();
  }
  // Makes the linear numbers of [begin, end) anew, relative to the largest of them; the others are lost.
  void rescale(std::int64_t begin, std::int64_t end);
  void set(std::int64_t index, double log);

 private:
  void fill(std::size_t begin, std::size_t end) const;

  std::vector<double> logs_;
  double top_ = kNegativeInfinity;
  double largest_ = kNegativeInfinity;
  mutable std::vector<double> linear_;
};

// Sums that are below `floor` may be given as -inf: for those who add them to something larger.

// LSE over i < count of a[first_a + i] + b[first_b + i].
double log_dot(const ScaledNumbers& a, std::int64_t first_a, const ScaledNumbers& b, std::int64_t first_b,
               std::int64_t count, double floor = kNegativeInfinity);

// The scores of the durations of one label: kernels of the sums over segments.
class DurationWeights {
 public:
  DurationWeights(const ChainModel& model, int label);

  std::int64_t max_duration() const { return rising_.size(); }
  double largest_score() const { return rising_.top(); }  // largest of B[1..K]
  bool has_tail() const { return log_tail_ != kNegativeInfinity && last_score_ != kNegativeInfinity; }
  double log_tail() const { return log_tail_; }      // ln q
  double last_score() const { return last_score_; }  // B[K]
  double score(std::int64_t duration) const { return rising_.log(duration - 1); }

  // LSE over s in [first, end) of from[s] + B[end - s]; end - first <= K. May rescale `from`.
  double sum_into(std::int64_t end, std::int64_t first, ScaledNumbers& from) const;
  // LSE over s in [first, last] and e in [from_end, min(s + K, last_end)] of starts[s] + B[e-s] + ends[e].
  double sum_between(const ScaledNumbers& starts, std::int64_t first, std::int64_t last,
                     const ScaledNumbers& ends, std::int64_t from_end, std::int64_t last_end,
                     double floor) const;
  // LSE over e in [start + shortest, min(start + K, last_end)] of B[e-start] + ends[e]; shortest >= 1.
  double sum_from(std::int64_t start, const ScaledNumbers& ends, std::int64_t shortest,
                  std::int64_t last_end) const;

 private:
  // The pairs of starts in [first_start, stop_start) and ends in [first_end, stop_end).
  struct Tile {
    std::int64_t first_start, stop_start, first_end, stop_end;
  };
  double sum_of_tile(const Tile& tile, const ScaledNumbers& starts, const ScaledNumbers& ends,
                     double floor) const;

  ScaledNumbers rising_;   // B[1], B[2], ...
  ScaledNumbers falling_;  // B[K], B[K-1], ...
  double log_tail_ = kNegativeInfinity;
  double last_score_ = kNegativeInfinity;
};

}  // namespace semicrf
