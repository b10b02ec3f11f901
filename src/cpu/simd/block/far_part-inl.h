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

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
