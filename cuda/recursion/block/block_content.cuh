// The scores of a block and the factors made of them: exp(S), S from the block's first boundary and beginning
// with the rest of the gauge, as a number near one and whole units, so that no size of the scores overflows.
// The way of most blocks: scores of moderate size in float, no boundary scores.
#pragma once

#include "cuda/recursion/block/block_factors.cuh"
#include "cuda/recursion/block/exponent_sum.cuh"

namespace semicrf::cuda {

// The scores of a label, `step` entries from one to the next.
template <class Real>
__device__ __forceinline__ void load_scores(const float* scores, int step, Real (&x)[kBlock]) {
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot) {
    x[slot] = static_cast<Real>(__ldg(scores));
    scores += step;
  }
}

// What a label's content does to alpha and to starts along a block: factors made from the scores as they are
// asked for, or those of the long way.
template <class Real, class Semiring>
struct BlockContent {
  using O = Ops<Real, Semiring>;
  using Sum = ExponentSum<Real>;
  Real x[kBlock];
  Sum less;  // taken out of every score
  Sum sum;
  const BlockFactors<Real>* factors;  // null: of the scores

  __device__ __forceinline__ void begin(bool centred, double baseline, double rest) {
    less = Sum::of(centred ? -baseline : 0.0);
    sum = Sum::of(rest);
    factors = nullptr;
  }
  // Whether no score is so large that all labels' share goes out of it, which is not done here.
  __device__ __forceinline__ bool is_moderate() const {
    Real size = 0;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) size = larger(size, magnitude(x[slot] + less.high));
    return size <= static_cast<Real>(kModerateScore - 1);
  }
  __device__ __forceinline__ Scaled<Real> first_start() const {
    return O::inverse(scaled<Real, Semiring>(sum));
  }
  // exp(S + last score) at the slot's right boundary.
  __device__ __forceinline__ Scaled<Real> alpha_factor(int slot) {
    if (factors != nullptr) return factors->alpha[slot];
    Sum content = Sum::exactly(x[slot]);
    content.add(less);
    sum.add(content);
    return scaled<Real, Semiring>(sum);
  }
  // The content with the rest before it; when all slots were asked for.
  __device__ __forceinline__ double total() const { return factors != nullptr ? factors->sum : sum.value(); }
};

}  // namespace semicrf::cuda
