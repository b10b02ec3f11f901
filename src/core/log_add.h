// Sums of numbers that are given as logarithms.
#pragma once

#include <cmath>
#include <utility>

#include "core/chain_model.h"

namespace semicrf {

// ln(e^a + e^b); -inf is the logarithm of 0.
inline double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNegativeInfinity ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace semicrf
