// The ring buffer with gamma of the last K positions of a run, block by block, and what is asked of it.
// Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_RING_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "cpu/simd/chain_tables-inl.h"
#include "engine/boundary_state.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// A block of the ring has one scale per label, in the gauge of the boundary the run has reached: the content
// up to there counts. Its starts are kept twice: as numbers relative to that scale, of which those far below
// the block's largest are 0, for the far part; and as numbers times whole units, from which nothing is lost.
// Blocks that came as logarithms keep these besides: masks are out of the whole units' range.
template <class Real, class D, class Semiring>
class Ring : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using typename Vectors::DD;
  using typename Vectors::DI;
  using typename Vectors::I;
  using typename Vectors::S;
  using typename Vectors::V;
  using typename Vectors::VD;
  using typename Vectors::Whole;

  explicit Ring(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        rows_(kBlock * width_),
        blocks_(static_cast<std::size_t>(tables.ring_blocks)),
        numbers_(blocks_ * rows_),
        starts_(blocks_ * rows_),
        whole_(blocks_ * rows_),
        scale_(blocks_ * width_),
        logs_(blocks_ * rows_),
        has_logs_(blocks_) {
    clear();
  }

  void clear() {
    std::fill_n(numbers_.get(), numbers_.size(), S::template zero<Real>());
    std::fill_n(starts_.get(), starts_.size(), S::template one<Real>());
    std::fill_n(whole_.get(), whole_.size(), Whole(kDead));
    std::fill_n(scale_.get(), scale_.size(), kNegativeInfinity);
    std::fill(has_logs_.begin(), has_logs_.end(), false);
    head_ = 0;
  }

  // Blocks by distance: 1 is the block just left of the boundary, 0 the one the next step fills.
  const Real* numbers(int distance) const { return numbers_.get() + at(distance) * rows_; }
  const Real* starts(int distance) const { return starts_.get() + at(distance) * rows_; }
  const Whole* whole(int distance) const { return whole_.get() + at(distance) * rows_; }
  const double* scale(int distance) const { return scale_.get() + at(distance) * width_; }
  // The block came as logarithms, which its whole units need not reach.
  bool has_logs(int distance) const { return has_logs_[at(distance)] != 0; }

  // Whether whole units reach all starts of a block.
  bool has_units(int distance) const {
    if (!has_logs(distance)) return true;
    const double* logs = logs_.get() + at(distance) * rows_;
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
        if (whole(distance)[place(slot, c)] < kLeastWhole && logs[slot * width_ + c] != kNegativeInfinity)
          return false;
      }
    }
    return true;
  }

  // log of gamma at d positions before the boundary, (padded).
  void load_logs(int d, double* out) const {
    const int distance = (d + kBlock - 1) / kBlock;
    const auto slot = static_cast<std::size_t>(kBlock * distance - d);
    for (std::size_t c = 0; c < width_; c += hn::Lanes(DD()))
      hn::Store(log_vector(distance, slot, c), DD(), out + c);
  }
  // Logarithms of a slot of a block, for the labels from c on.
  HWY_INLINE VD log_vector(int distance, std::size_t slot, std::size_t c) const {
    const DD dd;
    const VD scale = hn::Load(dd, this->scale(distance) + c);
    if (has_logs(distance))
      return hn::Add(scale, hn::Load(dd, logs_.get() + at(distance) * rows_ + slot * width_ + c));
    const std::size_t i = place(slot, c);
    return hn::Add(scale, Vectors::log_of(starts(distance) + i, whole(distance) + i));
  }
  // The logarithm of one label's entry.
  double log_value(int distance, std::size_t slot, std::size_t c) const {
    const double scale = this->scale(distance)[c];
    if (has_logs(distance)) return scale + logs_[at(distance) * rows_ + slot * width_ + c];
    const std::size_t i = place(slot, c);
    return scale + Vectors::log_value(starts(distance)[i], whole(distance)[i]);
  }
  // An upper bound of it, less than one unit away.
  double log_bound(int distance, std::size_t slot, std::size_t c) const {
    if (has_logs(distance)) return log_value(distance, slot, c);
    const Whole whole = this->whole(distance)[place(slot, c)];
    if (whole < kLeastWhole) return kNegativeInfinity;
    return scale(distance)[c] + (static_cast<double>(whole) + 1) * S::kUnit;
  }

  // Largest of scale + bound of the durations over the distances, and `gauge` (null: 0), (padded): nothing
  // that the far part sums up is larger.
  void bound(int ahead, const double* gauge, double* out) const {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      VD largest = hn::Set(dd, kNegativeInfinity);
      for (int o = 1; o + ahead <= t_.offsets; ++o) {
        const VD bias =
            hn::Load(dd, t_.offset_bound.get() + static_cast<std::size_t>(o + ahead) * width_ + c);
        largest = hn::Max(largest, hn::Add(hn::Load(dd, scale(o) + c), bias));
      }
      if (gauge != nullptr) largest = hn::Add(largest, hn::Load(dd, gauge + c));
      hn::Store(largest, dd, out + c);
    }
  }

  // The largest scale of all blocks and labels when the gauge has moved by `content` (padded).
  double largest_scale(const double* content) const {
    const DD dd;
    VD most = hn::Set(dd, kNegativeInfinity);
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const double* scale = scale_.get() + c;
      VD of_label = hn::Load(dd, scale);
      for (std::size_t b = 1; b < blocks_; ++b)
        of_label = hn::Max(of_label, hn::Load(dd, scale + b * width_));
      most = hn::Max(most, hn::Add(of_label, hn::Load(dd, content + c)));
    }
    return hn::GetLane(hn::MaxOfLanes(dd, most));
  }

  // --- the block the run stands at: its starts come in, then the ring moves on ---

  // Every start of every block 1 in the gauge of the boundary reached.
  void fill_with_ones() {
    for (std::size_t b = 0; b < blocks_; ++b) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
        scale_[b * width_ + c] = 0;
        for (std::size_t slot = 0; slot < kBlock; ++slot) {
          numbers_[b * rows_ + place(slot, c)] = S::template one<Real>();
          whole_[b * rows_ + place(slot, c)] = 0;
        }
      }
    }
  }

  // The starts of block `distance` from their absolute logarithms (16, padded), which are left relative to
  // the new scale.
  void put_logs(int distance, const double* absolute) {
    double* logs = logs_.get() + at(distance) * rows_;
    double* scale = scale_.get() + at(distance) * width_;
    for (std::size_t c = 0; c < width_; ++c) {
      double largest = kNegativeInfinity;
      for (std::size_t slot = 0; slot < kBlock; ++slot)
        largest = std::max(largest, absolute[slot * width_ + c]);
      scale[c] = largest;
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        const double log = absolute[slot * width_ + c];
        const double relative = largest == kNegativeInfinity ? kNegativeInfinity : log - largest;
        logs[slot * width_ + c] = relative;
        const std::size_t i = at(distance) * rows_ + place(slot, c);
        numbers_[i] = Vectors::relative_number(relative);
        Vectors::split_value(relative, &starts_[i], &whole_[i]);
      }
    }
    has_logs_[at(distance)] = true;
  }
  // The starts of the block at the head as numbers times whole units, in panels, the latter relative to
  // `base` units. Those of the largest units become 1 to 2 (log), or -1/2 to 1/2.
  void put_starts(const Real* starts, const Whole* whole, double base) {
    const D d;
    const DI di;
    const auto lanes = static_cast<std::size_t>(t_.lanes);
    HWY_ALIGN Whole most_whole[hn::MaxLanes(D())];
    for (int panel = 0; panel < t_.panels; ++panel) {
      const std::size_t from = t_.panel_index(panel, 0, kBlock);
      const std::size_t to = at(0) * rows_ + from;
      I most = hn::Load(di, whole + from);
      for (std::size_t q = 1; q < kBlock; ++q) most = hn::Max(most, hn::Load(di, whole + from + q * lanes));
      for (std::size_t q = 0; q < kBlock; ++q) {
        const std::size_t i = q * lanes;
        const V number = hn::Load(d, starts + from + i);
        const I units = hn::Load(di, whole + from + i);
        const I below = hn::Sub(units, most);
        const auto dead = hn::Lt(units, hn::Set(di, Whole(kLeastWhole)));
        const V zero = hn::Set(d, S::template zero<Real>());
        hn::Store(hn::IfThenElse(hn::RebindMask(d, dead), zero, Vectors::moved(number, below)), d,
                  numbers_.get() + to + i);
        hn::Store(number, d, starts_.get() + to + i);
        hn::Store(hn::IfThenElse(dead, hn::Set(di, Whole(kDead)), below), di, whole_.get() + to + i);
      }
      hn::Store(most, di, most_whole);
      double* scale = scale_.get() + at(0) * width_ + static_cast<std::size_t>(panel) * lanes;
      for (std::size_t l = 0; l < lanes; ++l) {
        scale[l] = most_whole[l] < kLeastWhole ? kNegativeInfinity
                                               : base + static_cast<double>(most_whole[l]) * S::kUnit;
      }
    }
    has_logs_[at(0)] = false;
  }
  // No segment of the label that began before the block at the head goes on.
  void cut(std::size_t c) {
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (b != at(0)) scale_[b * width_ + c] = kNegativeInfinity;
    }
  }
  // The gauge moves on by the block's content, less `shift`.
  void move_gauge(const double* content, double shift) {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD change = hn::Sub(hn::Load(dd, content + c), hn::Set(dd, shift));
      double* scale = scale_.get() + c;
      for (std::size_t b = 0; b < blocks_; ++b, scale += width_)
        hn::Store(hn::Add(hn::Load(dd, scale), change), dd, scale);
    }
  }
  void advance() { head_ = (head_ + 1) % t_.ring_blocks; }

 private:
  std::size_t at(int distance) const {
    return static_cast<std::size_t>((head_ - distance + 2 * t_.ring_blocks) % t_.ring_blocks);
  }
  // The place of a label's slot in panels.
  std::size_t place(std::size_t slot, std::size_t c) const {
    const auto lanes = static_cast<std::size_t>(t_.lanes);
    return c / lanes * lanes * kBlock + slot * lanes + c % lanes;
  }

  const Tables& t_;
  std::size_t width_, rows_, blocks_;
  int head_ = 0;
  AlignedArray<Real> numbers_;  // (blocks, panels, 16, lanes)
  AlignedArray<Real> starts_;   // `numbers_` near 1, times
  AlignedArray<Whole> whole_;   // these units, relative to the scale
  AlignedArray<double> scale_;  // (blocks, padded)
  AlignedArray<double> logs_;   // (blocks, 16, padded) relative to the scale
  std::vector<char> has_logs_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
