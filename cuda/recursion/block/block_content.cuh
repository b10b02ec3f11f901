// The scores of a block and the factors made of them: exp(S), S from the block's first boundary and beginning
// with the rest of the gauge. The way of most blocks: small scores in float, no boundary scores.
#pragma once

#include "cuda/recursion/block/block_factors.cuh"

namespace semicrf::cuda {

// A sum of 16 small scores that loses nothing of what a float needs in an exponent: high parts are multiples
// of 2^-12, so that they add up exactly; what they lack is small.
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
  // Of a score.
  __device__ __forceinline__ static ExponentSum exactly(float x) {
    constexpr float kRound = 3072.0f;  // 1.5 x 2^11
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
template <class Real, class Semiring>
__device__ __forceinline__ Real number_of(ExponentSum<Real> x) {
  if constexpr (sizeof(Real) == sizeof(double)) {
    return Semiring::kIsLog ? exp(x.high) : x.high;
  } else if constexpr (Semiring::kIsLog) {
    return exponential_sum(x.high, x.low);
  } else {
    return x.high + x.low;
  }
}

// The scores of a label, `step` entries from one to the next.
template <class Real>
__device__ __forceinline__ void load_scores(const float* scores, int step, Real (&x)[kBlock]) {
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot) {
    x[slot] = static_cast<Real>(__ldg(scores));
    scores += step;
  }
}

// False where a score is large: then all labels' share goes out of it, which is not done here.
template <class Real, class Semiring>
__device__ __forceinline__ bool plain_factors(const Real (&x)[kBlock], bool centred, double baseline,
                                              double rest, Real (&alpha_factor)[kBlock],
                                              FactorRange<Real>* range) {
  using Sum = ExponentSum<Real>;
  Sum sum = Sum::of(rest);
  Real size = 0, highest = larger(Real(0), sum.high), lowest = smaller(Real(0), sum.high);
  const auto include = [&](int slot, Sum content) {
    size = larger(size, magnitude(content.high));
    sum.add(content);
    highest = larger(highest, sum.high);
    lowest = smaller(lowest, sum.high);
    alpha_factor[slot] = number_of<Real, Semiring>(sum);
  };
  if (centred) {
    const Sum less = Sum::of(-baseline);
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      Sum content = Sum::exactly(x[slot]);
      content.add(less);
      include(slot, content);
    }
  } else {
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) include(slot, Sum::exactly(x[slot]));
  }
  // A start's exponent is the negative of the sum before it.
  range->clear();
  range->highest = larger(highest, -lowest);
  range->lowest_alpha = lowest;
  range->lowest_start = -highest;
  range->sum = sum.value();
  // Clearly small: where the exact path sees them they must be small, too.
  return size <= static_cast<Real>(kSmallScore - 1.0 / 1024);
}

}  // namespace semicrf::cuda
