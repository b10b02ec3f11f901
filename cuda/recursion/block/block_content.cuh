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

// Scores of some positions, asked for before they are wanted.
template <class Real, int kCount>
struct ComingScores {
  Real emission[kCount];
  Real start[kCount], end[kCount];  // where there are boundary scores
};

// What a label's content does to alpha and to starts along a block: factors made from the scores as they are
// asked for, or those of the long way. Units have a bias: see kBiasOfSums.
template <class Real, class Semiring>
struct BlockContent {
  using O = Ops<Real, Semiring>;
  using Sum = ExponentSum<Real>;
  static constexpr int kBias = kBiasOfSums<Real, Semiring>;
  const float* scores;  // scores of the label from the block's first position on, or null: zeros
  int step;             // entries from one position to the next
  int after;            // the slot to read on from after the last one: kBlock, or 0 where no block comes
  Sum less;             // taken out of every score
  Sum sum;
  const float *starts, *ends;         // boundary scores of the first position, or null: zeros
  const BlockFactors<Real>* factors;  // null: of the scores
  Real size;                          // the largest magnitude of the scores that were asked for

  __device__ __forceinline__ void begin(const float* from, int step_, Sum less_, double rest) {
    scores = from;
    step = step_;
    less = less_;
    sum = Sum::of(rest);
    after = 0;
    starts = ends = nullptr;
    factors = nullptr;
    size = 0;
  }
  // Whether surely no score is so large that all labels' share goes out of it, which is not done here. The
  // scores are near when they are asked for again.
  __device__ __forceinline__ bool is_moderate(bool* forbidden = nullptr) const {
    if (scores == nullptr) return true;
    const float* from = scores;
    float most = 0;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot, from += step) most = larger(most, magnitude(__ldg(from)));
    if (forbidden != nullptr) *forbidden = most == static_cast<float>(-kNone);
    return is_moderate(static_cast<Real>(most));
  }
  // is_moderate() when all slots were asked for.
  __device__ __forceinline__ bool was_moderate() const { return is_moderate(size); }
  // Asks for the scores k positions after a slot; kBlock: where to read on.
  template <bool kEdges, int kCount>
  __device__ __forceinline__ void load(int slot, int k, ComingScores<Real, kCount>& coming) const {
    coming.emission[k % kCount] = load_of(scores, slot, k);
    if constexpr (kEdges) {
      coming.start[k % kCount] = load_of(starts, slot, k);
      coming.end[k % kCount] = load_of(ends, slot, k);
    }
  }
  // What a boundary score multiplies a factor by: apart from the content, as in moderate_factors_of(). Its
  // units have no bias.
  __device__ __forceinline__ Scaled<Real> edge_factor(Real score) {
    const bool forbids = score == static_cast<Real>(kNone);
    const Real known = forbids ? Real(0) : score;
    size = larger(size, magnitude(known));
    const Scaled<Real> edge = biased<Real, Semiring>(Sum::exactly(known));
    return {forbids ? O::zero() : edge.number, edge.units - kBias};
  }
  // exp(S) at the first boundary: alpha's factor, whose inverse is that of starts.
  __device__ __forceinline__ Scaled<Real> first_factor() const { return biased<Real, Semiring>(sum); }
  // exp(S + last score) at the right boundary of the next position, which has score x.
  __device__ __forceinline__ Scaled<Real> alpha_factor(Real x) {
    size = larger(size, magnitude(x));
    Sum content = Sum::exactly(x);
    content.add(less);
    sum.add(content);
    return biased<Real, Semiring>(sum);
  }
  // The content with the rest before it; when all slots were asked for.
  __device__ __forceinline__ double total() const { return factors != nullptr ? factors->sum : sum.value(); }

 private:
  __device__ __forceinline__ Real load_of(const float* from, int slot, int k) const {
    if (from == nullptr) return Real(0);
    return static_cast<Real>(load_here(from + (slot < kBlock ? slot : after) * step + k * step));
  }
  __device__ __forceinline__ bool is_moderate(Real most) const {
    return most <= static_cast<Real>(kModerateScore - 1) - magnitude(less.high);
  }
};

}  // namespace semicrf::cuda
