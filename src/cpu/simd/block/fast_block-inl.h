// One block of the recursion in numbers of the semiring times whole units: every boundary has its own units
// for alpha, every start its own for gamma, every label its own for the sums over durations, so that no size
// of score throws them out of range. A sum that its certificate refuses is done again alone.
// docs/algorithm.md, "Blocks" and "The certificate". Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_FAST_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_FAST_BLOCK_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_FAST_BLOCK_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_FAST_BLOCK_INL_H_
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
class FastBlock : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using Factors = ContentFactors<Real, D, Semiring>;
  using RunRing = Ring<Real, D, Semiring>;
  using Far = FarPart<Real, D, Semiring>;
  using Messages = BlockMessages<Real, typename Vectors::Whole>;
  using typename Vectors::DD;
  using typename Vectors::DI;
  using typename Vectors::I;
  using typename Vectors::S;
  using typename Vectors::V;
  using typename Vectors::VD;
  using typename Vectors::Whole;

  // What a block is computed from. All scales are whole units away from `scale`.
  struct Inputs {
    const RunRing& ring;
    const Factors& factors;
    const Far& far;
    const double* bound;       // (padded) what the far part is relative to
    const double* ring_bound;  // (padded) -inf where it is empty
    double scale;
  };

  explicit FastBlock(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        sums_(kBlock * width_),
        reference_(width_),
        starts_(kBlock * width_),
        starts_whole_(kBlock * width_),
        alpha_((kBlock + 1) * width_),
        alpha_whole_((kBlock + 1) * width_),
        first_alpha_(width_),
        tail_(tables),
        cut_(width_),
        again_(kBlock * width_),
        again_whole_(kBlock * width_),
        again_log_(width_),
        far_numbers_((static_cast<std::size_t>(tables.offsets) + 1) * width_),
        far_whole_(far_numbers_.size()),
        far_most_(far_numbers_.size()),
        far_tops_(far_numbers_.size()) {}

  // Carried alpha (padded) as numbers and their scales, tail logarithms (padded). False where whole units do
  // not reach: the block must be done exactly.
  bool run(const Inputs& in, const Real* carry, const double* carry_scale, const double* tail_log,
           Messages& out) {
    if (!t_.fits || !prepare(in, carry, carry_scale)) return false;
    if (t_.tail && !tail_.prepare(in.ring, tail_log, in.scale)) return false;
    in_ = &in;
    out_ = &out;
    in_range_ = true;
    restarted_ = false;
    far_units_ = FarUnits::kUnknown;
    std::fill_n(cut_.get(), width_, Whole(0));
    switch (t_.panels) {
      case 1:
        recursion<1>();
        break;
      case 2:
        recursion<2>();
        break;
      case 3:
        recursion<3>();
        break;
      case 4:
        recursion<4>();
        break;
      default:
        recursion<0>();
        break;
    }
    return in_range_;
  }

  // --- of the block that was run ---

  // Gamma of its 16 starts in panels, as numbers times units relative to the scale.
  const Real* starts() const { return starts_.get(); }
  const Whole* starts_whole() const { return starts_whole_.get(); }
  // (16, padded) alpha at the right boundaries of its slots, with the source bounds; and of the last one.
  const Real* alpha() const { return alpha_.get() + width_; }
  const Whole* alpha_whole() const { return alpha_whole_.get() + width_; }
  const Real* last_alpha() const { return alpha_.get() + kBlock * width_; }
  const Whole* last_alpha_whole() const { return alpha_whole_.get() + kBlock * width_; }
  const TailRun<Real, D, Semiring>& tail() const { return tail_; }
  bool cut(std::size_t c) const { return cut_[c] != 0; }
  // Its messages lose what only logarithms hold.
  bool needs_logs() const { return restarted_ || in_->factors.has_cuts(); }
  // Its numbers lose nothing but what lies over forbidden positions.
  bool has_only_cuts() const { return !restarted_ && in_->factors.has_cuts(); }

  // The messages as logarithms. `first`: (16, padded) start scores, null: none. content: (16, padded).
  void write_logs(const double* first, const double* content, double* started_log);

 private:
  // Where the recursion reads and writes: arrays of this object, its tables and messages.
  struct Rows {
    std::size_t width;
    int labels, duration;
    bool tail;
    const Real *transition, *near_table, *least_start, *least_total;
    const Whole *transition_whole, *near_whole, *source_whole;
    const Real *start_factor, *alpha_factor;
    const Whole *start_factor_whole, *alpha_factor_whole;
    Real* sums;
    Whole* reference;
    Real* starts;
    Whole* starts_whole;
    Real* alpha;
    Whole* alpha_whole;
    Real *start_out, *alpha_out;
  };

  bool prepare(const Inputs& in, const Real* carry, const double* carry_scale);
  Rows rows();
  template <int kPanels>
  static HWY_INLINE void start_messages(const Rows& r, const Real* alpha, std::size_t c0,
                                        Kept<V> (&sums)[kPanels]);
  template <int kFixed>
  void recursion();
  HWY_INLINE I advance_panel(const Rows& r, int panel, int slot, I units, V start);
  // Makes alpha of a sum over durations that is relative to `reference`; returns its units.
  static HWY_INLINE I end_segments(const Rows& r, std::size_t c0, std::size_t at, I reference, V& sum) {
    const DI di;
    sum = S::Times(sum, hn::Load(D(), r.alpha_factor + at));
    const I units = Vectors::take_units(sum);
    return hn::Add(hn::Add(units, reference),
                   hn::Add(hn::Load(di, r.source_whole + c0), hn::Load(di, r.alpha_factor_whole + at)));
  }
  HWY_INLINE V push_start(const Rows& r, int panel, int slot, V gamma, I whole);
  HWY_NOINLINE void apply_cuts(int panel, int slot);

  // --- sums that were refused: refused_sums-inl.h ---

  HWY_NOINLINE void redo_starts(int panel, int slot);
  template <class Mask>
  static void replace(Mask wanted, Mask dead, V number, I whole, Real* numbers, Whole* wholes);
  template <class Mask>
  void redo_starts_alone(int panel, int slot, Mask wanted);
  template <class Mask, class Visit>
  void for_lanes(Mask mask, Visit visit) const;
  HWY_NOINLINE void redo_sums(int panel, int slot, V total);
  bool has_terms(int panel, int slot, V total);
  bool find_far_units();
  template <class Visit, class Visited>
  HWY_INLINE void for_each_term(int panel, int slot, const Kept<I>& top, const Whole* most, Visit visit,
                                Visited visited) const;
  void redo_panel(int panel, int slot, V total);
  void redo_sum(int slot, std::size_t c);
  double exact_start(int slot, std::size_t c) const;
  double exact_sum(int slot, std::size_t c) const;

  const Tables& t_;
  std::size_t width_, lanes_;
  const Inputs* in_ = nullptr;
  Messages* out_ = nullptr;
  bool in_range_ = true;
  Whole alpha_units_ = 0;          // units of the largest alpha at the first boundary
  AlignedArray<Real> sums_;        // (panels, 16, lanes) over durations, relative to
  AlignedArray<Whole> reference_;  // (padded) these units
  AlignedArray<Real> starts_;      // (panels, 16, lanes)
  AlignedArray<Whole> starts_whole_;
  AlignedArray<Real> alpha_;         // (17, padded) at the block's boundaries, numbers near 1
  AlignedArray<Whole> alpha_whole_;  // times these units, source bounds included
  AlignedArray<Real> first_alpha_;   // (padded) at the first, relative to its largest
  TailRun<Real, D, Semiring> tail_;
  AlignedArray<Whole> cut_;  // (padded) kDead where a forbidden position lies in the block, else 0
  bool restarted_ = false;   // sums over sources were done again: (16, padded), relative to the scale
  AlignedArray<Real> again_;
  AlignedArray<Whole> again_whole_;
  AlignedArray<double> again_log_;  // (padded) of one boundary
  // Scales of the ring's blocks relative to the scale of this one, (offsets + 1, padded), and an upper bound
  // of what they add to sums; of a block in which a sum was refused. And what one sum shows that they add.
  enum class FarUnits { kUnknown, kFound, kOutOfRange };
  FarUnits far_units_ = FarUnits::kUnknown;
  AlignedArray<Real> far_numbers_;
  AlignedArray<Whole> far_whole_, far_most_, far_tops_;
};

// Alpha and sums at the block's first boundary in units relative to the scale. False where they are out of
// range.
template <class Real, class D, class Semiring>
inline bool FastBlock<Real, D, Semiring>::prepare(const Inputs& in, const Real* carry,
                                                  const double* carry_scale) {
  const D d;
  const DI di;
  const DD dd;
  const VD most_units = hn::Set(dd, kMostUnits);
  const VD by_unit = hn::Set(dd, 1 / S::kUnit);
  const VD none = hn::Set(dd, kNegativeInfinity);
  bool in_range = true;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const VD bound = hn::Sub(hn::Load(dd, in.bound + c), hn::Set(dd, in.scale));
    const VD carried = hn::Sub(hn::Load(dd, carry_scale + c), hn::Set(dd, in.scale));
    const VD bound_units = hn::Round(hn::Mul(bound, by_unit));
    const VD carry_units = hn::Round(hn::Mul(carried, by_unit));
    const auto empty = hn::Eq(hn::Load(dd, in.ring_bound + c), none);
    const auto near = hn::And(hn::Or(empty, hn::Le(hn::Abs(bound_units), most_units)),
                              hn::Or(hn::Eq(carried, none), hn::Le(hn::Abs(carry_units), most_units)));
    in_range = in_range && hn::AllTrue(dd, near);
    this->store_whole(hn::IfThenElse(empty, hn::Set(dd, static_cast<double>(kLeastWhole)), bound_units),
                      reference_.get() + c);
    const VD source = this->load_whole(t_.transitions.out_whole.get() + c);
    this->store_whole(hn::Add(carry_units, source), alpha_whole_.get() + c);
  }
  if (!in_range) return false;
  I most = hn::Set(di, Whole(kDead));
  for (std::size_t c = 0; c < width_; c += lanes_) most = hn::Max(most, hn::Load(di, alpha_whole_.get() + c));
  const Whole units = std::max<Whole>(hn::GetLane(hn::MaxOfLanes(di, most)), kLeastWhole);
  for (std::size_t c = 0; c < width_; c += lanes_) {
    const V number = hn::Load(d, carry + c);
    hn::Store(number, d, alpha_.get() + c);
    const I below = hn::Sub(hn::Load(di, alpha_whole_.get() + c), hn::Set(di, units));
    hn::Store(Vectors::moved(number, below), d, first_alpha_.get() + c);
  }
  std::copy_n(in.far.sums(), sums_.size(), sums_.get());
  alpha_units_ = units;
  return true;
}

// Products alpha x transition for up to four panels at a time, in four chains that do not wait for each
// other.
template <class Real, class D, class Semiring>
template <int kPanels>
inline void FastBlock<Real, D, Semiring>::start_messages(const Rows& r, const Real* alpha, std::size_t c0,
                                                         Kept<V> (&sums)[kPanels]) {
  const D d;
  const V zero = hn::Set(d, S::template zero<Real>());
  Kept<V> a[kPanels], b[kPanels], e[kPanels], f[kPanels];
  for (int p = 0; p < kPanels; ++p) a[p] = b[p] = e[p] = f[p] = zero;
  const Real* row = r.transition + c0;
  const auto add = [&](Kept<V>(&chain)[kPanels], Real from, const Real* to) HWY_ATTR {
    const V number = hn::Set(d, from);
    for (int p = 0; p < kPanels; ++p)
      chain[p] =
          S::TimesPlus(number, hn::Load(d, to + static_cast<std::size_t>(p) * hn::Lanes(d)), bare(chain[p]));
  };
  int from = 0;
  for (; from + 4 <= r.labels; from += 4, row += 4 * r.width) {
    add(a, alpha[from], row);
    add(b, alpha[from + 1], row + r.width);
    add(e, alpha[from + 2], row + 2 * r.width);
    add(f, alpha[from + 3], row + 3 * r.width);
  }
  for (; from < r.labels; ++from, row += r.width) add(a, alpha[from], row);
  for (int p = 0; p < kPanels; ++p)
    sums[p] = S::Plus(S::Plus(bare(a[p]), bare(b[p])), S::Plus(bare(e[p]), bare(f[p])));
}

template <class Real, class D, class Semiring>
inline auto FastBlock<Real, D, Semiring>::rows() -> Rows {
  const Factors& factors = in_->factors;
  return {width_,
          t_.labels,
          t_.duration,
          t_.tail,
          t_.transitions.numbers.get(),
          t_.near.table.get(),
          t_.least.start_numbers.get(),
          t_.least.total_numbers.get(),
          t_.transitions.into_whole.get(),
          t_.near.whole.get(),
          t_.transitions.out_whole.get(),
          factors.start(),
          factors.alpha(),
          factors.start_whole(),
          factors.alpha_whole(),
          sums_.get(),
          reference_.get(),
          starts_.get(),
          starts_whole_.get(),
          alpha_.get() + width_,
          alpha_whole_.get() + width_,
          out_->start,
          out_->alpha};
}

// The 16 boundaries of the block in turn. kFixed panels at once, or groups of one when kFixed is 0.
template <class Real, class D, class Semiring>
template <int kFixed>
inline void FastBlock<Real, D, Semiring>::recursion() {
  const D d;
  const DI di;
  constexpr int kGroup = std::max(kFixed, 1);
  const Rows r = rows();
  const int panels = kFixed == 0 ? t_.panels : kFixed;
  const Real* alpha = first_alpha_.get();
  Whole units = alpha_units_;
  out_->units[0] = units;
  for (int slot = 0; slot < kBlock; ++slot) {
    I most = hn::Set(di, Whole(kDead));
    for (int group = 0; group < panels; group += kGroup) {
      Kept<V> sums[kGroup];
      start_messages<kGroup>(r, alpha, static_cast<std::size_t>(group) * hn::Lanes(d), sums);
      for (int p = 0; p < kGroup; ++p)
        most = hn::Max(most, advance_panel(r, group + p, slot, hn::Set(di, units), sums[p]));
    }
    units = std::max<Whole>(hn::GetLane(hn::MaxOfLanes(di, most)), kLeastWhole);
    out_->units[static_cast<std::size_t>(slot) + 1] = units;
    const std::size_t row = static_cast<std::size_t>(slot) * r.width;
    for (std::size_t c = 0; c < r.width; c += hn::Lanes(d)) {
      const I below = hn::Sub(hn::Load(di, r.alpha_whole + row + c), hn::Set(di, units));
      hn::Store(Vectors::moved(hn::Load(d, r.alpha + row + c), below), d, r.alpha_out + row + c);
    }
    alpha = r.alpha_out + row;
  }
}

// From the start messages of a slot, relative to `units` and the transitions' bound, to alpha at the slot's
// right boundary. Returns the latter's units.
template <class Real, class D, class Semiring>
inline auto FastBlock<Real, D, Semiring>::advance_panel(const Rows& r, int panel, int slot, I units, V start)
    -> I {
  const D d;
  const DI di;
  const std::size_t c0 = static_cast<std::size_t>(panel) * hn::Lanes(d);
  const std::size_t at = (c0 * kBlock) + static_cast<std::size_t>(slot) * hn::Lanes(d);
  const std::size_t row = static_cast<std::size_t>(slot) * r.width + c0;
  hn::Store(start, d, r.start_out + row);

  V gamma = S::Times(start, hn::Load(d, r.start_factor + at));
  I whole = Vectors::take_units(gamma);
  whole = hn::Add(hn::Add(whole, units),
                  hn::Add(hn::Load(di, r.transition_whole + c0), hn::Load(di, r.start_factor_whole + at)));
  hn::Store(gamma, d, r.starts + at);
  hn::Store(whole, di, r.starts_whole + at);
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Lt(start, hn::Load(d, r.least_start + c0))))) {
    redo_starts(panel, slot);
    gamma = hn::Load(d, r.starts + at);
    whole = hn::Load(di, r.starts_whole + at);
  }

  V total = push_start(r, panel, slot, gamma, whole);
  if (HWY_UNLIKELY(in_->factors.has_cuts(slot))) {
    apply_cuts(panel, slot);
    total = hn::Load(d, r.sums + at);
  }
  const I reference = hn::Load(di, r.reference + c0);
  if (r.tail) total = S::Plus(total, tail_.share(panel, reference));

  V alpha = total;
  I alpha_units = end_segments(r, c0, at, reference, alpha);
  hn::Store(alpha, d, r.alpha + row);
  hn::Store(alpha_units, di, r.alpha_whole + row);
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Lt(total, hn::Load(d, r.least_total + c0))))) {
    redo_sums(panel, slot, total);
    alpha_units = hn::Load(di, r.alpha_whole + row);
  }
  return alpha_units;
}

// Adds a start to the sums at the boundaries right of it. They and the start get one reference before, which
// only rises. Returns the sum at the slot's right boundary.
template <class Real, class D, class Semiring>
inline auto FastBlock<Real, D, Semiring>::push_start(const Rows& r, int panel, int slot, V gamma, I whole)
    -> V {
  const D d;
  const DI di;
  const std::size_t n = hn::Lanes(d);
  const std::size_t c0 = static_cast<std::size_t>(panel) * n;
  const I needed = hn::Add(whole, hn::Load(di, r.near_whole + c0));
  const I before = hn::Load(di, r.reference + c0);
  I reference = hn::Max(before, needed);
  if (r.tail) reference = hn::Max(reference, tail_.advance(panel, slot, r.starts, r.starts_whole, *out_));
  hn::Store(reference, di, r.reference + c0);
  const V factor = Vectors::factor_of(hn::Sub(before, reference));
  const V start = Vectors::moved(gamma, hn::Sub(needed, reference));
  Real* sum = r.sums + c0 * kBlock + static_cast<std::size_t>(slot) * n;
  const Real* table = r.near_table + c0 * kBlock;
  const Real* const end = table + static_cast<std::size_t>(std::min(kBlock - slot, r.duration)) * n;
  const V total = S::TimesPlus(start, hn::Load(d, table), S::Times(hn::Load(d, sum), factor));
  hn::Store(total, d, sum);
  for (table += n, sum += n; table != end; table += n, sum += n)
    hn::Store(S::TimesPlus(start, hn::Load(d, table), S::Times(hn::Load(d, sum), factor)), d, sum);
  return total;
}

// A forbidden position in the slot: no segment of the label that began before goes on.
template <class Real, class D, class Semiring>
void FastBlock<Real, D, Semiring>::apply_cuts(int panel, int slot) {
  const auto c0 = static_cast<std::size_t>(panel) * lanes_;
  for (std::size_t l = 0; l < lanes_; ++l) {
    if (!in_->factors.cut(slot, c0 + l)) continue;
    cut_[c0 + l] = kDead;
    reference_[c0 + l] = kLeastWhole;
    tail_.cut(c0 + l);
    if (t_.tail) out_->tail_whole[static_cast<std::size_t>(slot) * width_ + c0 + l] = kDead;
    const std::size_t at = t_.panel_index(panel, 0, kBlock) + l;
    for (int q = 0; q < kBlock; ++q) {
      const std::size_t i = at + static_cast<std::size_t>(q) * lanes_;
      if (q >= slot) sums_[i] = S::template zero<Real>();
      if (q <= slot) starts_whole_[i] = kDead;
    }
  }
}

template <class Real, class D, class Semiring>
inline void FastBlock<Real, D, Semiring>::write_logs(const double* first, const double* content,
                                                     double* started_log) {
  const DD dd;
  const double scale = in_->scale;
  for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
    const VD source = hn::MulAdd(this->load_whole(t_.transitions.out_whole.get() + c), hn::Set(dd, -S::kUnit),
                                 hn::Set(dd, scale));
    VD content_before = hn::Zero(dd);
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      const std::size_t at = slot * width_ + c;
      hn::Store(
          hn::Add(Vectors::log_of(alpha_.get() + at + width_, alpha_whole_.get() + at + width_), source), dd,
          out_->alpha_log + at);
      if (!t_.tail) continue;
      content_before = hn::Add(content_before, Vectors::finite_or_zero(hn::Load(dd, content + at)));
      const VD tail = Vectors::log_of(out_->tail + at, out_->tail_whole + at);
      hn::Store(hn::Add(hn::Add(tail, content_before), hn::Set(dd, scale)), dd, out_->tail_log + at);
    }
  }
  for (std::size_t slot = 0; slot < kBlock; ++slot) {
    const Real* start = out_->start + slot * width_;
    double* to = out_->start_log + slot * width_;
    Vectors::log_row(start, width_, out_->units[slot], t_.transitions.into_whole.get(), 1, scale, to);
    double* const again = again_log_.get();
    for (std::size_t c = 0; restarted_ && c < width_; c += hn::Lanes(dd)) {
      const std::size_t at = slot * width_ + c;
      const VD log = Vectors::log_of(again_.get() + at, again_whole_.get() + at);
      hn::Store(hn::Add(log, hn::Set(dd, scale)), dd, again + c);
    }
    for (std::size_t c = 0; c < width_; ++c) {
      const bool refused = start[c] < t_.least.start_numbers[c] || t_.transitions.into_whole[c] < kLeastWhole;
      if (refused) to[c] = restarted_ ? again[c] : kNegativeInfinity;
    }
  }
  if (first == nullptr) {
    std::copy_n(out_->start_log, kBlock * width_, started_log);
    return;
  }
  for (std::size_t i = 0; i < kBlock * width_; ++i) started_log[i] = out_->start_log[i] + first[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
