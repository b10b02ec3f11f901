// Members of BlockRun: one block, put together of its phases; tails; what the fast path hands on.
#pragma once

#include "cuda/block_run.cuh"

namespace semicrf::cuda {

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::step(const Place& at) {
  int ring = kEmpty;
  if constexpr (Lanes::kTeam) {
    if (lanes_.valid) {
      ring = far_.bound(head_, 1, lanes_.has_helpers() ? t_.offsets : 1);
      if (lanes_.has_helpers()) ring = larger(ring, far_.bound_of_parts(lanes_, parity_));
    }
  } else if (lanes_.c < Lanes::kTableWidth) {
    ring = far_.bound(head_, 1, 1);
  }
  if (!is_empty(ring)) ring += gauge_;
  const BlockScales scales = scales_of(at, ring);
  Real sums[kBlock];
  sum_far(sums, scales.bound);

  // Factors exp(S + last score); blocks of large scores, with boundary scores, or read in double take the
  // long way.
  FactorRange<Real> range;
  Real alpha_factor[kBlock];
  bool small = at.scores != nullptr;
  if (small) {
    Real x[kBlock];
    load_scores(at.scores + at.row * t_.labels + label_.label, direction() * t_.labels, x);
    small = plain_factors<Real, Semiring>(x, centred_, baseline_, rest_, alpha_factor, &range);
  } else {
    range.clear();
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) alpha_factor[slot] = O::one();
  }
  prefetch_rows(at);
  // Lanes without a label follow the last one.
  const bool long_way_here = at.running && !small;
  BlockFactors<Real> long_way;
  const Real* start_factors = nullptr;
  if (lanes_.any_team(long_way_here)) {
    // Rows of a cut block are not all there.
    const bool readable = at.running && at.whole;
    FactorSource source;
    source.row = readable ? at.row : 0;
    source.step = readable ? direction() : 0;
    source.rest = rest_;
    source.first_here = at.first_here;
    source.last_here = at.last_here;
    source.edges = at.edges;
    source.backward = p_.backward != 0;
    source.shift = at.storing && p_.store.shift != nullptr ? p_.store.shift + at.store_row : nullptr;
    block_factors<Real, Semiring, Lanes>(p_aside_.tables, *aside_.sequence, source, lanes_, &long_way);
    // What other teams need must not change a digit of this one's.
    if (lanes_.any(long_way_here)) {
      range = long_way.range;
      start_factors = long_way.start;
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot) alpha_factor[slot] = long_way.alpha[slot];
    }
  } else if (at.storing && p_.store.shift != nullptr && lanes_.valid && lanes_.c == 0) {
    for (int slot = 0; slot < kBlock; ++slot) p_.store.shift[at.store_row + slot] = 0;
  }

  BlockTail<Real> tail;
  if (t_.tail) fill_tail(at, scales.bound, &tail);
  BlockWindow<Real> window{nullptr, nullptr, p_.backward ? -t_.labels : t_.labels};
  if (at.storing && lanes_.valid) {
    const std::int64_t first = (at.store_row + (p_.backward ? kBlock - 1 : 0)) * t_.labels + lanes_.c;
    window.alpha = p_.store.alpha + first;
    window.start = p_.store.start + first;
    if (t_.tail && p_.store.tail != nullptr) tail.out = p_.store.tail + first;
  }
  const Wide<Real> rest = Wide<Real>::of(rest_);
  const Real first_factor = number_of<Real, Semiring>(rest.negated());
  Real alpha = number_of_units<Real, Semiring>(carry_scale_ - scales.common + label_.out_of);
  alpha = lanes_.valid && !is_far_below(carry_scale_) ? O::times(alpha, carry_) : O::zero();
  const FastBlock<Real, Semiring, Lanes, kRows> fast_block(t_, m_, lanes_, label_);
  BlockResult<Real> result;
  const auto recursion = [&](auto has_tail, auto stores) {
    fast_block.template run<decltype(has_tail)::value, decltype(stores)::value>(
        alpha, first_factor, alpha_factor, start_factors, scales, window, &tail, sums, &result);
  };
  // What a model or a pass does without is not in the way of the others.
  if (t_.tail) {
    recursion(std::true_type(), std::true_type());
  } else if (p_.store.alpha != nullptr) {
    recursion(std::false_type(), std::true_type());
  } else {
    recursion(std::false_type(), std::false_type());
  }

  bool good = fast_block.certified(scales, range, result);
  good = good && !impossible_ && !t_.too_large && (!is_far_below(ring) || is_empty(ring));
  if (t_.tail) good = good && tail_certified(tail);
  const bool refused = lanes_.any(lanes_.valid && !good);
  const bool fast = at.running && at.whole && at.plain_start && !refused;
  const bool exact = at.running && !fast;
  // In an exact block the recursion's sums are made again: they have been added to.
  if (lanes_.any_team(exact)) {
    sum_far(sums, scales.bound);
    run_exact(at, scales, ring, sums, exact);
    if (exact && at.whole && at.plain_start) ++aside_.fallbacks;
  }
  finish_fast(at, scales, result, range, tail, fast);
  lanes_.sync();
}

// Asks for the rows of the next block.
template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::prefetch_rows(const Place& at) const {
#if defined(__CUDA_ARCH__)
  constexpr int kLine = 128 / sizeof(float);
  if (at.scores == nullptr || at.left <= 1 || lanes_.c * kLine >= kBlock * t_.labels) return;
  const std::int64_t row = p_.backward ? at.row - (2 * kBlock - 1) : at.row + kBlock;
  asm volatile("prefetch.global.L1 [%0];" ::"l"(at.scores + row * t_.labels + lanes_.c * kLine));
#else
  (void)at;
#endif
}

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ BlockScales BlockRun<Real, Semiring, Lanes, kRows>::scales_of(const Place& at,
                                                                                         int ring) const {
  BlockScales scales;
  // The largest alpha typically grows along a block as it did along the last one.
  scales.common = growth_ >> 1;
  int start = scales.common + label_.into + label_.near_bound;
  if (at.edges) {
    const std::int64_t row = at.running && at.whole ? at.row : 0;
    const double first = score_at(first_scores(), row * t_.labels + label_.label) +
                         (at.first_here ? t_.first_scores[label_.label] : 0.0);
    const int units = units_of<Semiring>(first);
    start = is_far_below(units) ? kEmpty : start + units;
  }
  int bound = larger(ring, start);
  if (t_.tail) {
    const double decay = t_.log_tail[label_.label];
    bound = larger(bound, units_of<Semiring>(aside_.tail_log - rest_ + decay));
    int oldest = kEmpty;
    if (lanes_.has_memory()) {
      oldest = m_.ring.scale(ring_before(t_.ring_blocks));
      if (t_.ring_blocks > 1) oldest = larger(oldest, m_.ring.scale(ring_before(t_.ring_blocks - 1)));
    }
    const int last = units_of<Semiring>(t_.last_bias[label_.label] + decay);
    if (!is_far_below(oldest) && !is_empty(last)) bound = larger(bound, oldest + gauge_ + last);
  }
  scales.idle_sums = is_empty(bound);
  scales.idle_starts = is_empty(label_.into);
  scales.bound = scales.idle_sums ? scales.common : bound;
  scales.to_alpha = scales.bound - scales.common + label_.out_of;
  scales.to_near = scales.common + label_.into + label_.near_bound - scales.bound;
  return scales;
}

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::sum_far(Real (&sums)[kBlock],
                                                                                int bound) const {
  far_.clear(sums);
  if constexpr (Lanes::kTeam) {
    if (!lanes_.valid) return;
    far_.add(sums, head_, 1, lanes_.has_helpers() ? t_.offsets : 1, bound - gauge_);
    if (lanes_.has_helpers()) far_.add_parts(sums, lanes_, parity_, bound - gauge_);
  } else {
    if (lanes_.c < Lanes::kTableWidth) far_.add(sums, head_, 1, 1, bound - gauge_);
  }
}

// --- tails ---

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::fill_tail(
    const Place& at, int bound, BlockTail<Real>* tail) const {
  const int label = label_.label;
  const double bound_log = bound * Semiring::kUnit;
  tail->number = from_log<Real, Semiring>(aside_.tail_log - rest_ - bound_log);
  tail->decay = t_.tail_factor[label];
  tail->old_block = ring_before(t_.ring_blocks);
  tail->new_block = t_.ring_blocks > 1 ? ring_before(t_.ring_blocks - 1) : tail->old_block;
  tail->first_new = t_.duration - kBlock * (t_.ring_blocks - 1);
  const auto factor = [&](int block) {
    if (!lanes_.valid) return O::zero();
    const double log = ring_log_scale<Real, Semiring>(exact(), block, gauge_, 0.0);
    return from_log<Real, Semiring>(log + t_.last_bias[label] - bound_log);
  };
  tail->old_factor = factor(tail->old_block);
  tail->new_factor = factor(tail->new_block);
  // Not from label_: an index that is not a constant would put all of this object into memory.
  tail->here_factor = t_.duration <= kBlock ? t_.near_table[label * kBlock + t_.duration - 1] : O::zero();
  tail->here = exact().near;
  tail->out = nullptr;
  tail->out_step = p_.backward ? -t_.labels : t_.labels;
  tail->out_factor = number_of<Real, Semiring>(Wide<Real>::of(rest_));
  tail->least = O::one();
}
template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ bool BlockRun<Real, Semiring, Lanes, kRows>::tail_certified(
    const BlockTail<Real>& tail) const {
  const bool idle = t_.log_tail[label_.label] == kNone ||
                    (t_.duration >= kBlock && aside_.tail_log == kNone &&
                     is_empty(m_.ring.scale(tail.old_block)) && is_empty(m_.ring.scale(tail.new_block)));
  return idle ||
         (tail.least >= static_cast<Real>(L::kSmallest) && tail.number <= static_cast<Real>(L::kLargest));
}

// --- after the recursion ---

// What of the lanes' blocks were fast moves on to the next boundary; all lanes together.
template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::finish_fast(
    const Place& at, const BlockScales& scales, const BlockResult<Real>& result,
    const FactorRange<Real>& range, const BlockTail<Real>& tail, bool mine) {
  const bool something = lanes_.valid && result.stored > O::zero();
  const int within = something ? units_in<Real, Semiring>(result.stored) : 0;
  const int scale = something ? scales.bound + within : kEmpty;
  const int largest = lanes_.most(mine ? scale : kEmpty);
  // Moves of the content's whole units go into the gauge.
  const double units = rint(range.sum * (1 / Semiring::kUnit));
  const double rest = fma(-units, Semiring::kUnit, range.sum);
  const int shift = is_empty(largest) ? 0 : largest;
  const int gauge = gauge_ + static_cast<int>(units) - shift;
  const bool moves = lanes_.valid && (gauge > kMostGauge || gauge < -kMostGauge);
  // The block's scales are those of its first boundary.
  keep_starts_of(scales, result, moves ? gauge - gauge_ : -gauge_, mine);
  if (!mine) return;
  if (at.storing) {
    double nats_rest;
    const double nats = whole_nats<Semiring>(aside_.base, &nats_rest);
    if (lanes_.valid) {
      const std::int64_t to = at.store_row / kBlock * t_.labels + lanes_.c;
      p_.store.alpha_scale[to] = scales.bound * Semiring::kUnit + nats_rest;
      const int start = scales.common + label_.into;
      p_.store.start_scale[to] = log_of_units<Semiring>(start) + nats_rest + (Semiring::kIsLog ? 0.0 : rest_);
      p_.store.content[to] = range.sum - rest_;
      double most = kNone;
      if (result.most_start > O::zero()) {
        most = (start + units_in<Real, Semiring>(result.most_start)) * Semiring::kUnit + rest_ + nats_rest;
        if (!Semiring::kIsLog)
          most = start * Semiring::kUnit + static_cast<double>(result.most_start) + rest_ + nats_rest;
      }
      p_.store.start_bound[to] = most;
      if (lanes_.c == 0) {
        p_.store.base[at.store_row / kBlock] = nats;
        p_.store.mass[at.store_row / kBlock] = aside_.mass;
        p_.store.exact[at.store_row / kBlock] = 0;
      }
    }
  }
  if (t_.tail) {
    // The decay was rounded to a Real 16 times over.
    aside_.tail_log = to_log<Real, Semiring>(tail.number) + (scales.bound - shift) * Semiring::kUnit +
                      range.sum + t_.tail_correction[label_.label];
  }
  carry_ = something ? less_units<Real, Semiring>(result.stored, within) : O::zero();
  carry_scale_ = something ? scale - shift : kEmpty;
  impossible_ = is_empty(largest);
  growth_ = larger(-kMostGrowth, smaller(shift, kMostGrowth));
  aside_.base += shift;
  aside_.mass += range.mass;
  rest_ = rest;
  gauge_ = gauge;
  if (moves) request_move(gauge, false);
}

// Starts go into the ring, the largest of a label in [1, 2), or in [0, 1) (max).
template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::keep_starts_of(
    const BlockScales& scales, const BlockResult<Real>& result, int gauge, bool mine) {
  const bool something = lanes_.valid && result.most_start > O::zero();
  bool vanished = false;
  int up = 0;
  Real by = O::one();
  if constexpr (Semiring::kIsLog) {
    if (something) {
      up = exponent_of(result.most_start);
      by = power_of_two(-up, Real());
      vanished =
          up - (result.least_start > Real(0) ? exponent_of(result.least_start) : -100000) > L::kWidestRange;
    }
  } else if (something) {
    up = units_in<Real, Semiring>(result.most_start);
    by = -static_cast<Real>(up);
  }
  const bool keep = Semiring::kIsLog && lanes_.any_team(mine && vanished) && lanes_.any(mine && vanished);
  if (!mine || !lanes_.valid) return;
  m_.ring.scale(head_) = something ? scales.common + label_.into + up + gauge : kEmpty;
  Real* to = m_.ring.block(head_);
#pragma unroll
  for (int i = 0; i < kBlock; i += 4) {
    store4(to + m_.ring.part(i / 4), O::times(result.start[i], by), O::times(result.start[i + 1], by),
           O::times(result.start[i + 2], by), O::times(result.start[i + 3], by));
  }
  if (keep || logs_left_ > 0) {
    if (lanes_.c == 0) exact().has_log[head_] = keep ? 1 : 0;
    logs_left_ = keep ? t_.ring_blocks : logs_left_ - 1;
  }
  if (keep) {
    const ExactMemory<Real> memory = exact();
#pragma unroll 1
    for (int slot = 0; slot < kBlock; ++slot) {
      Real value = result.start[0];
#pragma unroll
      for (int i = 1; i < kBlock; ++i) value = i == slot ? result.start[i] : value;
      memory.log_at(head_, slot) = something ? to_log<Real, Semiring>(value) - up * Semiring::kUnit : kNone;
    }
  }
}

}  // namespace semicrf::cuda
