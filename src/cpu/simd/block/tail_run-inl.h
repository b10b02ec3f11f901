// The tail of a run over one block: all open segments longer than K, one number per label
// (docs/algorithm.md, "Durations beyond K"). Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_TAIL_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_TAIL_RUN_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_TAIL_RUN_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_TAIL_RUN_INL_H_
#endif

#include <algorithm>
#include <cmath>

#include "cpu/simd/block/block_messages-inl.h"
#include "cpu/simd/block/ring-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D, class Semiring>
class TailRun : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using RunRing = Ring<Real, D, Semiring>;
  using Messages = BlockMessages<Real, typename Vectors::Whole>;
  using typename Vectors::DD;
  using typename Vectors::DI;
  using typename Vectors::I;
  using typename Vectors::S;
  using typename Vectors::V;
  using typename Vectors::Whole;

  explicit TailRun(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        number_(width_, S::template one<Real>()),
        whole_(width_, Whole(kDead)),
        entering_(2 * width_),
        entering_whole_(2 * width_) {}

  // At the block's first boundary: the tail's logarithms (padded), in the gauge of the ring. All units are
  // relative to `scale`. False where they do not reach.
  bool prepare(const RunRing& ring, const double* log, double scale) {
    ring_ = &ring;
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
      const double relative = log[c] == kNegativeInfinity ? log[c] : log[c] - scale;
      if (!Vectors::split_value(relative, &number_[c], &whole_[c])) return false;
    }
    // Only two blocks of the ring hold starts that are K + 1 positions back.
    for (int i = 0; i < 2; ++i) {
      const int distance = t_.tail_reach - i;
      if (distance < 1) continue;
      if (!ring.has_units(distance)) return false;
      for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
        const double bound = ring.scale(distance)[c] + t_.last.log[c];
        const std::size_t at = static_cast<std::size_t>(i) * width_ + c;
        const double relative = bound == kNegativeInfinity ? bound : bound - scale;
        if (!Vectors::split_value(relative, &entering_[at], &entering_whole_[at])) return false;
      }
    }
    return true;
  }

  // To the slot's right boundary: tail_t = q (tail_{t-1} + gamma_{t-K-1} e^B[K]). `starts` of this block
  // in panels. Returns its units.
  HWY_INLINE I advance(int panel, int slot, const Real* starts, const Whole* starts_whole, Messages& out) {
    const D d;
    const DI di;
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    V source, by;
    Kept<I> source_whole;
    if (slot >= t_.duration) {
      const std::size_t at = t_.panel_index(panel, slot - t_.duration, kBlock);
      source = hn::Load(d, starts + at);
      by = hn::Load(d, t_.last.number.get() + c0);
      source_whole = hn::Add(hn::Load(di, starts_whole + at), hn::Load(di, t_.last.whole.get() + c0));
    } else {
      const int distance = (t_.duration - slot + kBlock - 1) / kBlock;
      const int from = kBlock * distance - (t_.duration - slot);
      const std::size_t at = t_.panel_index(panel, from, kBlock);
      const std::size_t entry = static_cast<std::size_t>(t_.tail_reach - distance) * width_ + c0;
      source = hn::Load(d, ring_->starts(distance) + at);
      by = hn::Load(d, entering_.get() + entry);
      source_whole =
          hn::Add(hn::Load(di, ring_->whole(distance) + at), hn::Load(di, entering_whole_.get() + entry));
    }
    source = S::Times(source, by);
    const I before = hn::Load(di, whole_.get() + c0);
    const I most = hn::Max(before, source_whole);
    V tail = S::Plus(Vectors::moved(hn::Load(d, number_.get() + c0), hn::Sub(before, most)),
                     Vectors::moved(source, hn::Sub(source_whole, most)));
    tail = S::Times(tail, hn::Load(d, t_.tails.number.get() + c0));
    I units = Vectors::take_units(tail);
    units = hn::Add(hn::Add(units, most), hn::Load(di, t_.tails.whole.get() + c0));
    const auto none = hn::Lt(most, hn::Set(di, Whole(kLeastWhole)));
    units = hn::IfThenElse(none, hn::Set(di, Whole(kDead)), hn::Max(units, hn::Set(di, Whole(kDead))));
    tail = hn::IfThenElse(hn::RebindMask(d, none), hn::Set(d, S::template one<Real>()), tail);
    hn::Store(tail, d, number_.get() + c0);
    hn::Store(units, di, whole_.get() + c0);
    const std::size_t row = static_cast<std::size_t>(slot) * width_ + c0;
    hn::Store(tail, d, out.tail + row);
    hn::Store(units, di, out.tail_whole + row);
    return units;
  }

  // Its share of the sums over durations, relative to `reference`.
  HWY_INLINE V share(int panel, I reference) const {
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    const I below = hn::Sub(hn::Load(DI(), whole_.get() + c0), reference);
    return Vectors::moved(hn::Load(D(), number_.get() + c0), below);
  }
  // The tail as numbers times whole units relative to the scale.
  HWY_INLINE V numbers(int panel) const {
    return hn::Load(D(), number_.get() + static_cast<std::size_t>(panel) * lanes_);
  }
  HWY_INLINE I whole(int panel) const {
    return hn::Load(DI(), whole_.get() + static_cast<std::size_t>(panel) * lanes_);
  }
  // Logarithm relative to the scale, the content of the block left out.
  double log(std::size_t c) const { return Vectors::log_value(number_[c], whole_[c]); }

  // A forbidden position: nothing that began before goes on.
  void cut(std::size_t c) { whole_[c] = entering_whole_[c] = entering_whole_[width_ + c] = kDead; }

 private:
  const Tables& t_;
  std::size_t width_, lanes_;
  const RunRing* ring_ = nullptr;
  AlignedArray<Real> number_;  // (padded) near 1, times
  AlignedArray<Whole> whole_;  // these units
  // (2, padded) ring scale + B[K] of the oldest block of the ring, and of the one after it.
  AlignedArray<Real> entering_;
  AlignedArray<Whole> entering_whole_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
