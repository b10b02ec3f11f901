// Scaling: the factors that a block's scores give its messages: exp of content sums with end scores, and of
// start scores less content sums, as numbers times whole units. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_CONTENT_FACTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_CONTENT_FACTORS_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_CONTENT_FACTORS_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_CONTENT_FACTORS_INL_H_
#endif

#include <algorithm>
#include <array>

#include "cpu/simd/block/block_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

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
