// Numbers of the fast path as vectors: between their representation and double logarithms, and as a number
// near one times a whole number of units (log 2 in the log semiring, 1 in the max semiring), which no size of
// score throws out of range. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_
#undef SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_
#else
#define SEMICRF_CPU_SIMD_REAL_VECTORS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/chain_model.h"
#include "core/sizes.h"
#include "cpu/score_view.h"
#include "cpu/simd/semiring-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Whole units of an impossible number, and the least that a possible one has: what is below kLeastWhole is
// impossible. kMostUnits: scores and bounds of the fast path are at most this many units away from each
// other.
inline constexpr int kDead = -(1 << 28);
inline constexpr int kLeastWhole = -(1 << 27);
inline constexpr double kMostUnits = 1 << 25;

// D: the vector tag of the fast path, DD: of double with as many lanes or fewer.
template <class Real, class D, class Semiring>
struct RealVectors {
  using S = Semiring;
  using V = hn::Vec<D>;
  using DD = hn::CappedTag<double, hn::MaxLanes(D())>;
  using VD = hn::Vec<DD>;
  using DI = hn::RebindToSigned<D>;
  using I = hn::Vec<DI>;
  using Whole = hn::TFromD<DI>;
  static constexpr bool kFixed = std::is_same_v<Real, std::int32_t>;
  static constexpr bool kWide = sizeof(Real) == sizeof(double);

  // --- one vector, part by part ---

  static HWY_INLINE VD load_double(const Real* from) {
    const DD dd;
    if constexpr (kWide) {
      return hn::LoadU(dd, from);
    } else if constexpr (kFixed) {
      return hn::Mul(hn::PromoteTo(dd, hn::LoadU(hn::Rebind<Real, DD>(), from)), hn::Set(dd, 1 / kFixedUnit));
    } else {
      return hn::PromoteTo(dd, hn::LoadU(hn::Rebind<Real, DD>(), from));
    }
  }
  // Fixed point ends at kFixedFloor.
  static HWY_INLINE void store_real(VD value, Real* to) {
    const DD dd;
    if constexpr (kWide) {
      hn::StoreU(value, dd, to);
    } else if constexpr (kFixed) {
      const hn::Rebind<std::int32_t, DD> di;
      const VD kept = hn::Max(value, hn::Set(dd, static_cast<double>(kFixedFloor)));
      hn::StoreU(hn::DemoteTo(di, hn::Round(hn::Mul(kept, hn::Set(dd, kFixedUnit)))), di, to);
    } else {
      const hn::Rebind<float, DD> df;
      hn::StoreU(hn::DemoteTo(df, value), df, to);
    }
  }
  static HWY_INLINE VD load_whole(const Whole* from) {
    const DD dd;
    if constexpr (kWide) {
      return hn::ConvertTo(dd, hn::LoadU(DI(), from));
    } else {
      return hn::PromoteTo(dd, hn::LoadU(hn::Rebind<std::int32_t, DD>(), from));
    }
  }
  // Impossible below kDead.
  static HWY_INLINE void store_whole(VD value, Whole* to) {
    const DD dd;
    const VD kept = hn::Max(value, hn::Set(dd, static_cast<double>(kDead)));
    if constexpr (kWide) {
      hn::StoreU(hn::ConvertTo(DI(), kept), DI(), to);
    } else {
      const hn::Rebind<std::int32_t, DD> di;
      hn::StoreU(hn::DemoteTo(di, kept), di, to);
    }
  }

  // --- exponentials that hide the rounding to Real ---

  // exp(x) in Real (log semiring), or x (max), for x in double: x is split so that its rounding to Real does
  // not show. split_log takes it apart, part by part of a vector; from_split_log puts a whole vector
  // together.
  static HWY_INLINE void split_log(VD x, Real* high, Real* low) {
    store_real(x, high);
    if constexpr (S::kIsLog && !kWide) store_real(hn::Sub(x, load_double(high)), low);
  }
  static HWY_INLINE V from_split_log(const Real* high, const Real* low) {
    const D d;
    const V e = S::FromLog(d, hn::Load(d, high));
    if constexpr (S::kIsLog && !kWide) {
      // Where x is -inf its low part is NaN and exp(x) is 0.
      return hn::IfThenElseZero(hn::Gt(e, hn::Zero(d)), hn::MulAdd(e, hn::Load(d, low), e));
    } else {
      return e;
    }
  }
  // split_log() with a power for numbers of any size, exact where x is a multiple of log 2: x = n log 2 +
  // rest.
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
  // 2^n, 0 below the range of normal numbers.
  static HWY_INLINE V two_to(V n) {
    const D d;
    constexpr int kBias = kWide ? 1023 : 127;
    const auto normal = hn::Ge(n, hn::Set(d, Real(1 - kBias)));
    return hn::IfThenElseZero(normal, two_to_whole(hn::ConvertTo(DI(), hn::IfThenElseZero(normal, n))));
  }

  // --- numbers times whole units ---

  // 2^n, 0 below the range of normal numbers (log semiring).
  static HWY_INLINE V two_to_whole(I n) {
    const DI di;
    constexpr int kMantissa = kWide ? 52 : 23;
    constexpr int kBias = kWide ? 1023 : 127;
    const I kept = hn::Min(hn::Max(n, hn::Set(di, Whole(-kBias))), hn::Set(di, Whole(kBias)));
    return hn::BitCast(D(), hn::ShiftLeft<kMantissa>(hn::Add(kept, hn::Set(di, Whole(kBias)))));
  }
  // n units as a factor; what is out of range is 0 (max: kFixedFloor).
  static HWY_INLINE V factor_of(I n) {
    if constexpr (S::kIsLog) {
      return two_to_whole(n);
    } else if constexpr (kFixed) {
      return hn::ShiftLeft<kFixedBits>(hn::Max(n, hn::Set(DI(), kFixedFloor)));
    } else {
      return hn::ConvertTo(D(), n);
    }
  }
  static HWY_INLINE V moved(V x, I n) { return S::Times(x, factor_of(n)); }
  // The whole units of a number: moved(x, -whole_of(x)) lies in [1, 2), or in [-1/2, 1/2] (max). Of positive
  // normal numbers, and of finite ones (max); of others it is arbitrary.
  static HWY_INLINE I whole_of(V x) {
    const DI di;
    if constexpr (S::kIsLog) {
      constexpr int kMantissa = kWide ? 52 : 23;
      constexpr int kBias = kWide ? 1023 : 127;
      return hn::Sub(hn::ShiftRight<kMantissa>(hn::BitCast(di, x)), hn::Set(di, Whole(kBias)));
    } else if constexpr (kFixed) {
      return hn::ShiftRight<kFixedBits>(hn::Add(x, hn::Set(di, 1 << (kFixedBits - 1))));
    } else {
      const D d;
      const V kept = hn::Max(x, hn::Set(d, static_cast<double>(kDead)));
      return hn::ConvertTo(di, hn::Round(kept));
    }
  }
  // Takes the whole units out of a number, and returns them.
  static HWY_INLINE I take_units(V& x) {
    const I units = whole_of(x);
    x = moved(x, hn::Neg(units));
    return units;
  }
  // A number near one and whole units of x: exp(x) = number x 2^whole (log semiring), x = number + whole.
  // -inf gives kDead. `rest` is finished by from_rest, a whole vector at a time.
  static HWY_INLINE void split_units(VD x, Real* rest, Whole* whole) {
    const DD dd;
    const VD n = hn::Round(hn::Mul(x, hn::Set(dd, 1 / S::kUnit)));
    const auto some = hn::Gt(x, hn::Set(dd, kNegativeInfinity));
    store_real(hn::IfThenElseZero(some, hn::NegMulAdd(n, hn::Set(dd, S::kUnit), x)), rest);
    store_whole(n, whole);
  }
  // exp(x) for |x| <= 0.35 to the last digit (log semiring), or x (max).
  static HWY_INLINE V from_rest(V x) {
    const D d;
    if constexpr (!S::kIsLog) {
      return x;
    } else if constexpr (kWide) {
      return hn::Exp(d, x);
    } else {
      V sum = hn::Set(d, 1.0F / 5040);
      for (const float term : {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F})
        sum = hn::MulAdd(sum, x, hn::Set(d, term));
      return sum;
    }
  }

  // --- logarithms ---

  static HWY_INLINE VD log_of(const Real* from) {
    const DD dd;
    const VD x = load_double(from);
    if constexpr (kFixed) {
      const VD none = hn::Set(dd, kNegativeInfinity);
      return hn::IfThenElse(hn::Gt(x, hn::Set(dd, static_cast<double>(Limits<S, Real>::kTotal))), x, none);
    } else {
      return S::ToLog(dd, x);
    }
  }
  // The logarithm of number x whole units, -inf for an impossible one.
  static HWY_INLINE VD log_of(const Real* number, const Whole* whole) {
    const DD dd;
    const VD n = load_whole(whole);
    const VD x = S::ToLog(dd, load_double(number));
    return hn::IfThenElse(hn::Gt(n, hn::Set(dd, static_cast<double>(kLeastWhole))),
                          hn::MulAdd(n, hn::Set(dd, S::kUnit), x), hn::Set(dd, kNegativeInfinity));
  }

  // The logarithms of a row of numbers times `units` and what the labels have besides: sign x label_units.
  static void log_row(const Real* numbers, std::size_t width, Whole units, const Whole* label_units,
                      double sign, double scale, double* out) {
    const DD dd;
    const VD common = hn::Set(dd, static_cast<double>(units) * S::kUnit + scale);
    const VD unit = hn::Set(dd, sign * S::kUnit);
    for (std::size_t c = 0; c < width; c += hn::Lanes(dd)) {
      const VD more = hn::MulAdd(load_whole(label_units + c), unit, common);
      hn::Store(hn::Add(log_of(numbers + c), more), dd, out + c);
    }
  }

  // --- single values ---

  static double number_value(Real number) {
    if constexpr (kFixed) {
      return static_cast<double>(number) / kFixedUnit;
    } else {
      return static_cast<double>(number);
    }
  }
  static double log_value(Real number, Whole whole) {
    if (whole < kLeastWhole) return kNegativeInfinity;
    const double value = number_value(number);
    return (S::kIsLog ? std::log(value) : value) + static_cast<double>(whole) * S::kUnit;
  }
  // The logarithm x as a number and whole units. False where it is out of range.
  static bool split_value(double x, Real* number, Whole* whole) {
    *number = S::template one<Real>();
    *whole = kDead;
    if (x == kNegativeInfinity) return true;
    const double n = std::floor(x / S::kUnit);
    if (!(std::fabs(n) <= kMostUnits)) return false;
    const double rest = x - n * S::kUnit;
    *whole = static_cast<Whole>(n);
    *number = number_of(rest);
    return true;
  }
  // exp(x), or x, where x lies near 0.
  static Real number_of(double x) {
    if constexpr (kFixed) {
      return static_cast<Real>(std::lrint(std::max<double>(x, kFixedFloor) * kFixedUnit));
    } else {
      return static_cast<Real>(S::FromLogScalar(x));
    }
  }
  // The number of a logarithm that is at most about 0.
  static Real relative_number(double log_value) {
    if (log_value < Limits<S, Real>::kIgnore || log_value == kNegativeInfinity)
      return S::template zero<Real>();
    return number_of(log_value);
  }
  static double plus_scalar(double a, double b) {
    if constexpr (!S::kIsLog) return std::max(a, b);
    return log_add(a, b);
  }
  static VD finite_or_zero(VD value) {
    const DD dd;
    return hn::IfThenZeroElse(hn::Eq(value, hn::Set(dd, kNegativeInfinity)), value);
  }
};

// Chooses the vector width for a number of labels. Included once per instruction set.
//
// Calls build(tag) with the vector width that needs the least work for C labels: the widest or half of it,
// which costs little more than half as much where processors split the widest. Half of that again would save
// nothing.
template <class Real, class Build>
auto with_best_width(int labels, Build build) {
  constexpr std::size_t kWidest = 64 / sizeof(Real);
  using Wide = hn::CappedTag<Real, kWidest>;
  using Middle = hn::CappedTag<Real, kWidest / 2>;
  constexpr double kWideCost = 1.7;  // cost of one operation on them, relative to the narrower ones
  const auto panels = [&](std::size_t lanes) {
    return static_cast<double>(ceil_div(static_cast<std::size_t>(labels), lanes));
  };
  const std::size_t wide = hn::Lanes(Wide());
  const std::size_t middle = hn::Lanes(Middle());
  if (wide > middle && panels(wide) * kWideCost <= panels(middle)) return build(Wide());
  return build(Middle());
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
