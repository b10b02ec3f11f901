// The two ways of combining alternatives: sum their probabilities, or keep the best.
#pragma once

#include <span>

namespace semicrf {

enum class Semiring {
  kLog,  // log of the sum of exponentials
  kMax,
};

// -inf for no terms, or when all are -inf.
double combine(std::span<const double> terms, Semiring semiring);

}  // namespace semicrf
