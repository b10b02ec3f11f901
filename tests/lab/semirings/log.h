// Logarithms of sums of products: log Z, and with the outside pass marginals and gradients.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/chain_model.h"
#include "lab/problem.h"

namespace semicrf::lab {

struct Log {
  using Value = double;
  static constexpr const char* name = "log";
  Value zero() const { return kNegativeInfinity; }
  Value one() const { return 0; }
  Value plus(Value a, Value b) const { return log_add(a, b); }
  Value times(Value a, Value b) const { return a + b; }
  Value lift(const Edge& edge) const { return edge.score; }
  Value scaled(Value a, double log_factor) const { return a + log_factor; }
  double magnitude(Value a) const { return a; }
  // LSE(x) = max x + log sum exp(x - max x) (App. A, "Log-domain"): one exponential per term, one logarithm
  // in all.
  Value sum(const Value* values, Index count) const {
    const double largest = count == 0 ? zero() : *std::max_element(values, values + count);
    if (largest == kNegativeInfinity) return largest;
    double total = 0;
    for (Index i = 0; i < count; ++i) total += std::exp(values[i] - largest);
    return largest + std::log(total);
  }
};

}  // namespace semicrf::lab
