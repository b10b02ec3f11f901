// The two semirings as vector operations, in the representation of the fast path. Log semiring: linear
// numbers (float, double) relative to a power of two. Max semiring: logarithms relative to a whole number, in
// fixed point (int32, for single precision) or in double. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_SEMIRING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_SEMIRING_INL_H_
#undef SEMICRF_CPU_SIMD_SEMIRING_INL_H_
#else
#define SEMICRF_CPU_SIMD_SEMIRING_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cpu/simd/kept-inl.h"
#include "engine/certificate_limits.h"
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

// Fixed point of the max semiring: 22 bits after the point. Sums of three numbers, each clamped to
// kFixedFloor or more, stay inside the range of +-512. Additions are exact.
inline constexpr int kFixedBits = 22;
inline constexpr double kFixedUnit = 1 << kFixedBits;
inline constexpr int kFixedFloor = -120;

struct LogSemiring {
  static constexpr bool kIsLog = true;
  static constexpr double kUnit = kLog2;  // scales are whole numbers of this

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
  static constexpr double kUnit = 1;

  // What is at or below it counts as impossible.
  template <class T>
  static constexpr T zero() {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      return kFixedFloor * (1 << kFixedBits);
    } else {
      return -std::numeric_limits<T>::infinity();
    }
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

// What the fast path may trust (docs/algorithm.md, "The certificate").
template <class Semiring, class Real>
struct Limits;

template <class Real>
struct Limits<LogSemiring, Real> : CertificateLimits<true, Real> {};
template <>
struct Limits<MaxSemiring, double> : CertificateLimits<false, double> {
  static constexpr double kIgnore = -std::numeric_limits<double>::infinity();
};
// Nothing is lost but what lies so far below its bound that fixed point does not reach it.
template <>
struct Limits<MaxSemiring, std::int32_t> {
  static constexpr double kTotal = -100;
  static constexpr double kIgnore = kFixedFloor;
};

// Logarithm of the least sum of `terms` products, relative to the bound of each, that the fast path accepts.
template <class Semiring, class Real>
double least_certified(int terms) {
  if constexpr (Semiring::kIsLog) {
    return log_least_certified<true, Real>(terms);
  } else {
    return Limits<Semiring, Real>::kTotal;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
