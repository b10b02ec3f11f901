// Members of BlockRun: a block on the exact path, and the ring moved to another gauge.
#pragma once

#include "cuda/block_run.cuh"

namespace semicrf::cuda {

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::run_exact(
    const Place& at, const BlockScales& scales, int ring, const Real (&sums)[kBlock], bool mine) {
  int pool = -1;
  const bool keeps = mine && at.storing;
  double nats_rest;
  const double nats = whole_nats<Semiring>(aside_.base, &nats_rest);
  if (keeps && lanes_.valid && lanes_.c == 0) {
    pool = atomicAdd(p_.store.pool_used, 1);
    p_.store.exact[at.store_row / kBlock] = pool + 1;
    p_.store.base[at.store_row / kBlock] = nats;
    p_.store.mass[at.store_row / kBlock] = aside_.mass;
  }
  pool = lanes_.most(pool);
  const bool has_room = keeps && pool >= 0 && pool < p_.store.pool_slots;
  const std::int64_t pool_at = static_cast<std::int64_t>(pool) * kBlock * t_.labels + lanes_.c;
  ExactBlock<Real> x;
  x.sequence = aside_.sequence;
  x.aside = &aside_;
  x.memory = exact();
  if (mine && lanes_.valid) {
#pragma unroll
    for (int i = 0; i < kBlock; ++i) x.memory.far[i * t_.labels] = static_cast<double>(sums[i]);
  }
  x.gauge = gauge_;
  x.rest = rest_;
  x.head = head_;
  x.backward = p_.backward;
  x.block = (p_.backward ? aside_.rounded - 1 - (at.row + aside_.sequence->begin)
                         : at.row + aside_.sequence->begin) /
            kBlock;
  x.first_slot = at.first;
  x.last_slot = at.last;
  x.active = mine;
  x.first_of_sequence = at.first_of_sequence;
  x.deep = is_far_below(ring);
  x.bound = scales.bound * Semiring::kUnit + rest_;
  x.ring_bound = log_of_units<Semiring>(ring);
  x.base_rest = nats_rest;
  x.alpha = alpha_log();
  x.tail = aside_.tail_log;
  x.content_sum = 0;
  x.mass = 0;
  x.out_alpha = has_room ? p_.store.pool_alpha + pool_at : nullptr;
  x.out_start = has_room ? p_.store.pool_start + pool_at : nullptr;
  x.out_tail = has_room && p_.store.pool_tail != nullptr ? p_.store.pool_tail + pool_at : nullptr;
  x.shift = keeps && p_.store.shift != nullptr ? p_.store.shift + at.store_row : nullptr;
  exact_block<Real, Semiring, Lanes>(p_aside_.tables, lanes_, x);
  if (mine) {
    if (keeps && lanes_.valid) p_.store.content[at.store_row / kBlock * t_.labels + lanes_.c] = x.content_sum;
  }
  finish_exact(x.alpha, x.content_sum, mine);
}

// After an exact block: alpha, its starts into the ring, everything moved to the block's last boundary.
template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::finish_exact(double alpha,
                                                                                     double content,
                                                                                     bool mine) {
  const double base = aside_.base;
  take_alpha(alpha, mine);
  if (!mine || !lanes_.valid) return;
  const double shift = aside_.base - base;
  const bool forbidden = !(content > kNone);
  const double sum = rest_ + content;
  const double units = forbidden ? 0.0 : rint(sum * (1 / Semiring::kUnit));
  rest_ = forbidden ? 0.0 : fma(-units, Semiring::kUnit, sum);
  const double gauge = gauge_ + units - shift;
  if (forbidden || fabs(gauge) > kMostGauge) {
    request_move(gauge, forbidden);
  } else {
    gauge_ = static_cast<int>(gauge);
  }
  const ExactMemory<Real> memory = exact();
  keep_starts<Real, Semiring>(memory, head_, gauge_, rest_, [&](int slot) {
    return memory.near[slot * t_.labels] - shift * Semiring::kUnit;
  });
  if (lanes_.c == 0) memory.has_log[head_] = 1;
  logs_left_ = t_.ring_blocks;
}

// --- the ring on another gauge ---

template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::request_move(double units,
                                                                                     bool forbidden) {
  move_wanted_ = true;
  move_units_ = units;
  move_forbidden_ = forbidden;
  fresh_ = head_;
  gauge_ = 0;
  if constexpr (Lanes::kTeam) {
    if (lanes_.has_helpers()) {
      regauge(parity_) = 1;
      return;
    }
  }
  move_now();
}
template <class Real, class Semiring, class Lanes, int kRows>
__device__ __forceinline__ void BlockRun<Real, Semiring, Lanes, kRows>::move_now() {
  move_ring(exact(), t_.ring_blocks, fresh_, move_units_, move_forbidden_);
  move_wanted_ = false;
}

}  // namespace semicrf::cuda
