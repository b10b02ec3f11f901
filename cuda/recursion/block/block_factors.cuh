// Factors exp(S + last score) and exp(first score - S) of a block, for blocks that the fast way of BlockRun
// does not load: large scores, boundary scores, position maxima, scores in double. S begins with the rest of
// the gauge.
#pragma once

#include "cuda/recursion/block/exact_block.cuh"
#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

template <class Real>
struct BlockFactors {
  Scaled<Real> alpha[kBlock], start[kBlock];
  bool good;         // the content is finite and its units are whole numbers that can be added up
  double sum, mass;  // of the content, with the rest; of the position shifts
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
  constexpr double kWidest = kMostContent * Semiring::kUnit;
  const int label = lanes.c < t.labels ? lanes.c : t.labels - 1;
  const DeviceScores first = source.backward ? sequence.ends : sequence.starts;
  const DeviceScores last = source.backward ? sequence.starts : sequence.ends;
  Wide<Real> sum = Wide<Real>::of(source.rest);
  Scaled<Real> alpha = O::scaled_from_log(source.rest);
  out->good = true;
  out->mass = 0;
  // Forbidden boundaries are zeros, which certificates need not know of.
  const auto within = [](double x) { return x <= kWidest && (x >= -kWidest || x == kNone); };
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
    out->mass += shift;
    if (source.shift != nullptr && lanes.valid && lanes.c == 0) {
      source.shift[source.backward ? kBlock - 1 - slot : slot] = shift;
    }
    const bool at_edge = source.edges && inside;
    out->start[slot] = O::inverse(alpha);
    if (at_edge) {
      const double start = score_at(first, at) +
                           (source.first_here && slot == source.first ? t.first_scores[label] : 0.0) -
                           sum.value();
      out->good = out->good && within(start);
      out->start[slot] = O::scaled_from_log(start);
    }
    sum.add(content);
    const double here = sum.value();
    out->good = out->good && fabs(here) <= kWidest;
    alpha = O::scaled_from_log(here);
    out->alpha[slot] = alpha;
    if (at_edge) {
      const double end = here + score_at(last, at) +
                         (source.last_here && slot == source.last - 1 ? t.last_scores[label] : 0.0);
      out->good = out->good && within(end);
      out->alpha[slot] = O::scaled_from_log(end);
    }
  }
  out->sum = sum.value();
}

}  // namespace semicrf::cuda
