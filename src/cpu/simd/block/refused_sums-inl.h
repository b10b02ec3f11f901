// Sums of a block that the certificate refused, again, with whole units for every term, a panel of labels at
// once; each feeds its own label alone. Where whole units do not reach, in double logarithms, label by label.
// Who uses FastBlock includes this file, which includes its class.
#if defined(SEMICRF_CPU_SIMD_BLOCK_REFUSED_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_REFUSED_SUMS_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_REFUSED_SUMS_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_REFUSED_SUMS_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "cpu/simd/block/fast_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// A sum of terms whose upper bounds, at most kSlack above them, are known before: what is e^-60 of the
// largest is left out.
template <class Semiring>
class BoundedSum {
 public:
  static constexpr double kSlack = 1.5;
  static constexpr double kReach = Semiring::kIsLog ? 60 : 2 * kSlack;
  explicit BoundedSum(double bound) : bound_(bound) {}
  bool counts(double bound) const { return bound > bound_ - kReach; }
  void add(double log) {
    if constexpr (Semiring::kIsLog) {
      sum_ += std::exp(log - bound_);
    } else {
      most_ = std::max(most_, log);
    }
  }
  double log() const {
    if constexpr (!Semiring::kIsLog) return most_;
    return sum_ > 0 ? bound_ + std::log(sum_) : kNegativeInfinity;
  }

 private:
  double bound_;
  double sum_ = 0;
  double most_ = kNegativeInfinity;
};

// Sums over sources, with whole units for every term.
template <class Real, class D, class Semiring>
void FastBlock<Real, D, Semiring>::redo_starts(int panel, int slot) {
  const D d;
  const DI di;
  const auto& transitions = t_.transitions;
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  const std::size_t row = static_cast<std::size_t>(slot) * width_;
  const auto refused =
      hn::Lt(hn::Load(d, out_->start + row + c0), hn::Load(d, t_.least.start_numbers.get() + c0));
  const auto wanted = hn::RebindMask(di, refused);
  if (!restarted_) std::fill_n(again_whole_.get(), again_whole_.size(), Whole(kDead));
  restarted_ = true;
  if (!transitions.fit) {
    redo_starts_alone(panel, slot, wanted);
    return;
  }
  const I nothing = hn::Set(di, Whole(kDead));
  // Calls visit(from, units of its alpha and of the transitions into the panel).
  const auto for_each_source = [&](auto visit) HWY_ATTR {
    for (std::size_t from = 0; from < static_cast<std::size_t>(t_.labels); ++from) {
      const Whole whole = alpha_whole_[row + from];
      if (whole < kLeastWhole) continue;
      const I into = hn::Load(di, transitions.score_whole.get() + from * width_ + c0);
      visit(from, hn::Add(into, hn::Set(di, whole - transitions.out_whole[from])));
    }
  };
  Kept<I> top = nothing;
  for_each_source([&](std::size_t, I whole) HWY_ATTR { top = hn::Max(bare(top), whole); });
  Kept<V> sum = hn::Set(d, S::template zero<Real>());
  for_each_source([&](std::size_t from, I whole) HWY_ATTR {
    const V term = S::Times(hn::Set(d, alpha_[row + from]),
                            hn::Load(d, transitions.score_numbers.get() + from * width_ + c0));
    sum = S::TimesPlus(term, Vectors::factor_of(hn::Sub(whole, bare(top))), bare(sum));
  });
  const auto dead = hn::Lt(bare(top), hn::Set(di, Whole(kLeastWhole)));
  const I found = hn::IfThenElse(dead, nothing, bare(top));
  hn::Store(bare(sum), d, again_.get() + row + c0);
  hn::Store(found, di, again_whole_.get() + row + c0);
  const std::size_t at = t_.panel_index(panel, slot, kBlock);
  V gamma = S::Times(bare(sum), hn::Load(d, in_->factors.start() + at));
  I whole =
      hn::Add(Vectors::take_units(gamma), hn::Add(found, hn::Load(di, in_->factors.start_whole() + at)));
  replace(wanted, dead, gamma, whole, starts_.get() + at, starts_whole_.get() + at);
  const auto deep = hn::Ne(hn::Load(di, transitions.deep.get() + c0), hn::Zero(di));
  redo_starts_alone(panel, slot, hn::And(hn::And(wanted, dead), deep));
}

// Puts numbers times whole units, of which some are impossible, in the place of those that are wanted.
template <class Real, class D, class Semiring>
template <class Mask>
HWY_INLINE void FastBlock<Real, D, Semiring>::replace(Mask wanted, Mask dead, V number, I whole,
                                                      Real* numbers, Whole* wholes) {
  const D d;
  const DI di;
  whole = hn::IfThenElse(dead, hn::Set(di, Whole(kDead)), whole);
  number = hn::IfThenElse(hn::RebindMask(d, dead), hn::Set(d, S::template one<Real>()), number);
  hn::Store(hn::IfThenElse(hn::RebindMask(d, wanted), number, hn::Load(d, numbers)), d, numbers);
  hn::Store(hn::IfThenElse(wanted, whole, hn::Load(di, wholes)), di, wholes);
}

// Computes the refused starts of single labels again, in double logarithms.
template <class Real, class D, class Semiring>
template <class Mask>
void FastBlock<Real, D, Semiring>::redo_starts_alone(int panel, int slot, Mask wanted) {
  for_lanes(wanted, [&](std::size_t l) {
    const std::size_t c = static_cast<std::size_t>(panel) * lanes_ + l;
    const std::size_t at = t_.panel_index(panel, slot, kBlock) + l;
    const std::size_t row = static_cast<std::size_t>(slot) * width_ + c;
    starts_whole_[at] = kDead;
    const double log = exact_start(slot, c);
    const double factor = Vectors::log_value(in_->factors.start()[at], in_->factors.start_whole()[at]);
    const double gamma = log == kNegativeInfinity ? log : log + factor;
    in_range_ = Vectors::split_value(log, &again_[row], &again_whole_[row]) &&
                Vectors::split_value(gamma, &starts_[at], &starts_whole_[at]) && in_range_;
  });
}

// Calls visit(lane) for those of the mask.
template <class Real, class D, class Semiring>
template <class Mask, class Visit>
void FastBlock<Real, D, Semiring>::for_lanes(Mask mask, Visit visit) const {
  const DI di;
  if (HWY_LIKELY(hn::AllFalse(di, mask))) return;
  HWY_ALIGN Whole chosen[hn::MaxLanes(D())];
  hn::Store(hn::VecFromMask(di, mask), di, chosen);
  for (std::size_t l = 0; l < lanes_; ++l)
    if (chosen[l] != 0) visit(l);
}

// `total`: the panel's sums at the slot's right boundary.
template <class Real, class D, class Semiring>
void FastBlock<Real, D, Semiring>::redo_sums(int panel, int slot, V total) {
  if (!has_terms(panel, slot, total)) return;
  if (far_units_ == FarUnits::kUnknown)
    far_units_ = find_far_units() ? FarUnits::kFound : FarUnits::kOutOfRange;
  if (far_units_ == FarUnits::kFound) {
    redo_panel(panel, slot, total);
    return;
  }
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  const auto refused = hn::Lt(total, hn::Load(D(), t_.least.total_numbers.get() + c0));
  for_lanes(hn::RebindMask(DI(), refused), [&](std::size_t l) { redo_sum(slot, c0 + l); });
}

template <class Real, class D, class Semiring>
void FastBlock<Real, D, Semiring>::redo_sum(int slot, std::size_t c) {
  const std::size_t to = static_cast<std::size_t>(slot + 1) * width_ + c;
  alpha_whole_[to] = kDead;
  const double log = exact_sum(slot, c);
  if (log == kNegativeInfinity) return;
  const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), slot, kBlock) + c % lanes_;
  const double factor = Vectors::log_value(in_->factors.alpha()[at], in_->factors.alpha_whole()[at]);
  const double source = static_cast<double>(t_.transitions.out_whole[c]) * S::kUnit;
  if (!Vectors::split_value(log + factor + source, &alpha_[to], &alpha_whole_[to])) in_range_ = false;
}

// Whether one of the panel's refused sums has something to add up. The others' alphas become impossible.
template <class Real, class D, class Semiring>
bool FastBlock<Real, D, Semiring>::has_terms(int panel, int slot, V total) {
  const D d;
  const DI di;
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  const auto refused = hn::RebindMask(di, hn::Lt(total, hn::Load(d, t_.least.total_numbers.get() + c0)));
  const auto empty = hn::And(hn::Lt(hn::Load(di, reference_.get() + c0), hn::Set(di, Whole(kLeastWhole + 1))),
                             hn::Eq(hn::Load(di, t_.near.left_out.get() + c0), hn::Zero(di)));
  Whole* const to = alpha_whole_.get() + static_cast<std::size_t>(slot + 1) * width_ + c0;
  hn::Store(hn::IfThenElse(hn::And(refused, empty), hn::Set(di, Whole(kDead)), hn::Load(di, to)), di, to);
  return !hn::AllFalse(di, hn::AndNot(empty, refused));
}

// False where whole units do not reach.
template <class Real, class D, class Semiring>
bool FastBlock<Real, D, Semiring>::find_far_units() {
  if (!t_.durations_fit) return false;
  const D d;
  const DI di;
  const DD dd;
  const VD none = hn::Set(dd, kNegativeInfinity);
  const VD most_units = hn::Set(dd, kMostUnits * S::kUnit);
  for (int o = 1; o <= t_.offsets; ++o) {
    if (!in_->ring.has_units(o)) return false;
    const std::size_t of_block = static_cast<std::size_t>(o) * width_;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD scale = hn::Load(dd, in_->ring.scale(o) + c);
      const VD relative = hn::Sub(scale, hn::Set(dd, in_->scale));
      if (!hn::AllTrue(dd, hn::Or(hn::Eq(scale, none), hn::Le(hn::Abs(relative), most_units)))) return false;
      this->split_units(relative, far_numbers_.get() + of_block + c, far_whole_.get() + of_block + c);
    }
    for (std::size_t c = of_block; c < of_block + width_; c += lanes_) {
      hn::Store(Vectors::from_rest(hn::Load(d, far_numbers_.get() + c)), d, far_numbers_.get() + c);
      const I durations = hn::Load(di, t_.offset_whole.get() + c);
      hn::Store(hn::Add(hn::Load(di, far_whole_.get() + c), durations), di, far_most_.get() + c);
    }
  }
  return true;
}

// Calls visit(start, its units, duration, its units) for all segments that may count beside `top` units: they
// began in this block, or in one before it whose `most` units are not too low. After the segments of a block
// visited(its index in far_most_), this block's first.
template <class Real, class D, class Semiring>
template <class Visit, class Visited>
HWY_INLINE void FastBlock<Real, D, Semiring>::for_each_term(int panel, int slot, const Kept<I>& top,
                                                            const Whole* most, Visit visit,
                                                            Visited visited) const {
  constexpr Whole kReach = !S::kIsLog ? 4 : (sizeof(Real) == sizeof(double) ? 75 : 46);
  const D d;
  const DI di;
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  const auto see = [&](V start, I whole, int k) HWY_ATTR {
    const std::size_t at = t_.panel_index(panel, k - 1, t_.duration);
    visit(start, hn::Add(whole, hn::Load(di, t_.duration_whole.get() + at)),
          hn::Load(d, t_.duration_numbers.get() + at));
  };
  for (int s = std::max(0, slot + 1 - t_.duration); s <= slot; ++s) {
    const std::size_t at = t_.panel_index(panel, s, kBlock);
    see(hn::Load(d, starts_.get() + at), hn::Load(di, starts_whole_.get() + at), slot - s + 1);
  }
  visited(c0);
  const I cut = hn::Load(di, cut_.get() + c0);
  for (int o = 1; o <= t_.offsets; ++o) {
    const std::size_t of_block = static_cast<std::size_t>(o) * width_ + c0;
    const I bound = hn::Add(hn::Load(di, most + of_block), cut);
    const I least = hn::Max(hn::Sub(bare(top), hn::Set(di, kReach)), hn::Set(di, Whole(kLeastWhole)));
    if (hn::AllTrue(di, hn::Lt(bound, least))) {
      visited(of_block);
      continue;
    }
    const V by = hn::Load(d, far_numbers_.get() + of_block);
    const I scale = hn::Add(hn::Load(di, far_whole_.get() + of_block), cut);
    const Real* starts = in_->ring.starts(o);
    const Whole* whole = in_->ring.whole(o);
    const int longest = kBlock * o + slot + 1;  // duration from the block's first slot
    for (int q = std::max(0, longest - t_.duration); q < kBlock; ++q) {
      const std::size_t at = t_.panel_index(panel, q, kBlock);
      see(S::Times(hn::Load(d, starts + at), by), hn::Add(hn::Load(di, whole + at), scale), longest - q);
    }
    visited(of_block);
  }
}

template <class Real, class D, class Semiring>
void FastBlock<Real, D, Semiring>::redo_panel(int panel, int slot, V total) {
  const D d;
  const DI di;
  const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
  const std::size_t at = t_.panel_index(panel, slot, kBlock);
  const auto refused = hn::Lt(total, hn::Load(d, t_.least.total_numbers.get() + c0));
  const auto wanted = hn::RebindMask(di, refused);
  const I nothing = hn::Set(di, Whole(kDead));
  // Nothing counts beside the others.
  Kept<I> top = nothing;
  if (t_.tail) top = tail_.whole(panel);
  top = hn::IfThenElse(wanted, bare(top), hn::Set(di, Whole(-kLeastWhole)));
  Kept<I> most = nothing;  // units of the block's largest segment
  for_each_term(
      panel, slot, top, far_most_.get(), [&](V, I whole, V) HWY_ATTR { most = hn::Max(bare(most), whole); },
      [&](std::size_t of_block) HWY_ATTR {
        hn::Store(bare(most), di, far_tops_.get() + of_block);
        top = hn::Max(bare(top), bare(most));
        most = nothing;
      });
  Kept<V> sum = hn::Set(d, S::template zero<Real>());
  if (t_.tail) sum = Vectors::moved(tail_.numbers(panel), hn::Sub(tail_.whole(panel), bare(top)));
  for_each_term(
      panel, slot, top, far_tops_.get(),
      [&](V start, I whole, V duration) HWY_ATTR {
        const V by = Vectors::factor_of(hn::Sub(whole, bare(top)));
        sum = S::TimesPlus(S::Times(start, duration), by, bare(sum));
      },
      [](std::size_t) {});
  V alpha = bare(sum);
  I units = end_segments(rows(), c0, at, bare(top), alpha);
  const auto dead = hn::Lt(bare(top), hn::Set(di, Whole(kLeastWhole)));
  const std::size_t to = static_cast<std::size_t>(slot + 1) * width_ + c0;
  replace(wanted, dead, alpha, units, alpha_.get() + to, alpha_whole_.get() + to);
  const auto deep = hn::Ne(hn::Load(di, t_.deep_durations.get() + c0), hn::Zero(di));
  for_lanes(hn::And(hn::And(wanted, dead), deep), [&](std::size_t l) { redo_sum(slot, c0 + l); });
}

// G at the slot's left boundary, relative to the scale.
template <class Real, class D, class Semiring>
inline double FastBlock<Real, D, Semiring>::exact_start(int slot, std::size_t c) const {
  const std::size_t row = static_cast<std::size_t>(slot) * width_;
  const auto for_each = [&](auto visit) {
    for (std::size_t from = 0; from < static_cast<std::size_t>(t_.labels); ++from) {
      const double score = t_.transitions.logs[from * width_ + c];
      const Whole whole = alpha_whole_[row + from];
      if (score == kNegativeInfinity || whole < kLeastWhole) continue;
      visit(from, static_cast<double>(whole - t_.transitions.out_whole[from] + 1) * S::kUnit + score);
    }
  };
  double bound = kNegativeInfinity;
  for_each([&](std::size_t, double term) { bound = std::max(bound, term); });
  if (bound == kNegativeInfinity) return bound;
  BoundedSum<S> sum(bound);
  for_each([&](std::size_t from, double term) {
    if (!sum.counts(term)) return;
    const Whole whole = alpha_whole_[row + from] - t_.transitions.out_whole[from];
    sum.add(Vectors::log_value(alpha_[row + from], whole) + t_.transitions.logs[from * width_ + c]);
  });
  return sum.log();
}

// The sum over durations at the slot's right boundary, relative to the scale.
template <class Real, class D, class Semiring>
inline double FastBlock<Real, D, Semiring>::exact_sum(int slot, std::size_t c) const {
  const std::size_t panel = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
  const auto for_each_start = [&](auto visit) {
    for (int s = std::max(0, slot + 1 - t_.duration); s <= slot; ++s) {
      const std::size_t at = panel + static_cast<std::size_t>(s) * lanes_;
      const double bias = t_.bias[static_cast<std::size_t>(slot - s) * width_ + c];
      if (starts_whole_[at] < kLeastWhole || bias == kNegativeInfinity) continue;
      visit(at, bias, static_cast<double>(starts_whole_[at] + 1) * S::kUnit + bias);
    }
  };
  const bool far = !cut(c) && in_->ring_bound[c] != kNegativeInfinity;
  const double tail = t_.tail ? tail_.log(c) : kNegativeInfinity;
  double bound = tail;
  // Blocks of which no term can count are passed over: the bound only rises.
  const auto for_each_far = [&](auto visit) {
    for (int o = 1; far && o <= t_.offsets; ++o) {
      const double durations = t_.offset_bound[static_cast<std::size_t>(o) * width_ + c];
      const double most = in_->ring.scale(o)[c] + durations - in_->scale + 2 * S::kUnit;
      if (!(most > bound - BoundedSum<S>::kReach)) continue;
      for (int q = std::max(0, kBlock * o + 1 + slot - t_.duration); q < kBlock; ++q) {
        const double bias =
            t_.bias[static_cast<std::size_t>(kBlock * o + slot - q) * width_ + c] - in_->scale;
        const auto row = static_cast<std::size_t>(q);
        visit(o, row, bias, in_->ring.log_bound(o, row, c) + bias);
      }
    }
  };
  for_each_start([&](std::size_t, double, double term) { bound = std::max(bound, term); });
  for_each_far([&](int, std::size_t, double, double term) { bound = std::max(bound, term); });
  if (bound == kNegativeInfinity) return bound;
  BoundedSum<S> sum(bound);
  if (sum.counts(tail)) sum.add(tail);
  for_each_start([&](std::size_t at, double bias, double term) {
    if (sum.counts(term)) sum.add(Vectors::log_value(starts_[at], starts_whole_[at]) + bias);
  });
  for_each_far([&](int o, std::size_t row, double bias, double term) {
    if (sum.counts(term)) sum.add(in_->ring.log_value(o, row, c) + bias);
  });
  return sum.log();
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
