// A sum of doubles that loses no digits.
#pragma once

namespace semicrf {

// Carries its own rounding error (Knuth's two-sum), so that large terms which cancel take nothing from the
// small ones. Terms are finite.
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = high_ + term;
    const double added = sum - high_;
    low_ += (high_ - (sum - added)) + (term - added);
    high_ = sum;
  }
  double value() const { return high_ + low_; }
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

}  // namespace semicrf
