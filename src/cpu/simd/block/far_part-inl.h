// What segments that began in earlier blocks contribute to a block: the Toeplitz product of ring and
// durations, relative to a bound per label. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_FAR_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_FAR_PART_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_FAR_PART_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_FAR_PART_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cpu/simd/block/block_messages-inl.h"
#include "cpu/simd/block/ring-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D, class Semiring>
class FarPart : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using RunRing = Ring<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using typename Vectors::DD;
  using typename Vectors::S;
  using typename Vectors::V;
  using typename Vectors::VD;

  explicit FarPart(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        unneeded_below_(unneeded_below(tables.offsets)),
        sums_(kBlock * width_),
        factor_(static_cast<std::size_t>(std::max(tables.ring_blocks, tables.offsets) + 1) * lanes_),
        low_(2 * lanes_),
        needed_(lanes_),
        active_(static_cast<std::size_t>(tables.offsets) + 1) {}

  // The sums at the 16 boundaries right of the positions of the block that lies `ahead` blocks beyond the
  // boundary reached, without the content of that block, relative to `bound` (padded, finite), which must not
  // lie below Ring::bound. `gauge` (padded) is the content up to the block; null: 0.
  void gather(const RunRing& ring, int ahead, const double* gauge, const double* bound) {
    for (int panel = 0; panel < t_.panels; ++panel) gather_panel(ring, panel, ahead, gauge, bound);
  }
  // (panels, 16, lanes)
  const Real* sums() const { return sums_.get(); }

 private:
  static constexpr int kStarts = 4;  // read at a time
  // As many sums as registers hold beside the starts and an entry.
  static constexpr int kSumsAtOnce = HWY_TARGET <= HWY_AVX3 ? kBlock : kBlock / 2;

  // What scale + bound of a block must exceed to change any of the 16 sums, per label: each of them holds the
  // largest start of every block with one of the durations there. Maxima are exact. Of sums, all that is left
  // out together is less than a quarter of the last digit.
  void find_needed(const RunRing& ring, std::size_t c0, int ahead) {
    const DD dd;
    for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
      VD most = hn::Set(dd, kNegativeInfinity);
      for (int o = 1; o + ahead <= t_.offsets; ++o) {
        const double* least = t_.offset_least.get() + static_cast<std::size_t>(o + ahead) * width_ + c0;
        most = hn::Max(most, hn::Add(hn::Load(dd, ring.scale(o) + c0 + l), hn::Load(dd, least + l)));
      }
      hn::Store(hn::Sub(most, hn::Set(dd, unneeded_below_)), dd, needed_.get() + l);
    }
  }

  void gather_panel(const RunRing& ring, int panel, int ahead, const double* gauge, const double* bound) {
    const DD dd;
    const D d;
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    int active = 0;
    const VD least = hn::Set(dd, Limits<S, Real>::kIgnore);
    find_needed(ring, c0, ahead);
    for (int o = 1; o + ahead <= t_.offsets; ++o) {
      const double* scale = ring.scale(o) + c0;
      const double* bias = t_.offset_bound.get() + static_cast<std::size_t>(o + ahead) * width_ + c0;
      bool needed = false;
      for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
        const VD largest = hn::Add(hn::Load(dd, scale + l), hn::Load(dd, bias + l));
        needed = needed || !hn::AllFalse(dd, hn::Gt(largest, hn::Load(dd, needed_.get() + l)));
      }
      if (!needed) continue;
      Real* factor = factor_.get() + static_cast<std::size_t>(active) * lanes_;
      bool any = false;
      for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
        VD x =
            hn::Sub(hn::Add(hn::Load(dd, scale + l), hn::Load(dd, bias + l)), hn::Load(dd, bound + c0 + l));
        if (gauge != nullptr) x = hn::Add(x, hn::Load(dd, gauge + c0 + l));
        any = any || !hn::AllFalse(dd, hn::Gt(x, least));
        this->split_power(x, factor + l, low_.get() + l, low_.get() + lanes_ + l);
      }
      if (!any) continue;
      hn::Store(this->from_split_power(factor, low_.get(), low_.get() + lanes_), d, factor);
      active_[active] = o;
      ++active;
    }
    toeplitz<0, kSumsAtOnce>(ring, panel, ahead, active);
    if constexpr (kSumsAtOnce < kBlock) toeplitz<kSumsAtOnce, kSumsAtOnce>(ring, panel, ahead, active);
  }

  // kSums boundaries against all active blocks; the sums stay in registers. Four starts at a time: every
  // table entry that is loaded serves four sums.
  template <int kFirst, int kSums>
  HWY_INLINE void toeplitz(const RunRing& ring, int panel, int ahead, int active) {
    const D d;
    const std::size_t n = hn::Lanes(d);
    Kept<V> sums[kSums];
    for (int i = 0; i < kSums; ++i) sums[i] = hn::Set(d, S::template zero<Real>());
    for (int index = 0; index < active; ++index) {
      const int o = active_[index];
      const V factor = hn::Load(d, factor_.get() + static_cast<std::size_t>(index) * n);
      const Real* source = ring.numbers(o) + t_.panel_index(panel, 0, kBlock);
      // Entry x of the table is duration 16 o - 14 + x: that of start q and boundary j is j - q + 15.
      const Real* table = t_.offset_panel(o + ahead, panel) + static_cast<std::size_t>(kFirst) * n;
      const int first = std::max(0, kBlock * (o + ahead) + 1 + kFirst - t_.duration) / kStarts * kStarts;
      for (int q = first; q < kBlock; q += kStarts) {
        Kept<V> g[kStarts];
        for (int i = 0; i < kStarts; ++i)
          g[i] = S::Times(hn::Load(d, source + static_cast<std::size_t>(q + i) * n), factor);
        const Real* e = table + static_cast<std::size_t>(kBlock - kStarts - q) * n;
        add_entries(std::make_integer_sequence<int, kSums + kStarts - 1>(), g, e, sums);
      }
    }
    Real* out = sums_.get() + t_.panel_index(panel, kFirst, kBlock);
    for (int i = 0; i < kSums; ++i) hn::Store(bare(sums[i]), d, out + static_cast<std::size_t>(i) * n);
  }
  template <int... kEntry, int kSums>
  static HWY_INLINE void add_entries(std::integer_sequence<int, kEntry...>, const Kept<V> (&starts)[kStarts],
                                     const Real* entries, Kept<V> (&sums)[kSums]) {
    const D d;
    (add_entry<kEntry>(starts, hn::Load(d, entries + static_cast<std::size_t>(kEntry) * hn::Lanes(d)), sums),
     ...);
  }
  template <int kEntry, int kSums>
  static HWY_INLINE void add_entry(const Kept<V> (&starts)[kStarts], V entry, Kept<V> (&sums)[kSums]) {
    if constexpr (kEntry >= 3 && kEntry - 3 < kSums)
      sums[kEntry - 3] = S::TimesPlus(bare(starts[0]), entry, bare(sums[kEntry - 3]));
    if constexpr (kEntry >= 2 && kEntry - 2 < kSums)
      sums[kEntry - 2] = S::TimesPlus(bare(starts[1]), entry, bare(sums[kEntry - 2]));
    if constexpr (kEntry >= 1 && kEntry - 1 < kSums)
      sums[kEntry - 1] = S::TimesPlus(bare(starts[2]), entry, bare(sums[kEntry - 1]));
    if constexpr (kEntry < kSums) sums[kEntry] = S::TimesPlus(bare(starts[3]), entry, bare(sums[kEntry]));
  }

  // How far below the least that a sum may be a block changes nothing: numbers of starts and of durations are
  // within a unit each of their scale and bound.
  static double unneeded_below(int offsets) {
    constexpr double kDigits = sizeof(Real) == sizeof(double) ? 55 : 26;
    return 2 * S::kUnit + (S::kIsLog ? std::log(kBlock * (1.0 + offsets)) + kDigits * kLog2 : 0.01);
  }

  const Tables& t_;
  std::size_t width_, lanes_;
  const double unneeded_below_;
  AlignedArray<Real> sums_;
  AlignedArray<Real> factor_, low_;  // factors of the active blocks
  AlignedArray<double> needed_;      // (lanes)
  std::vector<int> active_;
};

// The tail of a run over one block: all open segments longer than K, one number per label
// (docs/algorithm.md, "Durations beyond K"). Included once per instruction set.
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
