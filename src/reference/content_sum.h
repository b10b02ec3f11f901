// The content score of a segment, summed without losing digits.
#pragma once

namespace semicrf {

// A sum of finite scores that carries its own rounding error (Knuth's two-sum). A mask of -1e9 inside a
// segment would otherwise cost every other score of that segment seven digits, also where all segmentations
// share the mask.
class ContentSum {
 public:
  void add(double score) {
    const double sum = high_ + score;
    const double added = sum - high_;
    low_ += (high_ - (sum - added)) + (score - added);
    high_ = sum;
  }
  // The sum plus `shift`, rounded once.
  double plus(double shift) const {
    ContentSum total = *this;
    total.add(shift);
    return total.high_ + total.low_;
  }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace semicrf
