// Scores of one block as the recursion reads them: centred, in double, large numbers that all labels of a
// position share taken out. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_BLOCK_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_BLOCK_SCORES_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_BLOCK_SCORES_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_BLOCK_SCORES_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "cpu/score_view.h"
#include "cpu/simd/chain_tables-inl.h"
#include "engine/masks.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D, class Semiring>
class BlockScores {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using DD = hn::CappedTag<double, hn::MaxLanes(D())>;
  using VD = hn::Vec<DD>;

  explicit BlockScores(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        content_(kBlock * width_),
        first_(kBlock * width_),
        last_(kBlock * width_) {}

  // For readers to whom segmentations through masks matter, however bad they are: the N best.
  void keep_masks(bool keep) { keeps_masks_ = keep; }

  // (16, padded) in run direction, slots outside the sequence undefined.
  const double* content() const { return content_.get(); }  // centred emissions less the position shifts
  const double* first() const { return first_.get(); }      // scores of a segment's first and last position;
  const double* last() const { return last_.get(); }        // only when has_edges()
  bool has_edges() const { return has_edges_; }
  // (16) whole numbers taken out of the positions' emissions, or null: none; and their sum.
  const double* position_shift() const { return shifted_ ? position_shift_.data() : nullptr; }
  double mass() const { return mass_; }

  // The block [16 block, 16 block + 16) of run positions, slots first_slot..last_slot-1 of it.
  void load(const ScoreView& view, std::int64_t block, int first_slot, int last_slot) {
    const ScoreWindow& window = view.window();
    load_array(view, block, first_slot, last_slot, window.emissions, content_.get());
    if (window.subtract_position_max) {
      for (int slot = first_slot; slot < last_slot; ++slot)
        subtract_maximum(content_.get() + static_cast<std::size_t>(slot) * width_);
    }
    if (!window.baseline.empty()) {
      for (int slot = first_slot; slot < last_slot; ++slot) {
        double* row = content_.get() + static_cast<std::size_t>(slot) * width_;
        for (int c = 0; c < t_.labels; ++c) row[c] -= window.baseline[c];
      }
    }
    const double largest = shift_positions(first_slot, last_slot);
    if (t_.masks_forbid && !keeps_masks_ && !view.has_boundary_scores() && !(largest < kMaskDepth / 2))
        [[unlikely]]
      forbid_masks(first_slot, last_slot);
    const bool first_here = block * kBlock + first_slot == view.first();
    const bool last_here = block * kBlock + last_slot == view.last();
    has_edges_ = first_here || last_here || view.has_boundary_scores();
    if (!has_edges_) return;
    load_edge(view, block, first_slot, last_slot, view.first_array(), first_.get());
    load_edge(view, block, first_slot, last_slot, view.last_array(), last_.get());
    // A cut hides the window's own.
    const auto add = [&](double* row, const std::vector<double>& scores, bool hidden) {
      for (std::size_t c = 0; c < scores.size(); ++c) row[c] = (hidden ? 0.0 : row[c]) + scores[c];
    };
    if (first_here)
      add(first_.get() + static_cast<std::size_t>(first_slot) * width_, t_.first_scores, t_.cut_begin);
    if (last_here)
      add(last_.get() + static_cast<std::size_t>(last_slot - 1) * width_, t_.last_scores, t_.cut_end);
  }

 private:
  static HWY_INLINE VD as_doubles(const float* from) {
    const DD dd;
    const hn::Rebind<float, DD> df;
    return hn::PromoteTo(dd, hn::LoadU(df, from));
  }
  static HWY_INLINE VD as_doubles(const double* from) { return hn::LoadU(DD(), from); }
  template <class In>
  void load_rows(const ScoreView& view, std::int64_t block, int first_slot, int last_slot, const In* scores,
                 double* to) const {
    for (int slot = first_slot; slot < last_slot; ++slot) {
      const In* row = scores + view.row(block * kBlock + slot, t_.labels);
      double* out = to + static_cast<std::size_t>(slot) * width_;
      for_labels([&](std::size_t c) HWY_ATTR { hn::Store(as_doubles(row + c), DD(), out + c); },
                 [&](std::size_t c) { out[c] = static_cast<double>(row[c]); });
    }
    ask_for_rows(view, block + 1, scores);
  }
  // Asks for the rows of the block that the run comes to next. Inline, or GCC leaves out what has no result.
  template <class In>
  HWY_INLINE void ask_for_rows(const ScoreView& view, std::int64_t block, const In* scores) const {
    constexpr std::size_t kLine = 64 / sizeof(In);
    const ScoreWindow& window = view.window();
    const std::int64_t from =
        std::min(view.token_of(block * kBlock), view.token_of(block * kBlock + kBlock - 1));
    if (from < window.begin || from + kBlock > window.end) return;
    const auto labels = static_cast<std::size_t>(t_.labels);
    const In* const rows = scores + static_cast<std::size_t>(from - window.begin) * labels;
    for (std::size_t i = 0; i < kBlock * labels; i += kLine) hwy::Prefetch(rows + i);
  }
  void load_array(const ScoreView& view, std::int64_t block, int first_slot, int last_slot,
                  const ScoreArray& array, double* to) const {
    if (array.f32 != nullptr) {
      load_rows(view, block, first_slot, last_slot, array.f32, to);
    } else {
      load_rows(view, block, first_slot, last_slot, array.f64, to);
    }
  }
  // Scores that all labels of a position share change no comparison and no probability, but they wear digits
  // down: a whole number near the largest is taken out and kept in mass(). Returns the largest magnitude
  // there was.
  double shift_positions(int first_slot, int last_slot) {
    constexpr double kSmall = 4;
    const DD dd;
    VD largest = hn::Zero(dd);
    for (std::size_t i = static_cast<std::size_t>(first_slot) * width_;
         i < static_cast<std::size_t>(last_slot) * width_; i += hn::Lanes(dd)) {
      largest = hn::Max(largest, hn::Abs(hn::Load(dd, content_.get() + i)));
    }
    const double largest_magnitude = hn::GetLane(hn::MaxOfLanes(dd, largest));
    shifted_ = !(largest_magnitude <= kSmall);
    mass_ = 0;
    if (!shifted_) return largest_magnitude;
    for (int slot = first_slot; slot < last_slot; ++slot) {
      double* row = content_.get() + static_cast<std::size_t>(slot) * width_;
      const double most = largest_of(row);
      const bool large = most != kNegativeInfinity && std::fabs(most) > kSmall;
      const double shift = large ? std::floor(most) : 0.0;
      position_shift_[slot] = shift;
      mass_ += shift;
      if (!large) continue;
      for_labels([&](std::size_t c)
                     HWY_ATTR { hn::Store(hn::Sub(hn::Load(dd, row + c), hn::Set(dd, shift)), dd, row + c); },
                 [&](std::size_t c) { row[c] -= shift; });
    }
    return largest_magnitude;
  }
  HWY_NOINLINE void forbid_masks(int first_slot, int last_slot) {
    for (int slot = first_slot; slot < last_slot; ++slot) {
      double* row = content_.get() + static_cast<std::size_t>(slot) * width_;
      const double least = largest_of(row) - kMaskDepth;
      for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c)
        if (row[c] < least) row[c] = kNegativeInfinity;
    }
  }
  double largest_of(const double* row) const {
    const DD dd;
    Kept<VD> most = hn::Set(dd, kNegativeInfinity);
    double largest = kNegativeInfinity;
    for_labels([&](std::size_t c) HWY_ATTR { most = hn::Max(bare(most), hn::Load(dd, row + c)); },
               [&](std::size_t c) { largest = std::max(largest, row[c]); });
    return std::max(largest, hn::GetLane(hn::MaxOfLanes(dd, bare(most))));
  }
  // Calls vector(c) for whole vectors of labels, one(c) for those that are left.
  template <class Vector, class One>
  HWY_INLINE void for_labels(Vector vector, One one) const {
    const auto labels = static_cast<std::size_t>(t_.labels), lanes = hn::Lanes(DD());
    std::size_t c = 0;
    for (; c + lanes <= labels; c += lanes) vector(c);
    for (; c < labels; ++c) one(c);
  }
  void load_edge(const ScoreView& view, std::int64_t block, int first_slot, int last_slot,
                 const ScoreArray& array, double* to) const {
    if (array.empty()) {
      std::fill_n(to, kBlock * width_, 0.0);
    } else {
      load_array(view, block, first_slot, last_slot, array, to);
    }
  }
  void subtract_maximum(double* row) const {
    double largest = row[0];
    for (int c = 1; c < t_.labels; ++c) largest = std::max(largest, row[c]);
    if (largest == kNegativeInfinity) return;
    for (int c = 0; c < t_.labels; ++c) row[c] -= largest;
  }

  const Tables& t_;
  std::size_t width_;
  AlignedArray<double> content_, first_, last_;
  bool has_edges_ = false;
  bool keeps_masks_ = false;
  bool shifted_ = false;
  std::array<double, kBlock> position_shift_{};
  double mass_ = 0;
};

// Scaling: the factors that a block's scores give its messages: exp of content sums with end scores, and of
// start scores less content sums, as numbers times whole units. Included once per instruction set.
template <class Real, class D, class Semiring>
class ContentFactors : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using Scores = BlockScores<Real, D, Semiring>;
  using typename Vectors::DD;
  using typename Vectors::I;
  using typename Vectors::S;
  using typename Vectors::V;
  using typename Vectors::VD;
  using typename Vectors::Whole;

  explicit ContentFactors(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        alpha_(kBlock * width_),
        start_(kBlock * width_),
        alpha_whole_(kBlock * width_),
        start_whole_(kBlock * width_),
        sum_(width_),
        cut_(kBlock * width_) {}

  // Panels (panels, 16, lanes). alpha: exp(S[t] + end score) at the right boundary of each slot; start:
  // exp(start score - S[s]) at its left boundary; S from the block's first boundary, over the positions that
  // are not forbidden.
  const Real* alpha() const { return alpha_.get(); }
  const Real* start() const { return start_.get(); }
  const Whole* alpha_whole() const { return alpha_whole_.get(); }
  const Whole* start_whole() const { return start_whole_.get(); }
  const double* sum() const { return sum_.get(); }  // (padded) S at the block's last boundary
  // Forbidden positions (-inf) cut every segment of their label.
  bool has_cuts() const { return has_cuts_; }
  bool has_cuts(int slot) const { return has_cuts_ && cut_slots_[slot]; }
  // The first slot at which the label is cut, 16: none.
  int first_cut(std::size_t c) const {
    for (int slot = 0; has_cuts_ && slot < kBlock; ++slot) {
      if (cut(slot, c)) return slot;
    }
    return kBlock;
  }
  bool cut(int slot, std::size_t c) const { return cut_[static_cast<std::size_t>(slot) * width_ + c] != 0; }

  // False where a finite score is out of range.
  bool make(const Scores& scores) {
    has_cuts_ = false;
    cut_slots_.fill(false);
    const bool edges = scores.has_edges();
    for (std::size_t c = 0; c < width_; c += hn::Lanes(DD())) {
      if (!(edges ? make_part<true>(scores, c) : make_part<false>(scores, c))) return false;
    }
    finish(edges);
    return true;
  }

 private:
  static constexpr double kMostScore = 1 << 17;  // largest score of one position and label

  template <bool kEdges>
  HWY_INLINE bool make_part(const Scores& scores, std::size_t c) {
    const DD dd;
    const VD low = hn::Set(dd, -kMostScore), high = hn::Set(dd, kMostScore);
    const auto lanes = static_cast<std::size_t>(t_.lanes);
    const std::size_t at = t_.panel_index(static_cast<int>(c / lanes), 0, kBlock) + c % lanes;
    VD sum = hn::Zero(dd);
    VD least = sum, most = sum, least_edge = sum;
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      const std::size_t i = at + slot * lanes;
      if constexpr (kEdges) {
        const VD first = hn::Load(dd, scores.first() + slot * width_ + c);
        this->split_units(hn::Sub(first, sum), start_.get() + i, start_whole_.get() + i);
        least_edge = hn::Min(least_edge, without_forbidden(first));
        most = hn::Max(most, first);
      }
      VD content = hn::Load(dd, scores.content() + slot * width_ + c);
      if (HWY_UNLIKELY(!hn::AllTrue(dd, hn::Ge(content, low)))) content = take_cuts(content, slot, c);
      least = hn::Min(least, content);
      most = hn::Max(most, content);
      sum = hn::Add(sum, content);
      VD alpha = sum;
      if constexpr (kEdges) {
        const VD last = hn::Load(dd, scores.last() + slot * width_ + c);
        alpha = hn::Add(alpha, last);
        least_edge = hn::Min(least_edge, without_forbidden(last));
        most = hn::Max(most, last);
      }
      this->split_units(alpha, alpha_.get() + i, alpha_whole_.get() + i);
    }
    hn::Store(sum, dd, sum_.get() + c);
    return hn::AllTrue(dd, hn::And(hn::Ge(hn::Min(least, least_edge), low), hn::Le(most, high)));
  }
  static VD without_forbidden(VD x) {
    const DD dd;
    return hn::IfThenZeroElse(hn::Eq(x, hn::Set(dd, kNegativeInfinity)), x);
  }
  // Marks the forbidden ones of the scores, and returns the others.
  HWY_NOINLINE VD take_cuts(VD content, std::size_t slot, std::size_t c) {
    const DD dd;
    HWY_ALIGN double values[hn::MaxLanes(DD())];
    hn::Store(content, dd, values);
    for (std::size_t l = 0; l < hn::Lanes(dd); ++l) {
      if (values[l] != kNegativeInfinity) continue;
      if (!has_cuts_) std::fill_n(cut_.get(), cut_.size(), static_cast<unsigned char>(0));
      has_cuts_ = true;
      cut_slots_[slot] = true;
      cut_[slot * width_ + c + l] = 1;
    }
    return without_forbidden(content);
  }

  void finish(bool edges) {
    const D d;
    const typename Vectors::DI di;
    const auto lanes = static_cast<std::size_t>(t_.lanes);
    for (std::size_t i = 0; i < kBlock * width_; i += lanes) {
      const V alpha = Vectors::from_rest(hn::Load(d, alpha_.get() + i));
      hn::Store(alpha, d, alpha_.get() + i);
      if (edges) hn::Store(Vectors::from_rest(hn::Load(d, start_.get() + i)), d, start_.get() + i);
    }
    if (edges) return;
    // Without start and end scores a start's factor is the inverse of the alpha factor before it.
    for (std::size_t panel = 0; panel < kBlock * width_; panel += kBlock * lanes) {
      hn::Store(hn::Set(d, S::template one<Real>()), d, start_.get() + panel);
      hn::Store(hn::Zero(di), di, start_whole_.get() + panel);
      for (std::size_t i = panel; i + lanes < panel + kBlock * lanes; i += lanes) {
        const V alpha = hn::Load(d, alpha_.get() + i);
        hn::Store(inverse(alpha), d, start_.get() + i + lanes);
        hn::Store(hn::Neg(hn::Load(di, alpha_whole_.get() + i)), di, start_whole_.get() + i + lanes);
      }
    }
  }
  static HWY_INLINE V inverse(V x) {
    if constexpr (S::kIsLog) {
      return hn::Div(hn::Set(D(), Real(1)), x);
    } else {
      return hn::Neg(x);
    }
  }

  const Tables& t_;
  std::size_t width_;
  AlignedArray<Real> alpha_, start_;
  AlignedArray<Whole> alpha_whole_, start_whole_;
  AlignedArray<double> sum_;
  AlignedArray<unsigned char> cut_;  // (16, padded) where has_cuts
  std::array<bool, kBlock> cut_slots_{};
  bool has_cuts_ = false;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
