// The fast path over one block, in numbers relative to per-label scales, and its certificate.
// docs/algorithm.md, "The certificate". Included by block_run-inl.h.
#if defined(SEMICRF_CPU_SIMD_BLOCK_FAST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_FAST_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_FAST_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_FAST_INL_H_
#endif

#include <algorithm>
#include <utility>

#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// alpha_factor: exp(S[t] + end score), start_factor: exp(start score - S[s]), S from the block's first
// boundary; block_sum: S at its last. False when an exponent leaves the range the fast path allows.
template <class Real, class D, class Semiring>
inline bool BlockRun<Real, D, Semiring>::make_factors() {
  const DD dd;
  const D d;
  const VD limit = hn::Set(dd, static_cast<double>(Limits<S, Real>::kExponent));
  bool in_range = true;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
    VD sum = hn::Zero(dd);
    VD largest = hn::Zero(dd);
    VD least_start = hn::Zero(dd);
    VD least_alpha = hn::Zero(dd);
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      VD start = hn::Sub(hn::Zero(dd), sum);
      if (scores_.has_edges()) start = hn::Add(start, hn::Load(dd, scores_.first() + slot * width_ + c));
      sum = hn::Add(sum, hn::Load(dd, scores_.content() + slot * width_ + c));
      VD alpha = sum;
      if (scores_.has_edges()) alpha = hn::Add(alpha, hn::Load(dd, scores_.last() + slot * width_ + c));
      const std::size_t i = at + slot * lanes_;
      if (scores_.has_edges() || !S::kIsLog) split_log(start, start_factor_.get() + i, low_.get() + i);
      split_log(alpha, alpha_factor_.get() + i, low_.get() + kBlock * width_ + i);
      largest = hn::Max(largest, hn::Max(start, alpha));
      least_start = hn::Min(least_start, start);
      least_alpha = hn::Min(least_alpha, alpha);
    }
    hn::Store(least_start, dd, least_start_.get() + c);
    hn::Store(least_alpha, dd, least_alpha_.get() + c);
    hn::Store(sum, dd, block_sum_.get() + c);
    const VD most = hn::Max(largest, hn::Neg(hn::Min(least_start, least_alpha)));
    in_range = in_range && hn::AllTrue(dd, hn::Le(most, limit));
  }
  if (!in_range) return false;
  if constexpr (S::kIsLog) {
    const V one = hn::Set(d, Real(1));
    V inverse = one;
    for (std::size_t i = 0; i < kBlock * width_; i += lanes_) {
      const V alpha = from_split_log(alpha_factor_.get() + i, low_.get() + kBlock * width_ + i);
      hn::Store(alpha, d, alpha_factor_.get() + i);
      if (scores_.has_edges()) {
        hn::Store(from_split_log(start_factor_.get() + i, low_.get() + i), d, start_factor_.get() + i);
        continue;
      }
      // Without start and end scores a start factor is the inverse of the alpha factor before it.
      if (i % (kBlock * lanes_) == 0) inverse = one;
      hn::Store(inverse, d, start_factor_.get() + i);
      inverse = hn::Div(one, alpha);
    }
  }
  return true;
}

template <class Real, class D, class Semiring>
inline bool BlockRun<Real, D, Semiring>::fast_block(BlockMessages<Real>& out) {
  if (scale_ == kNegativeInfinity || !make_factors()) return false;
  const D d;
  const DD dd;
  // alpha_now: alpha relative to scale_, with what all transitions out of the label share; to_alpha: the
  // same from a label's bound; to_near: from scale_ and what all transitions into the label share to its
  // bound.
  const VD most = hn::Set(dd, static_cast<double>(Limits<S, Real>::kExponent));
  bool in_range = true;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const VD common = hn::Set(dd, scale_);
    const VD bound = hn::Load(dd, bound_.get() + c);
    const VD out_of = hn::Load(dd, t_.source_bound.get() + c);
    const VD near =
        hn::Add(hn::Load(dd, t_.transition_bound.get() + c), hn::Load(dd, t_.offset_bound.get() + c));
    const VD to_alpha = hn::Add(hn::Sub(bound, common), out_of);
    const VD to_near = hn::Add(hn::Sub(common, bound), near);
    store_power(hn::Add(hn::Sub(hn::Load(dd, carry_scale_.get() + c), common), out_of), alpha_now_.get() + c);
    store_power(to_alpha, to_alpha_.get() + c);
    store_power(to_near, to_near_.get() + c);
    // No product of two factors may vanish on its own: what it is multiplied with can be large. Zeros are
    // exact.
    const VD none = hn::Set(dd, kNegativeInfinity);
    const VD least =
        hn::Min(hn::Add(to_alpha, hn::Load(dd, least_alpha_.get() + c)),
                hn::IfThenElse(hn::Gt(to_near, none), hn::Add(to_near, hn::Load(dd, least_start_.get() + c)),
                               hn::Zero(dd)));
    const auto kept = hn::Or(hn::Eq(out_of, none), hn::Ge(least, hn::Set(dd, least_product())));
    in_range = in_range && hn::AllTrue(dd, hn::And(kept, hn::Le(hn::Max(to_alpha, to_near), most)));
  }
  if (!in_range) return false;
  for (std::size_t c = 0; c < width_; c += lanes_) {
    hn::Store(S::Times(from_power(alpha_now_.get() + c), hn::Load(d, carry_.get() + c)), d,
              alpha_now_.get() + c);
    hn::Store(from_power(to_alpha_.get() + c), d, to_alpha_.get() + c);
    hn::Store(from_power(to_near_.get() + c), d, to_near_.get() + c);
  }
  if (t_.tail) prepare_tail();
  bool certified = false;
  switch (t_.panels) {
    case 1:
      certified = recursion<1>(out);
      break;
    case 2:
      certified = recursion<2>(out);
      break;
    case 3:
      certified = recursion<3>(out);
      break;
    case 4:
      certified = recursion<4>(out);
      break;
    default:
      certified = recursion<0>(out);
      break;
  }
  if (!certified || (t_.tail && !tail_is_kept())) return false;
  finish_fast(out);
  return true;
}

// Numbers that enter the tail at each boundary of the block from the ring, and the tail at its first
// boundary, all relative to tail_bound_. Sources inside the block (K < 16) follow in the recursion.
//
// The tail has a bound of its own: it may be far below the sums now, and count again when the ring forgets
// what outweighs it.
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::prepare_tail() {
  const D d;
  const DD dd;
  std::fill_n(tail_source_.get(), tail_source_.size(), kZero);
  for (std::size_t c = 0; c < width_; ++c) {
    const double own = std::max(tail_log_[c] + t_.log_tail[c], far_tail_bound(c));
    const bool apart = t_.duration >= kBlock && own != kNegativeInfinity;
    tail_bound_[c] = apart ? scale_ + S::Quantized(own - scale_) : bound_[c];
  }
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const VD down = hn::Sub(hn::Load(dd, tail_bound_.get() + c), hn::Load(dd, bound_.get() + c));
    store_power(down, tail_to_total_.get() + c);
  }
  for (std::size_t c = 0; c < width_; c += lanes_)
    hn::Store(from_power(tail_to_total_.get() + c), d, tail_to_total_.get() + c);
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    split_log(hn::Sub(hn::Load(dd, tail_log_.get() + c), hn::Load(dd, tail_bound_.get() + c)),
              tail_now_.get() + c, low_.get() + c);
  }
  for (std::size_t c = 0; c < width_; ++c) {
    const bool none = t_.log_tail[c] == kNegativeInfinity;
    const bool empty =
        t_.duration >= kBlock && tail_log_[c] == kNegativeInfinity && far_tail_bound(c) == kNegativeInfinity;
    tail_idle_[c] = none || empty ? S::template one<Real>() : kZero;
  }
  for (std::size_t c = 0; c < width_; c += lanes_) {
    hn::Store(from_split_log(tail_now_.get() + c, low_.get() + c), d, tail_now_.get() + c);
  }
  for (int slot = 0; slot < std::min<int>(kBlock, t_.duration); ++slot) {
    const int distance = (t_.duration - slot + kBlock - 1) / kBlock;
    const int block = ring_index(distance);
    const int from = kBlock * distance - (t_.duration - slot);
    for (int panel = 0; panel < t_.panels; ++panel) {
      const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
      Real* to = tail_source_.get() + t_.panel_index(panel, slot, kBlock);
      for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
        const VD scale = hn::Load(dd, ring_scale_.get() + static_cast<std::size_t>(block) * width_ + c0 + l);
        const VD bias = hn::Load(dd, t_.last_bias.get() + c0 + l);
        split_power(hn::Sub(hn::Add(scale, bias), hn::Load(dd, tail_bound_.get() + c0 + l)), to + l,
                    low_.get() + l, low_.get() + lanes_ + l);
      }
      const V g = hn::Load(d, ring_.get() + static_cast<std::size_t>(block) * kBlock * width_ +
                                  t_.panel_index(panel, from, kBlock));
      hn::Store(S::Times(from_split_power(to, low_.get(), low_.get() + lanes_), g), d, to);
    }
  }
}

// The tail may be lost although every sum was certified; it counts again when the ring forgets what
// outweighs it now.
template <class Real, class D, class Semiring>
inline bool BlockRun<Real, D, Semiring>::tail_is_kept() const {
  const D d;
  for (std::size_t c = 0; c < width_; c += lanes_) {
    const V tail = hn::Max(hn::Load(d, tail_now_.get() + c), hn::Load(d, tail_idle_.get() + c));
    const auto kept = hn::And(hn::Ge(tail, hn::Set(d, Limits<S, Real>::kSmallest)),
                              hn::Le(tail, hn::Set(d, Limits<S, Real>::kLargest)));
    if (!hn::AllTrue(d, kept)) return false;
  }
  return true;
}

// Products alpha x transition for up to four panels at a time.
template <class Real, class D, class Semiring>
template <int kPanels>
inline void BlockRun<Real, D, Semiring>::start_messages(const Real* alpha, std::size_t c0,
                                                        V (&sums)[kPanels]) const {
  const D d;
  const V zero = hn::Set(d, kZero);
  V even[kPanels], odd[kPanels];
  for (int p = 0; p < kPanels; ++p) even[p] = odd[p] = zero;
  const Real* row = t_.transition.get() + c0;
  int c = 0;
  for (; c + 1 < t_.labels; c += 2) {
    const V a = hn::Set(d, alpha[c]);
    const V b = hn::Set(d, alpha[c + 1]);
    for (int p = 0; p < kPanels; ++p) {
      even[p] = S::TimesPlus(a, hn::Load(d, row + static_cast<std::size_t>(p) * lanes_), even[p]);
      odd[p] = S::TimesPlus(b, hn::Load(d, row + width_ + static_cast<std::size_t>(p) * lanes_), odd[p]);
    }
    row += 2 * width_;
  }
  if (c < t_.labels) {
    const V a = hn::Set(d, alpha[c]);
    for (int p = 0; p < kPanels; ++p)
      even[p] = S::TimesPlus(a, hn::Load(d, row + static_cast<std::size_t>(p) * lanes_), even[p]);
  }
  for (int p = 0; p < kPanels; ++p) sums[p] = S::Plus(even[p], odd[p]);
}

// The 16 boundaries of the block in turn. kFixed panels at once, or groups of one when kFixed is 0.
template <class Real, class D, class Semiring>
template <int kFixed>
inline bool BlockRun<Real, D, Semiring>::recursion(BlockMessages<Real>& out) {
  const D d;
  constexpr int kGroup = kFixed == 0 ? 1 : kFixed;
  const V one = hn::Set(d, S::template one<Real>());
  Extremes x{one, one, one, one};
  Real* alpha = alpha_now_.get();
  Real* next = alpha_next_.get();
  for (int slot = 0; slot < kBlock; ++slot) {
    for (int group = 0; group < t_.panels; group += kGroup) {
      V sums[kGroup];
      start_messages<kGroup>(alpha, static_cast<std::size_t>(group) * lanes_, sums);
      for (int p = 0; p < kGroup; ++p) advance_panel(group + p, slot, sums[p], next, out, x);
    }
    std::swap(alpha, next);
  }
  const auto all_at_least = [&](V value, Real limit) {
    return hn::AllTrue(d, hn::Ge(value, hn::Set(d, limit)));
  };
  // What vanished in a table stood for less than e^kIgnore of the number it is multiplied with.
  const Real most = S::kIsLog ? hn::GetLane(hn::MaxOfLanes(d, x.largest)) : Real(1);
  const Real total_growth = t_.near_vanished ? std::max(most, Real(1)) : Real(1);
  const Real start_growth = t_.transition_vanished ? std::max(most, Real(1)) : Real(1);
  return all_at_least(x.least_total, S::kIsLog ? t_.least_total * total_growth : t_.least_total) &&
         all_at_least(x.least_start,
                      S::kIsLog ? t_.least_start * start_growth : Limits<S, Real>::kSmallest) &&
         all_at_least(x.least_stored, Limits<S, Real>::kSmallest) &&
         hn::AllTrue(d, hn::Le(x.largest, hn::Set(d, Limits<S, Real>::kLargest)));
}

template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::advance_panel(int panel, int slot, V start, Real* next,
                                                       BlockMessages<Real>& out, Extremes& x) {
  const D d;
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  const std::size_t at = t_.panel_index(panel, slot, kBlock);
  const std::size_t row = static_cast<std::size_t>(slot) * width_ + c0;
  const V idle_alpha = hn::Load(d, idle_alpha_.get() + c0);
  const V idle_start = hn::Load(d, idle_start_.get() + c0);
  hn::Store(start, d, out.start + row);
  const V start_factor = hn::Load(d, start_factor_.get() + at);
  const V ring = S::Times(start, start_factor);
  hn::Store(ring, d, fresh_.get() + at);
  const V near = S::Times(start, S::Times(start_factor, hn::Load(d, to_near_.get() + c0)));
  hn::Store(near, d, near_.get() + at);

  V total = hn::Load(d, far_.get() + at);
  const int first = std::max(0, slot + 1 - t_.duration);
  const Real* near_panel = near_.get() + t_.panel_index(panel, 0, kBlock);
  const Real* near_table = t_.near_table.get() + t_.panel_index(panel, 0, kBlock);
  const auto add = [&](int s, V sum) HWY_ATTR {
    return S::TimesPlus(hn::Load(d, near_panel + static_cast<std::size_t>(s) * lanes_),
                        hn::Load(d, near_table + static_cast<std::size_t>(slot - s) * lanes_), sum);
  };
  // Two chains; the start that was just computed comes last.
  V other = hn::Set(d, kZero);
  int s = first;
  for (; s + 2 <= slot; s += 2) {
    total = add(s, total);
    other = add(s + 1, other);
  }
  if (s + 1 <= slot) other = add(s, other);
  total = add(slot, S::Plus(total, other));
  if (t_.tail) total = S::Plus(total, advance_tail(panel, slot, row, out));

  const V alpha_factor = hn::Load(d, alpha_factor_.get() + at);
  const V stored = S::Times(total, alpha_factor);
  const V alpha = S::Times(total, S::Times(alpha_factor, hn::Load(d, to_alpha_.get() + c0)));
  hn::Store(stored, d, out.alpha + row);
  hn::Store(alpha, d, next + c0);

  x.least_total = hn::Min(x.least_total, hn::Max(total, idle_alpha));
  x.least_start = hn::Min(x.least_start, hn::Max(start, idle_start));
  x.least_stored = hn::Min(x.least_stored, hn::Min(hn::Max(stored, idle_alpha), hn::Max(ring, idle_start)));
  x.largest = hn::Max(hn::Max(x.largest, hn::Max(stored, alpha)), hn::Max(ring, near));
}

// The tail at the slot's right boundary: tail_t = q (tail_{t-1} + gamma_{t-K-1} e^B[K]).
template <class Real, class D, class Semiring>
inline auto BlockRun<Real, D, Semiring>::advance_tail(int panel, int slot, std::size_t row,
                                                      BlockMessages<Real>& out) -> V {
  const D d;
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  V source = hn::Load(d, tail_source_.get() + t_.panel_index(panel, slot, kBlock));
  if (slot >= t_.duration) {
    const V near = hn::Load(d, near_.get() + t_.panel_index(panel, slot - t_.duration, kBlock));
    source =
        S::Times(near, hn::Load(d, t_.near_table.get() + t_.panel_index(panel, t_.duration - 1, kBlock)));
  }
  const V tail =
      S::Times(S::Plus(hn::Load(d, tail_now_.get() + c0), source), hn::Load(d, t_.tail_factor.get() + c0));
  hn::Store(tail, d, tail_now_.get() + c0);
  if (out.tail != nullptr) hn::Store(tail, d, out.tail + row);
  return S::Times(tail, hn::Load(d, tail_to_total_.get() + c0));
}

// Ring, carried alpha and tail after a certified block; the gauge moves to its last boundary.
template <class Real, class D, class Semiring>
inline void BlockRun<Real, D, Semiring>::finish_fast(BlockMessages<Real>& out) {
  const DD dd;
  for (std::size_t c = 0; c < width_; ++c) {
    out.start_scale[c] = scale_ + t_.transition_bound[c];
    out.alpha_scale[c] = bound_[c];
  }
  take_carry(out.alpha + (kBlock - 1) * width_);
  const bool vanished = normalize_fast(head_);
  if (vanished) keep_logs(head_);
  ring_has_log_[static_cast<std::size_t>(head_)] = vanished;
  std::copy_n(ring_scale_.get() + static_cast<std::size_t>(head_) * width_, width_, gamma_scale_.get());
  if (t_.tail) {
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      hn::Store(hn::Add(log_of(tail_now_.get() + c), hn::Load(dd, tail_bound_.get() + c)), dd,
                tail_log_.get() + c);
    }
    for (std::size_t c = 0; c < width_; ++c) tail_log_[c] += block_sum_[c] + t_.tail_drift[c];
  }
  shift_gauge(block_sum_.get(), move_base());
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
