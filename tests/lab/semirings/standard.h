// Plain numbers: Z itself. A check of the others on short sequences; e^709 ends it.
#pragma once

#include <cmath>

#include "lab/problem.h"
#include "lab/semirings/semiring.h"

namespace semicrf::lab {

struct Standard {
  using Value = double;
  static constexpr const char* name = "standard";
  Value zero() const { return 0; }
  Value one() const { return 1; }
  Value plus(Value a, Value b) const { return a + b; }
  Value times(Value a, Value b) const { return a * b; }
  Value lift(const Edge& edge) const { return std::exp(edge.score); }
  Value scaled(Value a, double log_factor) const { return a * std::exp(log_factor); }
  double magnitude(Value a) const { return std::log(a); }
  Value sum(const Value* values, Index count) const { return sum_one_by_one(*this, values, count); }
};

}  // namespace semicrf::lab
