// The scores of a block and the factors made of them: exp(S), S from the block's first boundary and beginning
// with the rest of the gauge, as a number near one and whole units, so that no size of the scores overflows.
// The way of most blocks: scores of moderate size in float, no boundary scores.
#pragma once

#include "cuda/recursion/block/block_factors.cuh"
#include "cuda/recursion/block/exponent_sum.cuh"

namespace semicrf::cuda {

// A score, asked for where the program says so: neither earlier, where it would take a register, nor later.
__device__ __forceinline__ float load_here(const float* from) {
#if defined(__CUDA_ARCH__)
  float x;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(from));
  return x;
#else
  return *from;
#endif
}

// What a label's content does to alpha and to starts along a block: factors made from the scores as they are
// asked for, or those of the long way.
template <class Real, class Semiring>
struct BlockContent {
  using O = Ops<Real, Semiring>;
  using Sum = ExponentSum<Real>;
  const float* scores;  // of the label at the block's first position, or null: zeros
  int step;             // entries from one to the next
  Sum less;             // taken out of every score
  Sum sum;
  const BlockFactors<Real>* factors;  // null: of the scores

  __device__ __forceinline__ void begin(const float* from, int step_, Sum less_, double rest) {
    scores = from;
    step = step_;
    less = less_;
    sum = Sum::of(rest);
    factors = nullptr;
  }
  // Whether surely no score is so large that all labels' share goes out of it, which is not done here. The
  // scores are near when they are asked for again.
  __device__ __forceinline__ bool is_moderate() const {
    if (scores == nullptr) return true;
    const float* from = scores;
    float size = 0;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot, from += step) size = larger(size, magnitude(__ldg(from)));
    return static_cast<Real>(size) <= static_cast<Real>(kModerateScore - 1) - magnitude(less.high);
  }
  // Scores of some positions.
  template <int kCount>
  __device__ __forceinline__ void load(int first, Real (&x)[kCount]) const {
    if (scores == nullptr) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) x[k] = Real(0);
      return;
    }
    const float* from = scores + first * step;
#pragma unroll
    for (int k = 0; k < kCount; ++k, from += step) x[k] = static_cast<Real>(load_here(from));
  }
  __device__ __forceinline__ Scaled<Real> first_start() const {
    return O::inverse(scaled<Real, Semiring>(sum));
  }
  // exp(S + last score) at the right boundary of the next position, which has score x.
  __device__ __forceinline__ Scaled<Real> alpha_factor(Real x) {
    Sum content = Sum::exactly(x);
    content.add(less);
    sum.add(content);
    return scaled<Real, Semiring>(sum);
  }
  // The content with the rest before it; when all slots were asked for.
  __device__ __forceinline__ double total() const { return factors != nullptr ? factors->sum : sum.value(); }
};

}  // namespace semicrf::cuda
