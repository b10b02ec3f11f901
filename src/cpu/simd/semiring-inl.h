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

template <class Semiring, class Real>
using Limits = CertificateLimits<Semiring::kIsLog, Real>;

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
