// Numbers of the two semirings in registers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "cuda/tables/limits.h"

namespace semicrf::cuda {

__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return fma(a, b, c); }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }
__device__ __forceinline__ float smaller(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ double smaller(double a, double b) { return fmin(a, b); }
__device__ __forceinline__ float magnitude(float x) { return fabsf(x); }
__device__ __forceinline__ double magnitude(double x) { return fabs(x); }
__device__ __forceinline__ float exponential(float x) { return expf(x); }
__device__ __forceinline__ double exponential(double x) { return exp(x); }

// The reciprocal of a number far from the ends of the range, to an ulp.
__device__ __forceinline__ float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}
__device__ __forceinline__ double reciprocal(double x) { return 1.0 / x; }

// Four numbers that lie at a multiple of 16 bytes.
__device__ __forceinline__ void load4(const float* from, float* to) {
  const float4 x = *reinterpret_cast<const float4*>(from);
  to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
}
// Four numbers at a multiple of 16 bytes in memory that no kernel writes.
__device__ __forceinline__ void load4_constant(const float* from, float* to) {
  const float4 x = __ldg(reinterpret_cast<const float4*>(from));
  to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
}
__device__ __forceinline__ void load4(const double* from, double* to) {
  const double2 x = *reinterpret_cast<const double2*>(from);
  const double2 y = *reinterpret_cast<const double2*>(from + 2);
  to[0] = x.x, to[1] = x.y, to[2] = y.x, to[3] = y.y;
}
__device__ __forceinline__ void load4(const int* from, int* to) {
  const float4 x = *reinterpret_cast<const float4*>(from);
  to[0] = __float_as_int(x.x), to[1] = __float_as_int(x.y);
  to[2] = __float_as_int(x.z), to[3] = __float_as_int(x.w);
}
__device__ __forceinline__ void store4(float* to, float a, float b, float c, float d) {
  *reinterpret_cast<float4*>(to) = float4{a, b, c, d};
}
__device__ __forceinline__ void store4(double* to, double a, double b, double c, double d) {
  *reinterpret_cast<double2*>(to) = double2{a, b};
  *reinterpret_cast<double2*>(to + 2) = double2{c, d};
}

// Asks for a line of memory that is wanted soon: where it is read, it is near then, and no register waits.
__device__ __forceinline__ void ask_for_line([[maybe_unused]] const void* address) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L1 [%0];" ::"l"(address));
#endif
}

// Asks for the lines of a block of 16 rows of `labels` numbers, all labels' lanes together.
template <class Real>
__device__ __forceinline__ void ask_for_block(const Real* rows, std::int64_t block, int labels, int c) {
  ask_for_line(rows + (block * labels + c) * kBlock);
}

// Exponent of a positive normal number.
__device__ __forceinline__ int exponent_of(float x) { return (__float_as_int(x) >> 23) - 127; }
__device__ __forceinline__ int exponent_of(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 52) - 1023;
}
// a + b, which must be an int, or the nearest number between 0 and `most`; newer GPUs have an instruction for
// it.
__device__ __forceinline__ int between_zero_and(int most, int a, int b) {
#if defined(__CUDA_ARCH__)
  return __viaddmin_s32_relu(a, b, most);
#else
  const int sum = a + b < most ? a + b : most;
  return sum > 0 ? sum : 0;
#endif
}
// 2^n; 0 below the range of normal numbers, the largest power above it.
__device__ __forceinline__ float power_of_two(int n, float) {
  return __int_as_float(between_zero_and(254, n, 127) << 23);
}
__device__ __forceinline__ double power_of_two(int n, double) {
  return __longlong_as_double(static_cast<long long>(between_zero_and(2046, n, 1023)) << 52);
}
// 2^n for n of at most 127, or 1023. Beyond that it is any number, and emulated NaN, so that tests
// notice.
__device__ __forceinline__ float power_in_range(int n, float) {
#if defined(SEMICRF_EMULATED_CUDA)
  if (n > 127) return std::numeric_limits<float>::quiet_NaN();
#endif
  const int biased = n + 127;
  return __int_as_float((biased > 0 ? biased : 0) << 23);
}
__device__ __forceinline__ double power_in_range(int n, double) {
#if defined(SEMICRF_EMULATED_CUDA)
  if (n > 1023) return std::numeric_limits<double>::quiet_NaN();
#endif
  const int biased = n + 1023;
  return __longlong_as_double(static_cast<long long>(biased > 0 ? biased : 0) << 52);
}
// A double as an int, for exponents: far out of range stays far out of range.
__device__ __forceinline__ int near_int(double x) {
  return static_cast<int>(rint(x < -1e8 ? -1e8 : (x > 1e8 ? 1e8 : x)));
}

// Units as a logarithm; nothing where there is none.
template <class Semiring>
__device__ __forceinline__ double log_of_units(int units) {
  return is_empty(units) ? kNone : units * Semiring::kUnit;
}
// A large number of units as a whole number of nats and a rest.
template <class Semiring>
__device__ __forceinline__ double whole_nats(double units, double* rest) {
  const double whole = floor(units * Semiring::kUnit);
  *rest = fma(units, Semiring::kUnit, -whole) + units * Semiring::kUnitRest;
  return whole;
}

__device__ __forceinline__ double log_add(double a, double b) {
  const double high = fmax(a, b);
  return high == kNone ? high : high + log1p(exp(fmin(a, b) - high));
}
template <class Semiring>
__device__ __forceinline__ double combined(double a, double b) {
  return Semiring::kIsLog ? log_add(a, b) : fmax(a, b);
}

// A sum in about twice the precision of float: what the sums within a block are kept in, so that they cost no
// double arithmetic. In double precision it is a double.
template <class Real>
struct Wide;
template <>
struct Wide<double> {
  double high;
  __device__ __forceinline__ void add(Wide other) { high += other.high; }
  __device__ __forceinline__ double value() const { return high; }
  static __device__ __forceinline__ Wide of(double x) { return {x}; }
  static __device__ __forceinline__ Wide exactly(double x) { return {x}; }
};
template <>
struct Wide<float> {
  float high, low;
  __device__ __forceinline__ void add(Wide other) {
    const float sum = __fadd_rn(high, other.high);
    const float part = __fsub_rn(sum, high);
    const float error = __fadd_rn(__fsub_rn(high, __fsub_rn(sum, part)), __fsub_rn(other.high, part));
    low = __fadd_rn(low, __fadd_rn(error, other.low));
    high = sum;
  }
  __device__ __forceinline__ double value() const {
    return static_cast<double>(high) + static_cast<double>(low);
  }
  static __device__ __forceinline__ Wide exactly(float x) { return {x, 0.0f}; }
  static __device__ __forceinline__ Wide of(double x) {
    const float high = static_cast<float>(x);
    return {high, static_cast<float>(x - static_cast<double>(high))};
  }
};
// A number near one and whole units of its semiring: together they hold what is too large or too small for a
// number.
template <class Real>
struct Scaled {
  Real number;
  int units;
};
// e^(high + low) for |high| < 2^20, high a multiple of 2^-9, low small: to the accuracy of expf. Its units
// have kExponentialBias on top, which costs an addition to take away.
#if defined(__CUDA_ARCH__)
inline constexpr int kExponentialBias = 0x4b400000;  // the bits of 1.5 x 2^23
#else
inline constexpr int kExponentialBias = 0;
#endif
__device__ __forceinline__ Scaled<float> exponential_sum(float high, float low) {
  constexpr float kPerLog2 = 1.44269504f;
#if defined(__CUDA_ARCH__)
  constexpr float kRound = 12582912.0f;        // 1.5 x 2^23: adding it rounds to a whole number
  constexpr float kHigh = 0.693145751953125f;  // log 2, so many bits that n times it is exact
  constexpr float kLow = 1.42860677e-06f;      // and its rest
  const float rounded = __fmaf_rn(high, kPerLog2, kRound);
  const float n = __fsub_rn(rounded, kRound);
  const float rest = __fadd_rn(__fmaf_rn(n, -kLow, __fmaf_rn(n, -kHigh, high)), low);
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(__fmul_rn(rest, kPerLog2)));
  return {power, __float_as_int(rounded)};
#else
  const double n = std::rint(static_cast<double>(high * kPerLog2));
  const double sum = static_cast<double>(high) + static_cast<double>(low);
  return {static_cast<float>(std::exp(sum - n * kLog2)), near_int(n)};
#endif
}

// Numbers of a semiring: how they are combined, and how they relate to logarithms, which are doubles, and to
// whole numbers of the semiring's units.
template <class Real, class Semiring>
struct Ops {
  static constexpr bool kIsLog = Semiring::kIsLog;

  static __device__ __forceinline__ Real zero() { return kIsLog ? Real(0) : static_cast<Real>(kNone); }
  static __device__ __forceinline__ Real one() { return kIsLog ? Real(1) : Real(0); }
  static __device__ __forceinline__ Real times(Real a, Real b) { return kIsLog ? a * b : a + b; }
  static __device__ __forceinline__ Real plus(Real a, Real b) { return kIsLog ? a + b : larger(a, b); }
  static __device__ __forceinline__ Real times_plus(Real a, Real b, Real sum) {
    return kIsLog ? fused(a, b, sum) : larger(sum, a + b);
  }

  // The number of a whole number of units, which may be one of the scales that stand for nothing.
  static __device__ __forceinline__ Real of_units(int units) {
    if constexpr (kIsLog) {
      return power_of_two(units, Real());
    } else {
      return is_far_below(units) ? static_cast<Real>(kNone) : static_cast<Real>(units);
    }
  }
  // of_units() for units that are no more than a number holds.
  static __device__ __forceinline__ Real of_units_in_range(int units) {
    if constexpr (kIsLog) {
      return power_in_range(units, Real());
    } else {
      return of_units(units);
    }
  }
  // Whole units in a number that is not zero.
  static __device__ __forceinline__ int units_in(Real x) {
    if constexpr (kIsLog) {
      return exponent_of(x);
    } else {
      return static_cast<int>(floor(x));
    }
  }
  // Whole units with kUnitsBias on top, which costs nothing in the log semiring: who adds it up with other
  // numbers takes the bias away with theirs.
  static constexpr int kUnitsBias = !kIsLog ? 0 : (sizeof(Real) == sizeof(float) ? 127 : 1023);
  static __device__ __forceinline__ int biased_units_in(Real x) { return units_in(x) + kUnitsBias; }

  // The number whose logarithm is x. Log semiring: x = n log 2 + rest; the rest is split so that its rounding
  // to Real does not show; exact where x is a multiple of log 2.
  static __device__ __forceinline__ Real from_log(double x) {
    if constexpr (!kIsLog) {
      return static_cast<Real>(x);
    } else {
      if (!(x > -1e8)) return Real(0);
      const int n = near_int(x * (1 / kLog2));
      const double rest = fma(static_cast<double>(-n), kLog2, x);
      const Real high = static_cast<Real>(rest);
      Real e = exponential(high);
      if constexpr (sizeof(Real) == sizeof(float))
        e = fused(e, static_cast<Real>(rest - static_cast<double>(high)), e);
      return e * power_of_two(n, Real());
    }
  }
  // The number whose logarithm is x with its whole units apart, for numbers of units that an int holds.
  static __device__ __forceinline__ Scaled<Real> scaled_from_log(double x) {
    if (!(x > kNone)) return {zero(), 0};
    const int n = near_int(x * (1 / Semiring::kUnit));
    const double rest = fma(static_cast<double>(-n), Semiring::kUnit, x);
    return {from_log(rest), n};
  }
  static __device__ __forceinline__ Scaled<Real> inverse(Scaled<Real> x) {
    return {kIsLog ? reciprocal(x.number) : -x.number, -x.units};
  }
  static __device__ __forceinline__ Real inverse(Real x) { return kIsLog ? reciprocal(x) : -x; }
  static __device__ __forceinline__ double to_log(Real x) {
    if constexpr (kIsLog) {
      return x > Real(0) ? log(static_cast<double>(x)) : kNone;
    } else {
      return static_cast<double>(x);
    }
  }
};

}  // namespace semicrf::cuda
