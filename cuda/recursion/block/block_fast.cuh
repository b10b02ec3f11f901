// The recursion over the 16 boundaries of a block on the fast path, and what certifies it (docs/algorithm.md,
// "The certificate").
#pragma once

#include "cuda/recursion/block/block_content.cuh"
#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/team_memory.cuh"

namespace semicrf::cuda {

// What a lane keeps of its label through a run; bounds in units.
template <class Config>
struct LabelTables {
  using Real = typename Config::Real;
  int label;
  int into, out_of;  // transitions
  int near_bound;    // durations within a block
  Real near[kBlock];
  Real transition[Config::kRows > 0 ? Config::kRows : 1];
};

// What a block's numbers are relative to, in units.
struct BlockScales {
  int common;  // alpha inside the recursion
  int bound;   // sums over durations
  int to_alpha, to_near;
  bool idle_sums, idle_starts;  // known to be zero, because nothing leads there
};

// The tail along a block: what was open longer than K, and gamma_{t-K-1} with B[K] on top.
template <class Real>
struct BlockTail {
  int bound;    // what it is relative to, in units
  Real to_sum;  // takes it to the bound of the sums
  Real number;
  Real decay;
  // The sources lie in two blocks of the ring, from slot `first_new` on in the newer one, or in this block.
  // Factors: what takes their numbers to the tail's bound, B[K] included.
  int old_block, new_block, first_new;
  Real old_factor, new_factor, here_factor;
  double* here;  // this block's starts, when K is below the block's length
  Real* out;     // of the block's first boundary, or null
  int out_step;
  Real out_factor;
  Real least;
};

template <class Real>
struct BlockWindow {  // where messages go, by slot; null: nowhere
  Real *alpha, *gamma;
  int step;
};

// Positions of a block that are of the sequence, [first, last), and whether the sequence's first segments
// begin at `first` without a transition.
struct BlockCut {
  int first = 0, last = kBlock;
  bool bare = false;
};

template <class Real>
struct BlockResult {
  Real gamma[kBlock];
  // Extremes of the numbers that the certificate looks at: sums over durations and over sources, gamma, and
  // alpha relative to the bound.
  Real least_sum, least_source, least_gamma, most_gamma, least_stored, most_stored;
  Real stored;  // alpha at the block's end
};

template <class Config>
class FastBlock {
 public:
  using Real = typename Config::Real;
  using Semiring = typename Config::Semiring;
  using Lanes = typename Config::Lanes;
  using Memory = typename Config::Memory;
  using O = typename Config::O;
  using L = typename Config::L;
  static constexpr int kRows = Config::kRows;

  __device__ __forceinline__ FastBlock(const TablesView<Real>& t, const Memory& m, const Lanes& lanes,
                                       const LabelTables<Config>& label)
      : t_(t), m_(m), lanes_(lanes), label_(label) {}

  // `sums`: the far part in, the sums over durations out. `start_factors`: null, or those of the long way.
  // Without kCut the block is whole, whatever `cut` says.
  template <bool kTail, bool kStores, bool kCut>
  __device__ __forceinline__ void run(Real alpha, Real first_factor, const Real (&alpha_factor)[kBlock],
                                      const Real* start_factors, const BlockScales& scales, BlockCut cut,
                                      BlockWindow<Real> window, BlockTail<Real>* tail, Real (&sums)[kBlock],
                                      BlockResult<Real>* out) const {
    // Lanes without a label must add nothing to the others' sums.
    const Real to_alpha = lanes_.valid ? O::of_units(scales.to_alpha) : O::zero();
    const Real to_near = O::of_units(scales.to_near);
    Real start_factor = first_factor;
    // Straight code where arrays are to be registers; cut blocks are rare, and a loop is a tenth of the code.
#pragma unroll(kCut ? 1 : kBlock)
    for (int slot = 0; slot < kBlock; ++slot) {
      const bool inside = !kCut || (slot >= cut.first && slot < cut.last);
      const bool begins = kCut ? slot == cut.first : slot == 0;
      Real* row = m_.alpha.from(slot % 2 * m_.alpha_width);
      if (lanes_.has_alpha()) row[lanes_.c] = alpha;
      lanes_.sync();
      Real sum = sum_over_sources(row);
      if (kCut && cut.bare && begins) sum = O::of_units(-(scales.common + label_.into));
      if (kCut && !inside) sum = O::zero();
      if (start_factors != nullptr) start_factor = start_factors[slot];
      const Real gamma = O::times(sum, start_factor);
      const Real near = O::times(gamma, to_near);
      out->gamma[slot] = gamma;
#pragma unroll
      for (int i = slot; i < kBlock; ++i) sums[i] = O::times_plus(near, label_.near[i - slot], sums[i]);
      if constexpr (kTail) sums[slot] = O::plus(sums[slot], next_tail(tail, slot, near, inside, begins));
      const Real stored = inside ? O::times(sums[slot], alpha_factor[slot]) : O::zero();
      if (kStores && window.alpha != nullptr) {
        window.alpha[slot * window.step] = stored;
        window.gamma[slot * window.step] = Semiring::kIsLog ? sum : gamma;
      }
      if (kCut && !inside) {
        start_factor = Semiring::kIsLog ? reciprocal(alpha_factor[slot]) : -alpha_factor[slot];
        continue;
      }
      alpha = O::times(sums[slot], O::times(alpha_factor[slot], to_alpha));
      out->least_sum = begins ? sums[slot] : smaller(out->least_sum, sums[slot]);
      out->least_source = begins ? sum : smaller(out->least_source, sum);
      out->least_gamma = begins ? gamma : smaller(out->least_gamma, gamma);
      out->most_gamma = begins ? gamma : larger(out->most_gamma, gamma);
      out->least_stored = begins ? stored : smaller(out->least_stored, stored);
      out->most_stored = begins ? stored : larger(out->most_stored, stored);
      out->stored = stored;
      start_factor = Semiring::kIsLog ? reciprocal(alpha_factor[slot]) : -alpha_factor[slot];
    }
  }

  // Whether all numbers of the block are what they should be; all lanes together.
  __device__ __forceinline__ bool certified(const BlockScales& scales, const FactorRange<Real>& range,
                                            const BlockResult<Real>& result) const {
    const Real to_alpha = O::of_units(scales.to_alpha);
    const Real to_near = O::of_units(scales.to_near);
    const Real most = larger(larger(result.most_stored, O::times(result.most_stored, to_alpha)),
                             larger(result.most_gamma, O::times(result.most_gamma, to_near)));
    Real sum_limit = t_.least_total;
    Real source_limit = t_.least_start;
    if constexpr (Semiring::kIsLog) {
      // What vanished in a table stood for less than e^kIgnore of the number it is multiplied with. Numbers
      // of other labels count, too.
      if (t_.near_vanished || t_.transition_vanished) {
        const Real growth = larger(lanes_.most(lanes_.valid ? most : Real(1)), Real(1));
        if (t_.near_vanished) sum_limit *= growth;
        if (t_.transition_vanished) source_limit *= growth;
      }
    } else {
      source_limit = static_cast<Real>(L::kSmallest);
    }
    // Sums that are zero because nothing leads there are known beforehand.
    constexpr Real kSmallest = static_cast<Real>(L::kSmallest);
    return (scales.idle_sums || (result.least_sum >= sum_limit && result.least_stored >= kSmallest)) &&
           (scales.idle_starts || (result.least_source >= source_limit && result.least_gamma >= kSmallest)) &&
           most <= static_cast<Real>(L::kLargest) && factors_certified(scales, range);
  }

 private:
  __device__ __forceinline__ Real sum_over_sources(const Real* alpha) const {
    Real sums[4] = {O::zero(), O::zero(), O::zero(), O::zero()};
    if constexpr (kRows > 0) {
#pragma unroll
      for (int from = 0; from < kRows; from += 4) {
        Real values[4];
        load4(alpha + from, values);
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[k] = O::times_plus(values[k], label_.transition[from + k], sums[k]);
      }
    } else {
      const Real* column = m_.transitions + label_.label;
      int from = 0;
#pragma unroll 2
      for (; from + 3 < t_.labels; from += 4) {
        Real values[4];
        load4(alpha + from, values);
#pragma unroll
        for (int k = 0; k < 4; ++k)
          sums[k] = O::times_plus(values[k], column[(from + k) * t_.width], sums[k]);
      }
      // Into the sums where an unrolled kernel has them: not a digit may differ.
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (from + k < t_.labels)
          sums[k] = O::times_plus(alpha[from + k], column[(from + k) * t_.width], sums[k]);
      }
    }
    return O::plus(O::plus(sums[0], sums[1]), O::plus(sums[2], sums[3]));
  }

  // `inside`: the position is of the sequence; `begins`: the first that is.
  __device__ __forceinline__ Real next_tail(BlockTail<Real>* tail, int slot, Real near, bool inside,
                                            bool begins) const {
    const bool within = t_.duration >= kBlock;
    Real source = O::zero();
    if (!within && lanes_.valid) tail->here[slot * t_.labels] = static_cast<double>(near);
    if (within || slot < t_.duration) {
      const int from = (slot - t_.duration) & (kBlock - 1);
      const bool newer = slot >= tail->first_new;
      if (lanes_.has_memory()) {
        source = O::times(m_.ring.at(newer ? tail->new_block : tail->old_block, from),
                          newer ? tail->new_factor : tail->old_factor);
      }
    } else if (lanes_.valid) {
      source = O::times(static_cast<Real>(tail->here[(slot - t_.duration) * t_.labels]), tail->here_factor);
    }
    const Real number = O::times(O::plus(tail->number, source), tail->decay);
    if (tail->out != nullptr)
      tail->out[slot * tail->out_step] = inside ? O::times(number, tail->out_factor) : O::zero();
    if (!inside) return O::zero();
    tail->number = number;
    tail->least = begins ? number : smaller(tail->least, number);
    return O::times(number, tail->to_sum);
  }

  __device__ __forceinline__ bool factors_certified(const BlockScales& scales,
                                                    const FactorRange<Real>& range) const {
    constexpr Real kUnit = static_cast<Real>(Semiring::kUnit);
    constexpr Real kMost = static_cast<Real>(L::kExponent);
    constexpr int kMostUnits = static_cast<int>(L::kExponent / Semiring::kUnit);
    bool good = range.finite && range.highest <= kMost && -range.lowest_start <= kMost &&
                -range.lowest_alpha <= kMost && larger(scales.to_alpha, scales.to_near) <= kMostUnits;
    if constexpr (Semiring::kIsLog) {
      // No product of two factors may vanish on its own: what it is multiplied with can be large. Zeros are
      // exact.
      constexpr Real kLeast = static_cast<Real>(L::kIgnore);
      const Real alpha = static_cast<Real>(scales.to_alpha) * kUnit + range.lowest_alpha;
      const Real near = static_cast<Real>(scales.to_near) * kUnit + range.lowest_start;
      good = good &&
             (label_.out_of == kEmpty || (alpha >= kLeast && (near >= kLeast || is_empty(scales.to_near))));
    }
    return good;
  }

  const TablesView<Real>& t_;
  const Memory& m_;
  const Lanes& lanes_;
  const LabelTables<Config>& label_;
};

}  // namespace semicrf::cuda
