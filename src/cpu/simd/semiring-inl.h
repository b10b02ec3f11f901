// The two semirings as vector operations, in the representation of the fast path: linear numbers relative to
// a scale for the log semiring, logarithms relative to a scale for the max semiring. Included once per
// instruction set.
#if defined(SEMICRF_CPU_SIMD_SEMIRING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_SEMIRING_INL_H_
#undef SEMICRF_CPU_SIMD_SEMIRING_INL_H_
#else
#define SEMICRF_CPU_SIMD_SEMIRING_INL_H_
#endif

#include <cmath>
#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Natural logarithm with log(0) = -inf.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LogOrMinusInfinity(D d, V x) {
  using T = hn::TFromD<D>;
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Log(d, x),
                        hn::Set(d, -std::numeric_limits<T>::infinity()));
}

inline constexpr double kLog2 = 0.69314718055994530942;

struct LogSemiring {
  static constexpr bool kIsLog = true;

  template <class T>
  static constexpr T zero() {
    return T(0);
  }
  template <class T>
  static constexpr T one() {
    return T(1);
  }
  template <class V>
  static HWY_INLINE V Times(V a, V b) {
    return hn::Mul(a, b);
  }
  template <class V>
  static HWY_INLINE V Plus(V a, V b) {
    return hn::Add(a, b);
  }
  template <class V>
  static HWY_INLINE V TimesPlus(V a, V b, V sum) {
    return hn::MulAdd(a, b, sum);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V FromLog(D d, V x) {
    return hn::Exp(d, x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V ToLog(D d, V x) {
    return LogOrMinusInfinity(d, x);
  }
  // Bounds are whole powers of two, so that relating numbers to them rounds nothing.
  static double Quantized(double bound) {
    return bound == -std::numeric_limits<double>::infinity() ? bound : std::floor(bound / kLog2) * kLog2;
  }
  static double FromLogScalar(double x) { return std::exp(x); }
};

struct MaxSemiring {
  static constexpr bool kIsLog = false;

  template <class T>
  static constexpr T zero() {
    return -std::numeric_limits<T>::infinity();
  }
  template <class T>
  static constexpr T one() {
    return T(0);
  }
  template <class V>
  static HWY_INLINE V Times(V a, V b) {
    return hn::Add(a, b);
  }
  template <class V>
  static HWY_INLINE V Plus(V a, V b) {
    return hn::Max(a, b);
  }
  template <class V>
  static HWY_INLINE V TimesPlus(V a, V b, V sum) {
    return hn::Max(sum, hn::Add(a, b));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V FromLog(D, V x) {
    return x;
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V ToLog(D, V x) {
    return x;
  }
  static double Quantized(double bound) { return std::floor(bound); }
  static double FromLogScalar(double x) { return x; }
};

// What the fast path may trust (docs/algorithm.md, "The certificate"). Values are in the representation
// above.
template <class Semiring, class Real>
struct Limits;

template <>
struct Limits<LogSemiring, float> {
  static constexpr double kLost = -80;  // log of what one flushed term may have been, relative to its bound
  static constexpr double kMargin = 16.1181;  // log 1e7: how far above the lost mass a sum must lie
  static constexpr float kSmallest = 1e-30f;  // stored numbers below this have lost bits
  static constexpr float kLargest = 1e30f;
  static constexpr float kExponent = 80;  // |log| of a factor within a block
  static constexpr double kIgnore = -87;  // factors below e^this are zero
};
template <>
struct Limits<LogSemiring, double> {
  static constexpr double kLost = -690;
  static constexpr double kMargin = 32.2362;  // log 1e14
  static constexpr double kSmallest = 1e-290;
  static constexpr double kLargest = 1e290;
  static constexpr double kExponent = 600;
  static constexpr double kIgnore = -700;
};
// In the max semiring nothing is lost, but a float far from its scale has few bits left: the winner must lie
// near.
template <>
struct Limits<MaxSemiring, float> {
  static constexpr float kSmallest = -64;
  static constexpr float kLargest = 64;
  static constexpr float kExponent = 64;
  static constexpr double kTotal = -64;
};
template <>
struct Limits<MaxSemiring, double> {
  static constexpr double kSmallest = -65536;
  static constexpr double kLargest = 65536;
  static constexpr double kExponent = 65536;
  static constexpr double kTotal = -65536;
};

// Least value of a sum of `terms` products, relative to the bound of each, that the fast path accepts.
template <class Semiring, class Real>
Real least_certified(int terms) {
  using L = Limits<Semiring, Real>;
  if constexpr (Semiring::kIsLog) {
    return static_cast<Real>(std::exp(std::log(static_cast<double>(terms)) + L::kLost + L::kMargin));
  } else {
    return static_cast<Real>(L::kTotal);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
