// Maxima of sums of scores: the best segmentation. An edge lies on it where the best score with it is the
// best of all.
#pragma once

#include <algorithm>

#include "lab/problem.h"

namespace semicrf::lab {

struct Max {
  using Value = double;
  static constexpr const char* name = "max";
  Value zero() const { return kNegativeInfinity; }
  Value one() const { return 0; }
  Value plus(Value a, Value b) const { return std::max(a, b); }
  Value times(Value a, Value b) const { return a + b; }
  Value lift(const Edge& edge) const { return edge.score; }
  Value scaled(Value a, double log_factor) const { return a + log_factor; }
  double magnitude(Value a) const { return a; }
  Value sum(const Value* values, Index count) const {
    return count == 0 ? zero() : *std::max_element(values, values + count);
  }
};

}  // namespace semicrf::lab
