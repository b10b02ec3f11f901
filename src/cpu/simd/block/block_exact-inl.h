// The exact path over one block, in double logarithms, for blocks the certificate refuses and for parts of
// blocks. Included by block_run-inl.h.
#if defined(SEMICRF_CPU_SIMD_BLOCK_EXACT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_EXACT_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_EXACT_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_EXACT_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::exact_block(int first_slot, int last_slot,
                                                     BlockMessages<Real>& out) {
  const auto step = hn::Lanes(DD());
  const DD dd;
  load_carry_logs(exact_alpha_.get());
  std::fill_n(exact_near_.get(), exact_near_.size(), kNegativeInfinity);
  std::fill_n(started_log_.get(), started_log_.size(), kNegativeInfinity);
  std::fill_n(block_sum_.get(), width_, 0.0);
  for (int slot = first_slot; slot < last_slot; ++slot) {
    const auto row = static_cast<std::size_t>(slot) * width_;
    double* start = out.start_log + row;
    if (first_of_sequence_ && slot == first_slot && !t_.initial_transition) {
      std::fill_n(start, width_, kNegativeInfinity);
      std::fill_n(start, t_.labels, 0.0);
    } else {
      exact_start(exact_alpha_.get(), start);
    }
    for (std::size_t c = 0; c < width_; ++c)
      started_log_[row + c] = exact_near_[row + c] =
          start[c] + (scores_.has_edges() ? scores_.first()[row + c] : 0.0);
    if (t_.tail) exact_tail(slot);
    for (std::size_t c = 0; c < width_; c += step) {
      const VD content = hn::Load(dd, scores_.content() + row + c);
      for (int s = first_slot; s <= slot; ++s) {
        double* near = exact_near_.get() + static_cast<std::size_t>(s) * width_ + c;
        hn::Store(hn::Add(hn::Load(dd, near), content), dd, near);
      }
      hn::Store(hn::Add(hn::Load(dd, block_sum_.get() + c), content), dd, block_sum_.get() + c);
      if (t_.tail) hn::Store(hn::Add(hn::Load(dd, tail_log_.get() + c), content), dd, tail_log_.get() + c);
      VD total = exact_sum(c, slot, first_slot, exact_far(c, slot));
      if (needs_ring(c, total)) total = exact_sum(c, slot, first_slot, exact_ring_sum(c, slot));
      if (t_.tail && out.tail_log != nullptr)
        hn::Store(hn::Load(dd, tail_log_.get() + c), dd, out.tail_log + row + c);
      if (scores_.has_edges()) total = hn::Add(total, hn::Load(dd, scores_.last() + row + c));
      hn::Store(total, dd, exact_alpha_.get() + c);
      hn::Store(total, dd, out.alpha_log + row + c);
    }
  }
  set_carry(exact_alpha_.get());
  double* scale = ring_scale_.get() + static_cast<std::size_t>(head_) * width_;
  std::fill_n(scale, width_, kNegativeInfinity);
  const double shift = move_base();
  shift_gauge(block_sum_.get(), shift);
  double* logs = ring_log_.get() + static_cast<std::size_t>(head_) * kBlock * width_;
  for (std::size_t i = 0; i < kBlock * width_; ++i) logs[i] = exact_near_[i] - shift;
  normalize_exact(head_);
}

// out(c) = log sum (or max) over c' of alpha(c') + T[c'][c].
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::exact_start(const double* alpha, double* out) const {
  const DD dd;
  double largest = kNegativeInfinity;
  for (int c = 0; c < t_.labels; ++c) largest = std::max(largest, alpha[c]);
  if (largest == kNegativeInfinity) {
    std::fill_n(out, width_, kNegativeInfinity);
    return;
  }
  if constexpr (S::kIsLog) {
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      hn::Store(hn::Exp(dd, hn::Sub(hn::Load(dd, alpha + c), hn::Set(dd, largest))), dd, weights_.get() + c);
    }
  }
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    if constexpr (S::kIsLog) {
      VD sum = hn::Zero(dd);
      for (int from = 0; from < t_.labels; ++from) {
        sum = hn::MulAdd(
            hn::Set(dd, weights_[static_cast<std::size_t>(from)]),
            hn::Load(dd, t_.transition_linear.get() + static_cast<std::size_t>(from) * width_ + c), sum);
      }
      if (hn::AllTrue(dd, hn::Gt(sum, hn::Set(dd, 1e-280)))) {
        const VD scale = hn::Add(hn::Set(dd, largest), hn::Load(dd, t_.transition_bound.get() + c));
        hn::Store(hn::Add(hn::Log(dd, sum), scale), dd, out + c);
        continue;
      }
    }
    hn::Store(exact_start_terms(alpha, c), dd, out + c);
  }
}

template <class Real, class D, class Semiring>
inline auto BlockRun<Real, D, Semiring>::exact_start_terms(const double* alpha, std::size_t c) const -> VD {
  const DD dd;
  const auto term = [&](int from) {
    return hn::Add(hn::Set(dd, alpha[from]),
                   hn::Load(dd, t_.transition_log.get() + static_cast<std::size_t>(from) * width_ + c));
  };
  VD largest = hn::Set(dd, kNegativeInfinity);
  for (int from = 0; from < t_.labels; ++from) largest = hn::Max(largest, term(from));
  if constexpr (!S::kIsLog) return largest;
  const VD safe = finite_or_zero(largest);
  VD sum = hn::Zero(dd);
  for (int from = 0; from < t_.labels; ++from) sum = hn::Add(sum, hn::Exp(dd, hn::Sub(term(from), safe)));
  return hn::Add(safe, LogOrMinusInfinity(dd, sum));
}

template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::exact_tail(int slot) {
  const int from = slot - t_.duration;  // slot of gamma_{t-K-1}
  double* source = tail_entering_.get();
  if (from >= 0) {
    std::copy_n(exact_near_.get() + static_cast<std::size_t>(from) * width_, width_, source);
  } else {
    load_ring_logs(-from, source);
    for (std::size_t c = 0; c < width_; ++c) source[c] += block_sum_[c];
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
    if (t_.log_tail[c] == kNegativeInfinity) continue;
    tail_log_[c] = plus_scalar(tail_log_[c], source[c] + t_.last_bias[c]) + t_.log_tail[c];
  }
}

// Far part at the slot's right boundary as a logarithm, content included.
template <class Real, class D, class Semiring>
inline auto BlockRun<Real, D, Semiring>::exact_far(std::size_t c, int slot) const -> VD {
  const DD dd;
  const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), slot, kBlock) + c % lanes_;
  return hn::Add(hn::Add(log_of(far_.get() + at), hn::Load(dd, bound_.get() + c)),
                 hn::Load(dd, block_sum_.get() + c));
}

// Far part, segments that began in this block, and the tail.
template <class Real, class D, class Semiring>
inline auto BlockRun<Real, D, Semiring>::exact_sum(std::size_t c, int slot, int first_slot, VD far) const
    -> VD {
  const DD dd;
  const int first = std::max(first_slot, slot + 1 - t_.duration);
  const auto term = [&](int s) {
    return hn::Add(hn::Load(dd, exact_near_.get() + static_cast<std::size_t>(s) * width_ + c),
                   hn::Load(dd, t_.bias.get() + static_cast<std::size_t>(slot - s) * width_ + c));
  };
  const VD tail = t_.tail ? hn::Load(dd, tail_log_.get() + c) : hn::Set(dd, kNegativeInfinity);
  VD largest = hn::Max(far, tail);
  for (int s = first; s <= slot; ++s) largest = hn::Max(largest, term(s));
  if constexpr (!S::kIsLog) return largest;
  const VD safe = finite_or_zero(largest);
  VD sum = hn::Add(hn::Exp(dd, hn::Sub(far, safe)), hn::Exp(dd, hn::Sub(tail, safe)));
  const VD negligible = hn::Set(dd, kNegligible);
  for (int s = first; s <= slot; ++s) {
    const VD x = hn::Sub(term(s), safe);
    if (hn::AllTrue(dd, hn::Lt(x, negligible))) continue;
    sum = hn::Add(sum, hn::Exp(dd, x));
  }
  return hn::Add(safe, LogOrMinusInfinity(dd, sum));
}

// True when the far part may have lost something that counts.
template <class Real, class D, class Semiring>
inline bool BlockRun<Real, D, Semiring>::needs_ring(std::size_t c, VD total) const {
  const DD dd;
  const VD content = hn::Load(dd, block_sum_.get() + c);
  const double least =
      S::kIsLog ? std::log(static_cast<double>(t_.least_total)) : static_cast<double>(t_.least_total);
  const VD limit = hn::Add(hn::Add(hn::Load(dd, bound_.get() + c), content), hn::Set(dd, least));
  const VD none = hn::Set(dd, kNegativeInfinity);
  const auto live = hn::And(hn::Gt(hn::Load(dd, ring_bound_.get() + c), none), hn::Gt(content, none));
  return !hn::AllFalse(dd, hn::And(live, hn::Lt(total, limit)));
}

template <class Real, class D, class Semiring>
inline auto BlockRun<Real, D, Semiring>::exact_ring_sum(std::size_t c, int slot) -> VD {
  ++fallbacks_;
  const DD dd;
  for (int o = 1; o <= t_.offsets; ++o) ensure_logs(ring_index(o));
  const auto for_each = [&](auto visit) {
    for (int o = 1; o <= t_.offsets; ++o) {
      const auto block = static_cast<std::size_t>(ring_index(o));
      const VD scale = hn::Load(dd, ring_scale_.get() + block * width_ + c);
      for (int q = std::max(0, kBlock * o + 1 + slot - t_.duration); q < kBlock; ++q) {
        const VD g =
            hn::Load(dd, ring_log_.get() + (block * kBlock + static_cast<std::size_t>(q)) * width_ + c);
        const VD b =
            hn::Load(dd, t_.bias.get() + static_cast<std::size_t>(kBlock * o + slot - q) * width_ + c);
        visit(hn::Add(hn::Add(g, scale), b));
      }
    }
  };
  VD largest = hn::Set(dd, kNegativeInfinity);
  for_each([&](VD x) HWY_ATTR { largest = hn::Max(largest, x); });
  const VD content = hn::Load(dd, block_sum_.get() + c);
  if constexpr (!S::kIsLog) return hn::Add(largest, content);
  if (hn::AllTrue(dd, hn::Eq(largest, hn::Set(dd, kNegativeInfinity)))) return largest;
  const VD safe = finite_or_zero(largest);
  VD sum = hn::Zero(dd);
  for_each([&](VD x) HWY_ATTR { sum = hn::Add(sum, hn::Exp(dd, hn::Sub(x, safe))); });
  return hn::Add(hn::Add(safe, LogOrMinusInfinity(dd, sum)), content);
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
