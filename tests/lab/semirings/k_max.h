// The scores of the `Best` best segmentations, in order; equal scores of different segmentations count each.
#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "lab/problem.h"
#include "lab/semirings/semiring.h"

namespace semicrf::lab {

template <Index Best>
struct KMax {
  using Value = std::array<double, Best>;  // falling; -inf where there are fewer
  static constexpr const char* name = "k-max";
  Value zero() const {
    Value none;
    none.fill(kNegativeInfinity);
    return none;
  }
  Value one() const {
    Value empty = zero();
    empty[0] = 0;
    return empty;
  }
  // The best of both lists.
  Value plus(const Value& a, const Value& b) const {
    Value merged;
    for (Index i = 0, j = 0; i + j < Best;) {
      const Index at = i + j;
      const bool first = a[i] >= b[j];
      merged[at] = first ? a[i] : b[j];
      ++(first ? i : j);
    }
    return merged;
  }
  // The best of all pairs. The pair (i, j) has (i+1)(j+1) - 1 others that are as good, so few can matter.
  Value times(const Value& a, const Value& b) const {
    std::array<double, Best * Best> pairs;
    Index count = 0;
    for (Index i = 0; i < Best; ++i)
      for (Index j = 0; (i + 1) * (j + 1) <= Best; ++j) pairs[count++] = a[i] + b[j];
    std::sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
    Value best;
    std::copy_n(pairs.begin(), Best, best.begin());
    return best;
  }
  Value lift(const Edge& edge) const {
    Value single = zero();
    single[0] = edge.score;
    return single;
  }
  Value scaled(Value a, double log_factor) const {
    for (double& score : a) score += log_factor;
    return a;
  }
  double magnitude(const Value& a) const { return a[0]; }
  Value sum(const Value* values, Index count) const { return sum_one_by_one(*this, values, count); }
};

}  // namespace semicrf::lab
