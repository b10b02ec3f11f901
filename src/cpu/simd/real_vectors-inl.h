// Numbers of the fast path between their precision and double logarithms: a vector of Real as vectors of
// double, exponentials that hide the rounding to Real, exact powers of two. Included once per instruction
// set.
#if defined(SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_
#undef SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_
#else
#define SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "cpu/score_view.h"
#include "cpu/simd/semiring-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Exponent of a positive normal number.
inline int exponent_of(float x) { return static_cast<int>(std::bit_cast<std::uint32_t>(x) >> 23) - 127; }
inline int exponent_of(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023; }

// D: the vector tag of the fast path, DD: of double with as many lanes or fewer.
template <class Real, class D, class Semiring>
struct RealVectors {
  using S = Semiring;
  using V = hn::Vec<D>;
  using DD = hn::CappedTag<double, hn::MaxLanes(D())>;
  using VD = hn::Vec<DD>;

  // --- one vector, part by part ---

  static VD load_double(const Real* from) {
    const DD dd;
    if constexpr (sizeof(Real) == sizeof(double)) {
      return hn::LoadU(dd, from);
    } else {
      return hn::PromoteTo(dd, hn::LoadU(hn::Rebind<float, DD>(), from));
    }
  }
  static void store_real(VD value, Real* to) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      hn::StoreU(value, DD(), to);
    } else {
      const hn::Rebind<float, DD> df;
      hn::StoreU(hn::DemoteTo(df, value), df, to);
    }
  }
  // exp(x) in Real (log semiring), or x (max), for x in double: x is split so that its rounding to Real does
  // not show. split_log takes it apart, part by part of a vector; from_split_log puts a whole vector
  // together.
  static HWY_INLINE void split_log(VD x, Real* high, Real* low) {
    store_real(x, high);
    if constexpr (S::kIsLog && sizeof(Real) == sizeof(float)) store_real(hn::Sub(x, load_double(high)), low);
  }
  static HWY_INLINE V from_split_log(const Real* high, const Real* low) {
    const D d;
    const V e = S::FromLog(d, hn::Load(d, high));
    if constexpr (S::kIsLog && sizeof(Real) == sizeof(float)) {
      // Where x is -inf its low part is NaN and exp(x) is 0.
      return hn::IfThenElseZero(hn::Gt(e, hn::Zero(d)), hn::MulAdd(e, hn::Load(d, low), e));
    } else {
      return e;
    }
  }
  // The same for numbers of any size, and exact where x is a multiple of log 2: x = n log 2 + rest.
  static HWY_INLINE void split_power(VD x, Real* high, Real* low, Real* power) {
    if constexpr (S::kIsLog) {
      const DD dd;
      const VD n = hn::Round(hn::Mul(x, hn::Set(dd, 1 / kLog2)));
      split_log(hn::NegMulAdd(n, hn::Set(dd, kLog2), x), high, low);
      store_real(n, power);
    } else {
      store_real(x, high);
    }
  }
  static HWY_INLINE V from_split_power(const Real* high, const Real* low, const Real* power) {
    if constexpr (S::kIsLog) {
      return hn::Mul(from_split_log(high, low), two_to(hn::Load(D(), power)));
    } else {
      return hn::Load(D(), high);
    }
  }
  // Exponents of positive normal numbers.
  static HWY_INLINE V exponents(V x) {
    const D d;
    const hn::RebindToSigned<D> di;
    constexpr int kMantissa = sizeof(Real) == sizeof(float) ? 23 : 52;
    constexpr int kBias = sizeof(Real) == sizeof(float) ? 127 : 1023;
    return hn::ConvertTo(d, hn::Sub(hn::ShiftRight<kMantissa>(hn::BitCast(di, x)), hn::Set(di, kBias)));
  }
  // 2^n, 0 below the range of normal numbers.
  static HWY_INLINE V two_to(V n) {
    const D d;
    const hn::RebindToSigned<D> di;
    constexpr int kMantissa = sizeof(Real) == sizeof(float) ? 23 : 52;
    constexpr int kBias = sizeof(Real) == sizeof(float) ? 127 : 1023;
    const auto normal = hn::Ge(n, hn::Set(d, Real(1 - kBias)));
    const auto exponent = hn::ConvertTo(di, hn::Min(hn::IfThenElseZero(normal, n), hn::Set(d, Real(kBias))));
    const auto bits = hn::ShiftLeft<kMantissa>(hn::Add(exponent, hn::Set(di, kBias)));
    return hn::IfThenElseZero(normal, hn::BitCast(d, bits));
  }
  // exp(x) of a whole number of log 2 (log semiring), or x (max).
  static HWY_INLINE void store_power(VD x, Real* to) {
    if constexpr (S::kIsLog) {
      store_real(hn::Round(hn::Mul(x, hn::Set(DD(), 1 / kLog2))), to);
    } else {
      store_real(x, to);
    }
  }
  static HWY_INLINE V from_power(const Real* from) {
    if constexpr (S::kIsLog) {
      return two_to(hn::Load(D(), from));
    } else {
      return hn::Load(D(), from);
    }
  }
  static VD log_of(const Real* from) { return S::ToLog(DD(), load_double(from)); }

  // --- single values ---

  // Within a factor 2 (log semiring) or exactly (max) the logarithm of a carried number.
  static double carry_magnitude(Real value) {
    if constexpr (S::kIsLog) {
      return value > Real(0) ? exponent_of(value) * kLog2 : kNegativeInfinity;
    } else {
      return static_cast<double>(value);
    }
  }
  static double relative_number(double log_value) {
    if constexpr (S::kIsLog) {
      return log_value < Limits<S, Real>::kIgnore ? 0.0 : std::exp(log_value);
    } else {
      return log_value;
    }
  }
  static double plus_scalar(double a, double b) {
    if constexpr (!S::kIsLog) return std::max(a, b);
    const double high = std::max(a, b);
    if (high == kNegativeInfinity) return high;
    return high + std::log1p(std::exp(std::min(a, b) - high));
  }
  static double least_product() {
    if constexpr (S::kIsLog) {
      return Limits<S, Real>::kIgnore;
    } else {
      return kNegativeInfinity;
    }
  }
  static double least_factor() {
    if constexpr (S::kIsLog) {
      return Limits<S, Real>::kIgnore;
    } else {
      return Limits<S, Real>::kTotal - 1;
    }
  }
  static VD finite_or_zero(VD value) {
    const DD dd;
    return hn::IfThenZeroElse(hn::Eq(value, hn::Set(dd, kNegativeInfinity)), value);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
