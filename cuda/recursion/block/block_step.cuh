// Members of BlockRun: one block with everything in registers.
#pragma once

#include "cuda/recursion/block/block_run.cuh"
#include "cuda/recursion/block/block_slow.cuh"

namespace semicrf::cuda {

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::step() {
  const bool mine = state_.kind != BlockKind::kIdle;
  if (lanes_.some_team(state_.kind == BlockKind::kSlow)) [[unlikely]] {
    step_slowly();
    return;
  }
  const bool long_way = state_.kind == BlockKind::kLong;
  // Needed after the far part; asked for before it.
  Real x[kBlock];
  if (scores_ != nullptr) {
    load_scores(scores_, direction_labels(), x);
  } else {
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) x[slot] = Real(0);
  }
  const int ring = this->ring_bound(state_, parity_);
  const BlockScales scales = this->scales_of(state_, ring, long_way && aside_.place.edges);
  Real sums[kBlock];
  this->sum_far(state_, parity_, sums, scales.bound);

  FactorRange<Real> range;
  Real alpha_factor[kBlock];
  const bool small =
      plain_factors<Real, Semiring>(x, aside_.centred, aside_.baseline, state_.rest, alpha_factor, &range);
  prefetch_rows();
  BlockFactors<Real> factors;
  const Real* start_factors = nullptr;
  const bool longer = mine && (long_way || !small);
  if (lanes_.any_team(longer)) [[unlikely]] {
    block_factors<Real, Semiring, Lanes>(p_aside_.tables, *aside_.sequence, this->factor_source(state_, mine),
                                         lanes_, &factors);
    // What other teams need must not change a digit of this one's.
    if (lanes_.any(longer)) {
      range = factors.range;
      start_factors = factors.start;
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot) alpha_factor[slot] = factors.alpha[slot];
    }
  } else if (p_.store.shift != nullptr && mine && aside_.place.storing && lanes_.valid && lanes_.c == 0) {
    double* shift = p_.store.shift + this->store_row(state_);
    for (int slot = 0; slot < kBlock; ++slot) shift[slot] = 0;
  }

  BlockTail<Real> tail;
  BlockResult<Real> result;
  this->template recur<false>(state_, scales, alpha_factor, start_factors, &tail, sums, &result);
  const bool good = this->certified(state_, scales, ring, range, tail, result);
  const BlockMove<Real> move = this->move_of(state_, scales, range, result, mine);
  const bool moves = move.gauge > kMostGauge || move.gauge < -kMostGauge;
  if (lanes_.any_team(mine && lanes_.valid && (!good || moves))) [[unlikely]] {
    step_slowly();
    return;
  }
  const bool vanished =
      Semiring::kIsLog && lanes_.any_team(mine && move.vanished) && lanes_.any(mine && move.vanished);
  if (mine) {
    if (lanes_.valid) this->keep_starts_of(state_, scales, result, move, -state_.gauge);
    if (vanished || state_.logs_left > 0) [[unlikely]] this->keep_logs_of(state_, result, move, vanished);
    if (p_.store.alpha != nullptr && aside_.place.storing)
      this->store_scales(state_, scales, range, tail, result);
    if (start_factors != nullptr) aside_.mass += range.mass;
    this->move_on(state_, scales, range, tail, result, move);
  }
  lanes_.sync();
}

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::step_slowly() {
  // A copy: the address of state_ would put it into memory.
  RunState<Real> state = state_;
  bool may_ask = true;
  while (slow_block<Real, Semiring, Lanes>(p_aside_, lanes_, m_, aside_, state, parity_, may_ask))
    may_ask = false;
  state_ = state;
  this->load_label();
}

// Asks for the rows of the next block.
template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::prefetch_rows() const {
#if defined(__CUDA_ARCH__)
  constexpr int kLine = 128 / sizeof(float);
  const int lane = lanes_.c * kLine;
  if (scores_ == nullptr || state_.left <= 1 || lane >= kBlock * t_.labels) return;
  const int from = (p_.backward ? 1 - 2 * kBlock : kBlock) * t_.labels - label_.label;
  asm volatile("prefetch.global.L1 [%0];" ::"l"(scores_ + from + lane));
#endif
}

}  // namespace semicrf::cuda
