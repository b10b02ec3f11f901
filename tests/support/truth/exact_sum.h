// A sum whose rounding does not matter: the tests' own judge of scores that differ by ten orders of
// magnitude.
#pragma once

#include <limits>

namespace semicrf::testing {

class ExactSum {
 public:
  void add(double score) {
    if (score == -std::numeric_limits<double>::infinity()) {
      impossible_ = true;
      return;
    }
    add_finite(score);
  }
  bool impossible() const { return impossible_; }
  // -inf when anything impossible was added.
  long double value() const {
    return impossible_ ? -std::numeric_limits<long double>::infinity() : high_ + low_;
  }
  // This sum minus another; both possible.
  long double minus(const ExactSum& other) const {
    ExactSum difference = *this;
    difference.add_finite(-other.high_);
    difference.add_finite(-other.low_);
    return difference.high_ + difference.low_;
  }

 private:
  void add_finite(long double score) {
    const long double sum = high_ + score;
    const long double added = sum - high_;
    low_ += (high_ - (sum - added)) + (score - added);
    high_ = sum;
  }

  long double high_ = 0;
  long double low_ = 0;
  bool impossible_ = false;
};

}  // namespace semicrf::testing
