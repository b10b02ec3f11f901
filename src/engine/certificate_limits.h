// The error bounds up to which the fast paths of the engines may be trusted (docs/algorithm.md, "The
// certificate"). Log semiring: numbers are linear, relative to a scale. Max semiring: numbers are logarithms
// relative to a scale.
#pragma once

#include <cmath>

namespace semicrf {

template <bool is_log, class Real>
struct CertificateLimits;

template <>
struct CertificateLimits<true, float> {
  static constexpr double kLost = -80;  // log of what one flushed term may have been, relative to its bound
  static constexpr double kMargin = 16.1181;  // log 1e7: how far above the lost mass a sum must lie
  static constexpr float kSmallest = 1e-30F;  // stored numbers below this have lost bits
  static constexpr float kLargest = 1e30F;
  static constexpr float kExponent = 80;    // |log| of a factor within a block
  static constexpr double kIgnore = -87;    // factors below e^this are zero
  static constexpr int kWidestRange = 124;  // whole units between the numbers of a block's starts
};
template <>
struct CertificateLimits<true, double> {
  static constexpr double kLost = -690;
  static constexpr double kMargin = 32.2362;  // log 1e14
  static constexpr double kSmallest = 1e-290;
  static constexpr double kLargest = 1e290;
  static constexpr double kExponent = 600;
  static constexpr double kIgnore = -700;
  static constexpr int kWidestRange = 1020;
};
// Nothing vanishes in the max semiring, but a float far from its scale has few bits left: the winner must lie
// near.
template <>
struct CertificateLimits<false, float> {
  static constexpr float kSmallest = -64;
  static constexpr float kLargest = 64;
  static constexpr float kExponent = 64;
  static constexpr double kTotal = -64;
  static constexpr int kWidestRange = 48;
};
template <>
struct CertificateLimits<false, double> {
  static constexpr double kSmallest = -65536;
  static constexpr double kLargest = 65536;
  static constexpr double kExponent = 65536;
  static constexpr double kTotal = -65536;
  static constexpr int kWidestRange = 1 << 30;
};

// Least value of a sum of `terms` products, relative to the bound of each, that a fast path accepts: its
// logarithm, and the number itself.
template <bool is_log, class Real>
double log_least_certified(int terms) {
  using L = CertificateLimits<is_log, Real>;
  if constexpr (is_log) {
    return std::log(static_cast<double>(terms)) + L::kLost + L::kMargin;
  } else {
    return L::kTotal;
  }
}
template <bool is_log, class Real>
Real least_certified(int terms) {
  const double least = log_least_certified<is_log, Real>(terms);
  return static_cast<Real>(is_log ? std::exp(least) : least);
}

}  // namespace semicrf
