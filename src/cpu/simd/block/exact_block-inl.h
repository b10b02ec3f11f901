// One block in double logarithms: blocks that the ends of the sequence cut, and scores that whole units do
// not reach, as masks of -1e9. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_EXACT_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_EXACT_BLOCK_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_EXACT_BLOCK_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_EXACT_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "cpu/simd/block/block_messages-inl.h"
#include "cpu/simd/block/block_scores-inl.h"
#include "cpu/simd/block/far_part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D, class Semiring>
class ExactBlock : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using RunRing = Ring<Real, D, Semiring>;
  using Far = FarPart<Real, D, Semiring>;
  using Messages = BlockMessages<Real, typename Vectors::Whole>;
  using typename Vectors::DD;
  using typename Vectors::S;
  using typename Vectors::VD;

  // What a block is computed from.
  struct Inputs {
    const RunRing& ring;
    const BlockScores<Real, D, Semiring>& scores;
    const Far& far;
    const double* bound;        // (padded) what the far part is relative to
    const double* ring_bound;   // (padded) -inf where it is empty
    int first_slot, last_slot;  // that belong to the sequence
    bool free_start;            // segments of the first slot start without a transition
    bool cut_start;             // segments began in the slots before it, too, which lie beyond a cut
  };

  explicit ExactBlock(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        starts_(kBlock * width_),
        alpha_(width_),
        content_(width_),
        entering_(width_),
        weights_(width_) {}

  // Logarithms of alpha at the boundary (padded): the caller's before, of the block's last boundary
  // afterwards.
  double* alpha() { return alpha_.get(); }
  // (16, padded) gamma of the block's starts with the content up to its last boundary.
  double* starts() { return starts_.get(); }
  const double* content() const { return content_.get(); }  // (padded) of the block

  // `tail_log` (padded) is carried along; `started_log` (16, padded) gets the starts without content.
  void run(const Inputs& in, double* tail_log, double* started_log, Messages& out) {
    in_ = &in;
    const DD dd;
    std::fill_n(starts_.get(), starts_.size(), kNegativeInfinity);
    std::fill_n(started_log, kBlock * width_, kNegativeInfinity);
    std::fill_n(content_.get(), width_, 0.0);
    for (int slot = first_start(); slot < in.first_slot; ++slot)
      std::copy_n(t_.first_scores.data(), t_.labels, starts_.get() + static_cast<std::size_t>(slot) * width_);
    const BlockScores<Real, D, Semiring>& scores = in.scores;
    for (int slot = in.first_slot; slot < in.last_slot; ++slot) {
      const auto row = static_cast<std::size_t>(slot) * width_;
      double* start = out.start_log + row;
      if (in.free_start && slot == in.first_slot) {
        std::fill_n(start, width_, kNegativeInfinity);
        std::fill_n(start, t_.labels, 0.0);
      } else {
        start_messages(alpha_.get(), start);
      }
      for (std::size_t c = 0; c < width_; ++c)
        started_log[row + c] = starts_[row + c] =
            start[c] + (scores.has_edges() ? scores.first()[row + c] : 0.0);
      if (t_.tail) advance_tail(slot, tail_log);
      for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
        VD total = advance(slot, c, tail_log);
        if (t_.tail) hn::Store(hn::Load(dd, tail_log + c), dd, out.tail_log + row + c);
        if (scores.has_edges()) total = hn::Add(total, hn::Load(dd, scores.last() + row + c));
        hn::Store(total, dd, alpha_.get() + c);
        hn::Store(total, dd, out.alpha_log + row + c);
      }
    }
  }

  // out(c) = log sum (or max) over c' of alpha(c') + T[c'][c].
  void start_messages(const double* alpha, double* out);

 private:
  int first_start() const { return in_->cut_start ? 0 : in_->first_slot; }
  VD advance(int slot, std::size_t c, double* tail_log) {
    const DD dd;
    const VD content = hn::Load(dd, in_->scores.content() + static_cast<std::size_t>(slot) * width_ + c);
    const auto add_content = [&](double* to) { hn::Store(hn::Add(hn::Load(dd, to), content), dd, to); };
    for (int s = first_start(); s <= slot; ++s)
      add_content(starts_.get() + static_cast<std::size_t>(s) * width_ + c);
    add_content(content_.get() + c);
    if (t_.tail) add_content(tail_log + c);
    const VD tail = t_.tail ? hn::Load(dd, tail_log + c) : hn::Set(dd, kNegativeInfinity);
    const VD total = exact_sum(c, slot, tail, exact_far(c, slot));
    return needs_ring(c, total) ? exact_sum(c, slot, tail, exact_ring_sum(c, slot)) : total;
  }
  VD start_terms(const double* alpha, std::size_t c) const;
  void advance_tail(int slot, double* tail_log);
  VD exact_far(std::size_t c, int slot) const;
  VD exact_sum(std::size_t c, int slot, VD tail, VD far) const;
  bool needs_ring(std::size_t c, VD total) const;
  VD exact_ring_sum(std::size_t c, int slot) const;

  static constexpr double kNegligible = -45;  // e^-45 = 3e-20: below the last digit of a sum that holds a 1

  const Tables& t_;
  std::size_t width_, lanes_;
  const Inputs* in_ = nullptr;
  AlignedArray<double> starts_, alpha_, content_, entering_, weights_;
};

// out(c) = log sum (or max) over c' of alpha(c') + T[c'][c].
template <class Real, class D, class Semiring>
inline void ExactBlock<Real, D, Semiring>::start_messages(const double* alpha, double* out) {
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
            hn::Set(dd, weights_[from]),
            hn::Load(dd, t_.transitions.linear.get() + static_cast<std::size_t>(from) * width_ + c), sum);
      }
      if (hn::AllTrue(dd, hn::Gt(sum, hn::Set(dd, 1e-280)))) {
        const VD scale = hn::Add(hn::Set(dd, largest), hn::Load(dd, t_.transitions.linear_bound.get() + c));
        hn::Store(hn::Add(hn::Log(dd, sum), scale), dd, out + c);
        continue;
      }
    }
    hn::Store(start_terms(alpha, c), dd, out + c);
  }
}

template <class Real, class D, class Semiring>
inline auto ExactBlock<Real, D, Semiring>::start_terms(const double* alpha, std::size_t c) const -> VD {
  const DD dd;
  const auto term = [&](int from) {
    return hn::Add(hn::Set(dd, alpha[from]),
                   hn::Load(dd, t_.transitions.logs.get() + static_cast<std::size_t>(from) * width_ + c));
  };
  VD largest = hn::Set(dd, kNegativeInfinity);
  for (int from = 0; from < t_.labels; ++from) largest = hn::Max(largest, term(from));
  if constexpr (!S::kIsLog) return largest;
  const VD safe = Vectors::finite_or_zero(largest);
  VD sum = hn::Zero(dd);
  for (int from = 0; from < t_.labels; ++from) sum = hn::Add(sum, hn::Exp(dd, hn::Sub(term(from), safe)));
  return hn::Add(safe, LogOrMinusInfinity(dd, sum));
}

template <class Real, class D, class Semiring>
inline void ExactBlock<Real, D, Semiring>::advance_tail(int slot, double* tail_log) {
  const int from = slot - t_.duration;  // slot of gamma_{t-K-1}
  double* source = entering_.get();
  if (from >= 0) {
    std::copy_n(starts_.get() + static_cast<std::size_t>(from) * width_, width_, source);
  } else {
    in_->ring.load_logs(-from, source);
    for (std::size_t c = 0; c < width_; ++c) source[c] += content_[c];
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
    if (t_.tails.log[c] == kNegativeInfinity) continue;
    tail_log[c] = Vectors::plus_scalar(tail_log[c], source[c] + t_.last.log[c]) + t_.tails.log[c];
  }
}

// Far part at the slot's right boundary as a logarithm, content included.
template <class Real, class D, class Semiring>
inline auto ExactBlock<Real, D, Semiring>::exact_far(std::size_t c, int slot) const -> VD {
  const DD dd;
  const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), slot, kBlock) + c % lanes_;
  return hn::Add(hn::Add(Vectors::log_of(in_->far.sums() + at), hn::Load(dd, in_->bound + c)),
                 hn::Load(dd, content_.get() + c));
}

// Far part, segments that began in this block, and the tail.
template <class Real, class D, class Semiring>
inline auto ExactBlock<Real, D, Semiring>::exact_sum(std::size_t c, int slot, VD tail, VD far) const -> VD {
  const DD dd;
  const int first = std::max(first_start(), slot + 1 - t_.duration);
  const auto term = [&](int s) {
    return hn::Add(hn::Load(dd, starts_.get() + static_cast<std::size_t>(s) * width_ + c),
                   hn::Load(dd, t_.bias.get() + static_cast<std::size_t>(slot - s) * width_ + c));
  };
  VD largest = hn::Max(far, tail);
  for (int s = first; s <= slot; ++s) largest = hn::Max(largest, term(s));
  if constexpr (!S::kIsLog) return largest;
  const VD safe = Vectors::finite_or_zero(largest);
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
inline bool ExactBlock<Real, D, Semiring>::needs_ring(std::size_t c, VD total) const {
  const DD dd;
  const VD content = hn::Load(dd, content_.get() + c);
  const VD limit = hn::Add(hn::Add(hn::Load(dd, in_->bound + c), content), hn::Set(dd, t_.least.total));
  const VD none = hn::Set(dd, kNegativeInfinity);
  const auto live = hn::And(hn::Gt(hn::Load(dd, in_->ring_bound + c), none), hn::Gt(content, none));
  return !hn::AllFalse(dd, hn::And(live, hn::Lt(total, limit)));
}

template <class Real, class D, class Semiring>
inline auto ExactBlock<Real, D, Semiring>::exact_ring_sum(std::size_t c, int slot) const -> VD {
  const DD dd;
  const auto for_each = [&](auto visit) {
    for (int o = 1; o <= t_.offsets; ++o) {
      for (int q = std::max(0, kBlock * o + 1 + slot - t_.duration); q < kBlock; ++q) {
        const VD g = in_->ring.log_vector(o, static_cast<std::size_t>(q), c);
        const VD b =
            hn::Load(dd, t_.bias.get() + static_cast<std::size_t>(kBlock * o + slot - q) * width_ + c);
        visit(hn::Add(g, b));
      }
    }
  };
  VD largest = hn::Set(dd, kNegativeInfinity);
  for_each([&](VD x) HWY_ATTR { largest = hn::Max(largest, x); });
  const VD content = hn::Load(dd, content_.get() + c);
  if constexpr (!S::kIsLog) return hn::Add(largest, content);
  if (hn::AllTrue(dd, hn::Eq(largest, hn::Set(dd, kNegativeInfinity)))) return largest;
  const VD safe = Vectors::finite_or_zero(largest);
  VD sum = hn::Zero(dd);
  for_each([&](VD x) HWY_ATTR { sum = hn::Add(sum, hn::Exp(dd, hn::Sub(x, safe))); });
  return hn::Add(hn::Add(safe, LogOrMinusInfinity(dd, sum)), content);
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
