// What segments that began in an earlier block contribute to a block: bounds per label, then the Toeplitz
// product of ring and durations relative to them. Included by block_run-inl.h.
#if defined(SEMICRF_CPU_SIMD_BLOCK_FAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_FAR_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_FAR_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_FAR_INL_H_
#endif

#include <algorithm>

#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::bound_of_ring(int ahead, const double* gauge, double* bound) const {
  const DD dd;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    VD largest = hn::Set(dd, kNegativeInfinity);
    for (int o = 1; o + ahead <= t_.offsets; ++o) {
      const VD scale = hn::Load(dd, ring_scale_.get() + static_cast<std::size_t>(ring_index(o)) * width_ + c);
      const VD bias = hn::Load(dd, t_.offset_bound.get() + static_cast<std::size_t>(o + ahead) * width_ + c);
      largest = hn::Max(largest, hn::Add(scale, bias));
    }
    if (gauge != nullptr) largest = hn::Add(largest, hn::Load(dd, gauge + c));
    hn::Store(largest, dd, bound + c);
  }
}

// Scale of alpha at the block's first boundary, and per label the bound that the block's sums are relative
// to.
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::prepare_bounds() {
  bound_of_ring(0, nullptr, ring_bound_.get());
  scale_ = kNegativeInfinity;
  for (int c = 0; c < t_.labels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    scale_ = std::max(scale_, carry_magnitude(carry_[i]) + carry_scale_[i]);
  }
  // Alpha grows or shrinks along a block about as it did in the last one: let it start half the way down or
  // up.
  scale_ += S::Quantized(std::clamp(growth_, -kLargestGrowth, kLargestGrowth) / 2);
  for (std::size_t c = 0; c < width_; ++c) {
    double bound = std::max(ring_bound_[c], tail_log_[c] + t_.log_tail[c]);
    if (t_.tail) bound = std::max(bound, far_tail_bound(c));
    const double first = scores_.has_edges() ? scores_.first()[c] : 0.0;
    if (c < static_cast<std::size_t>(t_.labels))
      bound = std::max(bound, scale_ + t_.transition_bound[c] + first + t_.offset_bound[c]);
    idle_alpha_[c] = bound == kNegativeInfinity ? S::template one<Real>() : kZero;
    idle_start_[c] = t_.transition_bound[c] == kNegativeInfinity ? S::template one<Real>() : kZero;
    const double common = scale_ == kNegativeInfinity ? 0.0 : scale_;
    bound_[c] = bound == kNegativeInfinity ? common : common + S::Quantized(bound - common);
  }
}

// Tail entries of the ring: the oldest block or two.
template <class Real, class D, class Semiring>
inline double BlockRun<Real, D, Semiring>::far_tail_bound(std::size_t c) const {
  double largest = kNegativeInfinity;
  for (int o = std::max(1, t_.ring_blocks - 1); o <= t_.ring_blocks; ++o) {
    largest = std::max(largest, ring_scale_[static_cast<std::size_t>(ring_index(o)) * width_ + c]);
  }
  return largest + t_.last_bias[c] + t_.log_tail[c];
}

template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::gather_far(int ahead, const double* gauge, const double* bound) {
  for (int panel = 0; panel < t_.panels; ++panel) gather_far_panel(panel, ahead, gauge, bound);
}

template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::gather_far_panel(int panel, int ahead, const double* gauge,
                                                          const double* bound) {
  const DD dd;
  const D d;
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  int active = 0;
  const VD least = hn::Set(dd, least_factor());
  for (int o = 1; o + ahead <= t_.offsets; ++o) {
    const double* scale = ring_scale_.get() + static_cast<std::size_t>(ring_index(o)) * width_ + c0;
    const double* bias = t_.offset_bound.get() + static_cast<std::size_t>(o + ahead) * width_ + c0;
    Real* factor = factor_.get() + static_cast<std::size_t>(active) * lanes_;
    bool any = false;
    for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
      VD x = hn::Sub(hn::Add(hn::Load(dd, scale + l), hn::Load(dd, bias + l)), hn::Load(dd, bound + c0 + l));
      if (gauge != nullptr) x = hn::Add(x, hn::Load(dd, gauge + c0 + l));
      any = any || !hn::AllFalse(dd, hn::Ge(x, least));
      split_power(x, factor + l, low_.get() + l, low_.get() + lanes_ + l);
    }
    if (!any) continue;
    hn::Store(from_split_power(factor, low_.get(), low_.get() + lanes_), d, factor);
    active_[static_cast<std::size_t>(active)] = o;
    ++active;
  }
  Real* far = far_.get() + t_.panel_index(panel, 0, kBlock);
  toeplitz<0>(panel, ahead, active, far);
  toeplitz<kBlock / 2>(panel, ahead, active, far);
}

// Eight boundaries against all active blocks; the sums stay in registers.
template <class Real, class D, class Semiring>
template <int kHalf>
inline void BlockRun<Real, D, Semiring>::toeplitz(int panel, int ahead, int active, Real* far) const {
  const D d;
  const V zero = hn::Set(d, kZero);
  V a0 = zero, a1 = zero, a2 = zero, a3 = zero, a4 = zero, a5 = zero, a6 = zero, a7 = zero;
  const std::size_t n = hn::Lanes(d);
  for (int index = 0; index < active; ++index) {
    const int o = active_[static_cast<std::size_t>(index)];
    const V factor = hn::Load(d, factor_.get() + static_cast<std::size_t>(index) * n);
    const Real* source = ring_.get() + static_cast<std::size_t>(ring_index(o)) * kBlock * width_ +
                         t_.panel_index(panel, 0, kBlock);
    const Real* table = t_.offset_panel(o + ahead, panel);
    const int first = std::max(0, kBlock * (o + ahead) + 1 + kHalf - t_.duration);
    for (int q = first; q < kBlock; ++q) {
      const V g = S::Times(hn::Load(d, source + static_cast<std::size_t>(q) * n), factor);
      const Real* e = table + static_cast<std::size_t>(kHalf - q + kBlock - 1) * n;
      a0 = S::TimesPlus(g, hn::Load(d, e), a0);
      a1 = S::TimesPlus(g, hn::Load(d, e + n), a1);
      a2 = S::TimesPlus(g, hn::Load(d, e + 2 * n), a2);
      a3 = S::TimesPlus(g, hn::Load(d, e + 3 * n), a3);
      a4 = S::TimesPlus(g, hn::Load(d, e + 4 * n), a4);
      a5 = S::TimesPlus(g, hn::Load(d, e + 5 * n), a5);
      a6 = S::TimesPlus(g, hn::Load(d, e + 6 * n), a6);
      a7 = S::TimesPlus(g, hn::Load(d, e + 7 * n), a7);
    }
  }
  Real* out = far + kHalf * n;
  hn::Store(a0, d, out);
  hn::Store(a1, d, out + n);
  hn::Store(a2, d, out + 2 * n);
  hn::Store(a3, d, out + 3 * n);
  hn::Store(a4, d, out + 4 * n);
  hn::Store(a5, d, out + 5 * n);
  hn::Store(a6, d, out + 6 * n);
  hn::Store(a7, d, out + 7 * n);
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
