// Sums of a block that the certificate refused, again in double logarithms: each feeds its own label alone.
// Included by fast_block-inl.h.
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
  explicit BoundedSum(double bound) : bound_(bound) {}
  bool counts(double bound) const { return bound > bound_ - (Semiring::kIsLog ? 60 : 2 * kSlack); }
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

template <class Real, class D, class Semiring>
void FastBlock<Real, D, Semiring>::redo_starts(int panel, int slot) {
  const Real* starts = out_->start + static_cast<std::size_t>(slot) * width_;
  for (std::size_t l = 0; l < lanes_; ++l) {
    const std::size_t c = static_cast<std::size_t>(panel) * lanes_ + l;
    if (!(starts[c] < t_.least.start_numbers[c])) continue;
    const std::size_t at = t_.panel_index(panel, slot, kBlock) + l;
    starts_whole_[at] = kDead;
    const double log = exact_start(slot, c);
    if (log == kNegativeInfinity) continue;
    restarted_.push_back({slot, c, log});
    const double factor = Vectors::log_value(in_->factors.start()[at], in_->factors.start_whole()[at]);
    if (!Vectors::split_value(log + factor, &starts_[at], &starts_whole_[at])) in_range_ = false;
  }
}

// `total`: the panel's sums at the slot's right boundary.
template <class Real, class D, class Semiring>
void FastBlock<Real, D, Semiring>::redo_sums(int panel, int slot, V total) {
  HWY_ALIGN Real numbers[hn::MaxLanes(D())];
  hn::Store(total, D(), numbers);
  for (std::size_t l = 0; l < lanes_; ++l) {
    const std::size_t c = static_cast<std::size_t>(panel) * lanes_ + l;
    if (!(numbers[l] < t_.least.total_numbers[c])) continue;
    const std::size_t to = static_cast<std::size_t>(slot + 1) * width_ + c;
    alpha_whole_[to] = kDead;
    if (reference_[c] <= kLeastWhole && t_.near.left_out[c] == 0) continue;  // nothing to add up
    const double log = exact_sum(slot, c);
    if (log == kNegativeInfinity) continue;
    const std::size_t at = t_.panel_index(panel, slot, kBlock) + l;
    const double factor = Vectors::log_value(in_->factors.alpha()[at], in_->factors.alpha_whole()[at]);
    const double source = static_cast<double>(t_.transitions.out_whole[c]) * S::kUnit;
    if (!Vectors::split_value(log + factor + source, &alpha_[to], &alpha_whole_[to])) in_range_ = false;
  }
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
  const bool far = !cut_[c] && in_->ring_bound[c] != kNegativeInfinity;
  const auto for_each_far = [&](auto visit) {
    for (int o = 1; far && o <= t_.offsets; ++o) {
      if (in_->ring.scale(o)[c] == kNegativeInfinity) continue;
      for (int q = std::max(0, kBlock * o + 1 + slot - t_.duration); q < kBlock; ++q) {
        const double bias =
            t_.bias[static_cast<std::size_t>(kBlock * o + slot - q) * width_ + c] - in_->scale;
        const auto row = static_cast<std::size_t>(q);
        visit(o, row, bias, in_->ring.log_bound(o, row, c) + bias);
      }
    }
  };
  const double tail = t_.tail ? tail_.log(c) : kNegativeInfinity;
  double bound = tail;
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
