// Factors exp(S + last score) and exp(first score - S) of a block, for blocks that the fast way of BlockRun
// does not load: large scores, boundary scores, position maxima, scores in double. S begins with the rest of
// the gauge.
#pragma once

#include "cuda/recursion/block/exact_block.cuh"
#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

// The extremes of a block's exponents, their sum, and whether all are finite.
template <class Real>
struct FactorRange {
  Real highest, lowest_start, lowest_alpha;
  bool finite;
  double sum, mass;  // sum: the last exponent without end scores
  __device__ __forceinline__ void clear() {
    highest = lowest_start = lowest_alpha = Real(0);
    finite = true;
    sum = mass = 0;
  }
  __device__ __forceinline__ void include_start(Real start) {
    highest = larger(highest, start);
    lowest_start = smaller(lowest_start, start);
    finite = finite && start > static_cast<Real>(-1e30);
  }
  // alpha: an exponent; content: the sum whose negative is the exponent of the next start, if there is one.
  __device__ __forceinline__ void include(Real alpha, Real content, bool has_start) {
    highest = larger(highest, alpha);
    lowest_alpha = smaller(lowest_alpha, alpha);
    finite = finite && alpha > static_cast<Real>(-1e30);
    if (has_start) include_start(-content);
  }
};

template <class Real>
struct BlockFactors {
  Real alpha[kBlock], start[kBlock];
  FactorRange<Real> range;
};

struct FactorSource {
  std::int64_t row;  // of the block's first run position
  int step;          // rows from one to the next, 0: none is there
  int first, last;   // positions outside of [first, last) are not of the sequence: scores of 0
  double rest;
  bool first_here, last_here, edges, backward;
  double* shift;  // row of the block's first token, or null
};

// The factors of any block: position shifts, maxima, boundary scores, scores in double. The whole team.
template <class Real, class Semiring, class Lanes>
__device__ SEMICRF_NOINLINE void block_factors(const TablesView<Real>& t, const SequenceView& sequence,
                                               FactorSource source, Lanes lanes, BlockFactors<Real>* out) {
  using O = Ops<Real, Semiring>;
  const int label = lanes.c < t.labels ? lanes.c : t.labels - 1;
  const DeviceScores first = source.backward ? sequence.ends : sequence.starts;
  const DeviceScores last = source.backward ? sequence.starts : sequence.ends;
  FactorRange<Real>& range = out->range;
  range.clear();
  Wide<Real> sum = Wide<Real>::of(source.rest);
  Real alpha_factor = O::from_log(sum);
#pragma unroll 1
  for (int slot = 0; slot < kBlock; ++slot) {
    const bool inside = slot >= source.first && slot < source.last;
    const std::int64_t row = source.row + (inside ? slot : source.first) * source.step;
    const std::int64_t at = row * t.labels + label;
    Wide<Real> content = centred_wide<Real>(sequence, row, t.labels, lanes);
    const double most =
        static_cast<double>(lanes.most(lanes.valid ? content.high : static_cast<Real>(kNone)));
    const double shift = inside ? shift_for(most) : 0.0;
    if (!inside) content = Wide<Real>::of(0);
    if (shift != 0) content.add(Wide<Real>::of(-shift));
    range.mass += shift;
    if (source.shift != nullptr && lanes.valid && lanes.c == 0) {
      source.shift[source.backward ? kBlock - 1 - slot : slot] = shift;
    }
    if (source.edges && inside) {
      Wide<Real> start = sum.negated();
      start.add(Wide<Real>::of(score_at(first, at) +
                               (source.first_here && slot == source.first ? t.first_scores[label] : 0.0)));
      range.include_start(start.high);
      out->start[slot] = O::from_log(start);
    } else {
      out->start[slot] = Semiring::kIsLog ? reciprocal(alpha_factor) : -alpha_factor;
    }
    sum.add(content);
    Wide<Real> alpha = sum;
    if (source.edges && inside) {
      alpha.add(Wide<Real>::of(score_at(last, at) +
                               (source.last_here && slot == source.last - 1 ? t.last_scores[label] : 0.0)));
    }
    range.include(alpha.high, sum.high, !source.edges && slot + 1 < kBlock);
    alpha_factor = O::from_log(alpha);
    out->alpha[slot] = alpha_factor;
  }
  range.sum = sum.value();
}

}  // namespace semicrf::cuda
