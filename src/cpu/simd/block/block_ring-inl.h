// What a block leaves to the next ones: carried alpha, gamma in the ring, and the gauge they are relative to.
// Included by block_run-inl.h.
#if defined(SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Carries alpha given as logarithms; the scales of all labels differ by whole powers of two.
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::set_carry(const double* alpha) {
  double largest = kNegativeInfinity;
  for (int c = 0; c < t_.labels; ++c) largest = std::max(largest, alpha[c]);
  for (std::size_t c = 0; c < width_; ++c) {
    const bool none = alpha[c] == kNegativeInfinity;
    carry_scale_[c] = none ? kNegativeInfinity : largest + S::Quantized(alpha[c] - largest);
    carry_[c] = none ? kZero : static_cast<Real>(S::FromLogScalar(alpha[c] - carry_scale_[c]));
  }
}

// Carries the last alpha of a certified block, brought near 1 (log semiring).
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::take_carry(const Real* alpha) {
  const D d;
  const DD dd;
  if constexpr (!S::kIsLog) {
    std::copy_n(alpha, width_, carry_.get());
    std::copy_n(bound_.get(), width_, carry_scale_.get());
  } else {
    for (std::size_t c = 0; c < width_; c += lanes_) {
      const V number = hn::Load(d, alpha + c);
      const V exponent = exponents(number);
      hn::Store(hn::Mul(number, two_to(hn::Neg(exponent))), d, carry_.get() + c);
      hn::Store(exponent, d, low_.get() + c);
    }
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      hn::Store(hn::MulAdd(load_double(low_.get() + c), hn::Set(dd, kLog2), hn::Load(dd, bound_.get() + c)),
                dd, carry_scale_.get() + c);
    }
  }
}

// Keeps the logarithms small: takes a whole number near the largest alpha out of them. Returns it.
template <class Real, class D, class Semiring>
inline double BlockRun<Real, D, Semiring>::move_base() {
  double largest = kNegativeInfinity;
  for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
    largest = std::max(largest, carry_magnitude(carry_[c]) + carry_scale_[c]);
  }
  if (largest == kNegativeInfinity) return 0;
  growth_ = largest - level_;
  const double shift = std::floor(largest);
  level_ = largest - shift;
  for (std::size_t c = 0; c < width_; ++c) {
    carry_scale_[c] -= shift;
    tail_log_[c] -= shift;
  }
  base_ += shift;
  return shift;
}

// The ring's logarithms follow the gauge to the block's last boundary, and the base.
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::shift_gauge(const double* content, double shift) {
  const DD dd;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const VD change = hn::Sub(hn::Load(dd, content + c), hn::Set(dd, shift));
    double* scale = ring_scale_.get() + c;
    for (int b = 0; b < t_.ring_blocks; ++b, scale += width_)
      hn::Store(hn::Add(hn::Load(dd, scale), change), dd, scale);
  }
}

// Brings the largest number of each label of the block just computed to [1, 2) (log) or 0 (max). True when
// the smallest vanished by that.
template <class Real, class D, class Semiring>
inline bool BlockRun<Real, D, Semiring>::normalize_fast(int block) {
  bool vanished = false;
  const D d;
  const DD dd;
  for (int panel = 0; panel < t_.panels; ++panel) {
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    const Real* numbers = fresh_.get() + t_.panel_index(panel, 0, kBlock);
    Real* out =
        ring_.get() + static_cast<std::size_t>(block) * kBlock * width_ + t_.panel_index(panel, 0, kBlock);
    V largest = hn::Load(d, numbers);
    V smallest = largest;
    for (std::size_t slot = 1; slot < kBlock; ++slot) {
      largest = hn::Max(largest, hn::Load(d, numbers + slot * lanes_));
      smallest = hn::Min(smallest, hn::Load(d, numbers + slot * lanes_));
    }
    const auto live = hn::Gt(largest, hn::Set(d, kZero));
    V by = hn::Set(d, S::template one<Real>());
    V up = largest;  // how far the scale moves up: exponents of 2 (log), or the number itself (max)
    if constexpr (S::kIsLog) {
      up = exponents(largest);
      by = hn::IfThenElse(live, two_to(hn::Neg(up)), by);
      const V range = hn::Sub(up, exponents(smallest));
      vanished =
          vanished ||
          !hn::AllFalse(d, hn::And(live, hn::Gt(range, hn::Set(d, Real(Limits<S, Real>::kWidestRange)))));
    } else {
      by = hn::IfThenElse(live, hn::Neg(largest), by);
    }
    hn::Store(hn::IfThenElse(live, up, hn::Set(d, -std::numeric_limits<Real>::infinity())), d, low_.get());
    for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
      const VD fresh = hn::Add(hn::Set(dd, scale_), hn::Load(dd, t_.transition_bound.get() + c0 + l));
      const VD unit = hn::Set(dd, S::kIsLog ? kLog2 : 1.0);
      hn::Store(hn::MulAdd(load_double(low_.get() + l), unit, fresh), dd,
                ring_scale_.get() + static_cast<std::size_t>(block) * width_ + c0 + l);
    }
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      hn::Store(S::Times(hn::Load(d, numbers + slot * lanes_), by), d, out + slot * lanes_);
    }
  }
  return vanished;
}

// Logarithms of the block just computed, relative to its scale.
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::keep_logs(int block) {
  const DD dd;
  double* logs = ring_log_.get() + static_cast<std::size_t>(block) * kBlock * width_;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
    const VD scale = hn::Load(dd, ring_scale_.get() + static_cast<std::size_t>(block) * width_ + c);
    const VD fresh = hn::Add(hn::Set(dd, scale_), hn::Load(dd, t_.transition_bound.get() + c));
    const VD change =
        hn::IfThenElseZero(hn::Gt(scale, hn::Set(dd, kNegativeInfinity)), hn::Sub(fresh, scale));
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      hn::Store(hn::Add(log_of(fresh_.get() + at + slot * lanes_), change), dd, logs + slot * width_ + c);
    }
  }
}

// Splits the absolute logarithms of a ring block into scale, relative logarithms and relative numbers.
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::normalize_exact(int block) {
  double* logs = ring_log_.get() + static_cast<std::size_t>(block) * kBlock * width_;
  double* scale = ring_scale_.get() + static_cast<std::size_t>(block) * width_;
  for (std::size_t c = 0; c < width_; ++c) {
    double largest = kNegativeInfinity;
    for (std::size_t slot = 0; slot < kBlock; ++slot) largest = std::max(largest, logs[slot * width_ + c]);
    scale[c] = largest;
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      double& value = logs[slot * width_ + c];
      value = largest == kNegativeInfinity ? kNegativeInfinity : value - largest;
      ring_at(block, static_cast<int>(slot), static_cast<int>(c)) = static_cast<Real>(relative_number(value));
    }
  }
  ring_has_log_[static_cast<std::size_t>(block)] = true;
}

template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::ensure_logs(int block) {
  if (ring_has_log_[static_cast<std::size_t>(block)]) return;
  double* logs = ring_log_.get() + static_cast<std::size_t>(block) * kBlock * width_;
  const Real* numbers = ring_.get() + static_cast<std::size_t>(block) * kBlock * width_;
  const DD dd;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      hn::Store(log_of(numbers + at + slot * lanes_), dd, logs + slot * width_ + c);
    }
  }
  ring_has_log_[static_cast<std::size_t>(block)] = true;
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
