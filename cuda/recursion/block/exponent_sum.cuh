// Sums of moderate scores, and the numbers whose logarithms they are.
#pragma once

#include "cuda/tables/numbers.cuh"

namespace semicrf::cuda {

// A sum of 16 scores up to kModerateScore that loses nothing of what a float needs in an exponent: high parts
// are multiples of 2^-9, so that they add up exactly; what they lack is small.
template <class Real>
struct ExponentSum;
template <>
struct ExponentSum<double> {
  double high;
  __device__ __forceinline__ static ExponentSum of(double x) { return {x}; }
  __device__ __forceinline__ static ExponentSum exactly(double x) { return {x}; }
  __device__ __forceinline__ void add(ExponentSum other) { high += other.high; }
  __device__ __forceinline__ double value() const { return high; }
};
template <>
struct ExponentSum<float> {
  float high, low;
  // The sum that is exactly a score.
  __device__ __forceinline__ static ExponentSum exactly(float x) {
    constexpr float kRound = 24576.0f;  // 1.5 x 2^14
    const float high = __fsub_rn(__fadd_rn(x, kRound), kRound);
    return {high, __fsub_rn(x, high)};
  }
  __device__ __forceinline__ static ExponentSum of(double x) {
    const float high = exactly(static_cast<float>(x)).high;
    return {high, static_cast<float>(x - static_cast<double>(high))};
  }
  __device__ __forceinline__ void add(ExponentSum other) {
    high = __fadd_rn(high, other.high);
    low = __fadd_rn(low, other.low);
  }
  __device__ __forceinline__ double value() const {
    return static_cast<double>(high) + static_cast<double>(low);
  }
};
// The number whose logarithm is x, with units that have a bias on top.
template <class Real, class Semiring>
inline constexpr int kBiasOfSums = sizeof(Real) == sizeof(float) && Semiring::kIsLog ? kExponentialBias : 0;
template <class Real, class Semiring>
__device__ __forceinline__ Scaled<Real> biased(ExponentSum<Real> x) {
  if constexpr (sizeof(Real) == sizeof(double)) {
    return Ops<Real, Semiring>::scaled_from_log(x.high);
  } else if constexpr (Semiring::kIsLog) {
    return exponential_sum(x.high, x.low);
  } else {
    const float whole = rintf(x.high);
    return {(x.high - whole) + x.low, static_cast<int>(whole)};
  }
}
template <class Real, class Semiring>
__device__ __forceinline__ Scaled<Real> scaled(ExponentSum<Real> x) {
  const Scaled<Real> result = biased<Real, Semiring>(x);
  return {result.number, result.units - kBiasOfSums<Real, Semiring>};
}

}  // namespace semicrf::cuda
