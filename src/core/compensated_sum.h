// A sum of doubles that loses no digits.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace semicrf {

// Carries its own rounding error (Knuth's two-sum: exact, without a branch), so that large terms which cancel
// take nothing from the small ones. -inf among the terms makes the sum -inf.
class CompensatedSum {
 public:
  CompensatedSum() = default;
  explicit CompensatedSum(double start) : high_(start) {}

  void add(double term) {
    const double sum = high_ + term;
    const double added = sum - high_;
    low_ += (high_ - (sum - added)) + (term - added);
    high_ = sum;
  }
  void add(const CompensatedSum& other) {
    add(other.high_);
    low_ += other.low_;
  }
  // Finite sums.
  void subtract(const CompensatedSum& other) {
    add(-other.high_);
    low_ -= other.low_;
  }
  double value() const { return std::isfinite(high_) ? high_ + low_ : high_; }
  // The sum plus `shift`, rounded once.
  double plus(double shift) const {
    CompensatedSum total = *this;
    total.add(shift);
    return total.value();
  }

 private:
  double high_ = 0;
  double low_ = 0;
};

// What the mean of a sequence's scores is made of (model/scores/centering.h), for those who add them up
// elsewhere.
// Sums over the rows of one sequence, column by column.
struct BlockSums {
  static constexpr std::int64_t kPositions = 4096;  // per block; blocks begin at multiples of it

  // (blocks, columns): plain sums in double, from the first row of a block to its last; -inf counts as 0.
  std::vector<double> sums;
  std::vector<std::int64_t> forbidden;  // (columns) entries of -inf
  std::int64_t masked = 0;              // entries at or below the mask, -inf included
};

}  // namespace semicrf
