// Expected counts of durations over one chunk: the starts of the forward store against the ends that the
// backward run leaves behind, block by block. docs/algorithm.md, "Expected counts". Included once per
// instruction set.
#if defined(SEMICRF_CPU_SIMD_DURATION_COUNTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_DURATION_COUNTS_INL_H_
#undef SEMICRF_CPU_SIMD_DURATION_COUNTS_INL_H_
#else
#define SEMICRF_CPU_SIMD_DURATION_COUNTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/simd/block/block_meeting-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// A start in slot p of a block and an end in slot q of the block o blocks to its right are 16 o + 1 + p - q
// apart. Durations are counted in groups of 16: group m, 16 m + 1 .. 16 m + 16, joins each block to the
// blocks m and m + 1 to its right.
template <class Real, class D>
class DurationCounts : public CountVectors<Real, D> {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Meeting = BlockMeeting<Real, D>;
  using Run = typename Meeting::Run;
  using Vectors = CountVectors<Real, D>;
  using typename Vectors::DD;
  using typename Vectors::V;
  using typename Vectors::VD;
  using typename Vectors::Whole;

  explicit DurationCounts(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        rows_(kBlock * width_),
        groups_(static_cast<std::size_t>(tables.ring_blocks)),
        distances_(static_cast<std::size_t>(tables.offsets) + 1),
        capacity_(static_cast<std::size_t>(tables.offsets) + kBatch),
        ends_(capacity_, rows_, width_),
        starts_(rows_, width_),
        within_factor_(width_),
        within_sums_(rows_, 0.0),
        power_(kBatch * distances_ * width_),
        rest_(kBatch * distances_ * width_),
        scaled_(kBatch * 2 * kBlock * lanes_),
        bound_((distances_ + 1) * width_, kNegativeInfinity),
        bound_power_((distances_ + 1) * width_, kNever),
        ring_row_(width_),
        sums_(groups_ * rows_, 0.0),
        exact_sums_(static_cast<std::size_t>(tables.duration) * width_, 0.0) {
    build_bounds();
  }

  static std::size_t bytes(const Tables& t) {
    const auto width = static_cast<std::size_t>(t.padded);
    const std::size_t blocks = static_cast<std::size_t>(t.offsets) + kBatch + 1;
    const std::size_t ends = kBlock * (2 * sizeof(Real) + sizeof(Whole) + sizeof(double)) + sizeof(double);
    const std::size_t factors = 2 * kBatch * sizeof(Real);
    const std::size_t sums = sizeof(double) * 2 * kBlock;
    return blocks * width * (ends + factors + sums) + (4 * kBatch + 2) * kBlock * width * sizeof(double);
  }

  // The backward run stands at the chunk's right edge; `ring`: it has blocks behind it.
  void start(Run& run, bool ring) {
    std::fill_n(sums_.get(), sums_.size(), 0.0);
    std::fill_n(exact_sums_.get(), exact_sums_.size(), 0.0);
    std::fill_n(within_sums_.get(), within_sums_.size(), 0.0);
    std::fill_n(ends_.scale.get(), ends_.scale.size(), kNegativeInfinity);
    std::fill_n(ends_.numbers.get(), ends_.numbers.size(), Real(0));
    newest_ = 0;
    pending_ = 0;
    for (int o = t_.offsets; ring && o >= 1; --o) {
      newest_ = (newest_ + 1) % capacity_;
      take_logs(run, o, newest_);
    }
  }

  void add(const Meeting& meeting) {
    take_starts(meeting);
    factors(meeting);
    take_ends(meeting);
    if (++pending_ == kBatch) flush();
  }

  // Adds the chunk's counts to (K, C).
  void finish(double* counts) {
    flush();
    const auto labels = static_cast<std::size_t>(t_.labels);
    for (std::size_t k = 0; k < static_cast<std::size_t>(t_.duration); ++k) {
      const std::size_t group = k / kBlock;
      for (std::size_t c = 0; c < labels; ++c) {
        const double bias = t_.bias[k * width_ + c];
        double sum = exact_sums_[k * width_ + c];
        if (bias != kNegativeInfinity) {
          const double weight = std::exp(bias - bound_[group * width_ + c]);
          const std::size_t at =
              t_.panel_index(static_cast<int>(group) * t_.panels + static_cast<int>(c / lanes_),
                             static_cast<int>(k % kBlock), kBlock) +
              c % lanes_;
          sum += sums_[at] * weight;
          if (group == 0) sum += within_sums_[k * width_ + c] * weight;
        }
        counts[k * labels + c] += sum;
      }
    }
  }

  // The last block's starts (16, padded) in slots of the run, if it was not exact: numbers times 2^whole,
  // relative to the scale of the forward store.
  const double* starts() const { return starts_.raw.get(); }
  const double* starts_whole() const { return starts_.raw_whole.get(); }

 private:
  static constexpr std::size_t kBatch = 4;    // blocks whose products are added up in Real
  static constexpr Real kNever = Real(-1e9);  // a power of two that is 0

  // Largest bias of each group, as a whole power of two; rows beyond the last group are -inf.
  void build_bounds() {
    for (std::size_t m = 0; m < groups_; ++m) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
        double& bound = bound_[m * width_ + c];
        for (std::size_t k = m * kBlock; k < std::min<std::size_t>((m + 1) * kBlock, bias_rows()); ++k)
          bound = std::max(bound, t_.bias[k * width_ + c]);
        if (bound == kNegativeInfinity) continue;
        const double power = std::floor(bound / kLog2);
        bound = power * kLog2;
        bound_power_[m * width_ + c] = static_cast<Real>(power);
      }
    }
  }
  std::size_t bias_rows() const { return static_cast<std::size_t>(t_.duration); }
  std::size_t end_block(std::size_t distance) const {
    return (newest_ + capacity_ + 1 - distance) % capacity_;
  }

  // --- starts of the block ---

  void take_starts(const Meeting& meeting) {
    starts_.has_logs = meeting.exact();
    Real* out = starts_.numbers.get() + pending_ * rows_;
    if (starts_.has_logs) {
      meeting.start_logs(width_, starts_.logs.get());
      normalize(starts_.logs.get(), starts_.scale.get(), out);
      return;
    }
    const DD dd;
    const Real* start = meeting.store.start(meeting.block);
    const auto& units = meeting.store.units(meeting.block);
    const auto& factors = meeting.run.factors();
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const std::size_t panel = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
      Kept<VD> product[kBlock], whole[kBlock];
      VD most = hn::Set(dd, static_cast<double>(kDead));
      for (std::size_t p = 0; p < kBlock; ++p) {
        const std::size_t slot = kBlock - 1 - p;
        product[p] = hn::Mul(Vectors::load_double(start + slot * width_ + c),
                             Vectors::load_double(factors.alpha() + panel + p * lanes_));
        whole[p] = hn::Add(Vectors::load_whole(factors.alpha_whole() + panel + p * lanes_),
                           hn::Set(dd, static_cast<double>(units[slot])));
        most = hn::Max(most, hn::IfThenElse(hn::Gt(bare(product[p]), hn::Zero(dd)), bare(whole[p]), most));
        // The bound of the transitions into a label is that of those out of it in the run's direction.
        const VD source = Vectors::load_whole(t_.transitions.out_whole.get() + c);
        hn::Store(bare(product[p]), dd, starts_.raw.get() + p * width_ + c);
        hn::Store(hn::Add(bare(whole[p]), source), dd, starts_.raw_whole.get() + p * width_ + c);
      }
      VD largest = hn::Zero(dd);
      for (std::size_t p = 0; p < kBlock; ++p) {
        product[p] = hn::Mul(product[p], Vectors::power(hn::Sub(whole[p], most)));
        largest = hn::Max(largest, product[p]);
      }
      const auto some = hn::Gt(largest, hn::Zero(dd));
      const VD inverse = hn::Div(hn::Set(dd, 1.0), hn::IfThenElse(some, largest, hn::Set(dd, 1.0)));
      for (std::size_t p = 0; p < kBlock; ++p) {
        const VD number = hn::Mul(product[p], inverse);
        Vectors::store_real(number, out + panel + p * lanes_);
        hn::Store(number, dd, starts_.wide.get() + p * width_ + c);
      }
      const VD label = hn::Add(most, Vectors::load_whole(t_.transitions.out_whole.get() + c));
      const VD scale = hn::MulAdd(label, hn::Set(dd, kLog2), hn::Set(dd, meeting.store.scale(meeting.block)));
      hn::Store(hn::Add(LogOrMinusInfinity(dd, largest), scale), dd, starts_.scale.get() + c);
    }
  }

  // Rows of logarithms (16, padded) into numbers in panels, the largest of a label 1, and its logarithm.
  void normalize(const double* logs, double* scale, Real* numbers) const {
    for (std::size_t c = 0; c < width_; ++c) {
      double largest = kNegativeInfinity;
      for (std::size_t p = 0; p < kBlock; ++p) largest = std::max(largest, logs[p * width_ + c]);
      scale[c] = largest;
      Real* to = numbers + t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
      for (std::size_t p = 0; p < kBlock; ++p) {
        const double log = logs[p * width_ + c];
        to[p * lanes_] = log == kNegativeInfinity ? Real(0) : Vectors::relative_number(log - largest);
      }
    }
  }

  // --- ends: what the backward run has behind it ---

  // The block at distance `distance` of the run's ring, from its logarithms.
  // Slots before `first` lie beyond the sequence.
  void take_logs(Run& run, int distance, std::size_t at, int first = 0) {
    double* logs = ends_.logs.get() + at * rows_;
    std::fill_n(logs, static_cast<std::size_t>(first) * width_, kNegativeInfinity);
    for (int q = first; q < kBlock; ++q) {
      run.load_ring_logs(kBlock * distance - q, ring_row_.get());
      std::copy_n(ring_row_.get(), width_, logs + static_cast<std::size_t>(q) * width_);
    }
    double* scale = ends_.scale.get() + at * width_;
    normalize(logs, scale, ends_.numbers.get() + at * rows_);
    for (std::size_t q = 0; q < kBlock; ++q) {
      for (std::size_t c = 0; c < width_; ++c) {
        if (scale[c] != kNegativeInfinity) logs[q * width_ + c] -= scale[c];
      }
    }
    ends_.has_logs[at] = 1;
  }

  // Moves the gauge over the block, and takes its own ends in.
  void take_ends(const Meeting& meeting) {
    const DD dd;
    const typename Run::Messages& back = meeting.back;
    const double shift = meeting.base_shift();
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD change = hn::Sub(hn::Load(dd, back.content + c), hn::Set(dd, shift));
      double* scale = ends_.scale.get() + c;
      for (std::size_t b = 0; b < capacity_; ++b, scale += width_)
        hn::Store(hn::Add(hn::Load(dd, scale), change), dd, scale);
    }
    newest_ = (newest_ + 1) % capacity_;
    Real* numbers = ends_.numbers.get() + newest_ * rows_;
    double* scale = ends_.scale.get() + newest_ * width_;
    ends_.has_logs[newest_] = 0;
    for (std::size_t c = 0; c < width_; ++c) set_factor(0, c, kNegativeInfinity);
    if (back.exact) {
      take_logs(meeting.run, 1, newest_, static_cast<int>(meeting.first_slot()));
      count_within_exact(meeting);
      return;
    }
    std::copy_n(back.gamma, rows_, numbers);
    std::copy_n(back.gamma_start, rows_, ends_.starts.get() + newest_ * rows_);
    std::copy_n(back.gamma_whole, rows_, ends_.whole.get() + newest_ * rows_);
    for (std::size_t c = 0; c < width_; ++c) scale[c] = back.gamma_scale[c] + (back.content[c] - shift);
    if (starts_.has_logs || !count_within(meeting)) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c)
        count_exact(meeting, 0, c, scale[c] - (back.content[c] - shift));
    }
  }

  // Segments within the block, in double: the largest start may lie behind the largest end, where no segment
  // joins them, and their product may be far above 1. False when a factor is out of range even so.
  bool count_within(const Meeting& meeting) {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD both =
          hn::Add(hn::Load(dd, starts_.scale.get() + c), hn::LoadU(dd, meeting.back.gamma_scale + c));
      const VD x = hn::Add(hn::Sub(both, hn::Set(dd, meeting.log_z)), hn::Load(dd, bound_.get() + c));
      const bool near = hn::AllTrue(dd, hn::Le(x, hn::Set(dd, kLargestFactor<double>)));
      if (!near && !count_in_order<false>(meeting, c)) return false;
      const VD factor = near ? Vectors::exp_or_zero(x) : hn::Set(dd, kNegativeInfinity);
      hn::Store(factor, dd, within_factor_.get() + c);
    }
    const std::size_t longest = std::min<std::size_t>(kBlock, bias_rows());
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      if (within_factor_[c] == kNegativeInfinity) {
        count_in_order<true>(meeting, c);
        continue;
      }
      const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
      const double* start = starts_.wide.get() + c;
      const VD factor = hn::Load(dd, within_factor_.get() + c);
      Kept<VD> e[kBlock];
      for (std::size_t q = 0; q < kBlock; ++q) {
        const VD end = Vectors::load_double(meeting.back.gamma_start + at + q * lanes_);
        const VD power = Vectors::power(Vectors::load_whole(meeting.back.gamma_whole + at + q * lanes_));
        e[q] = hn::Mul(hn::Mul(end, power), factor);
      }
      for (std::size_t d = 0; d < longest; ++d) {
        double* to = within_sums_.get() + d * width_ + c;
        VD sum = hn::Load(dd, to);
        for (std::size_t p = d; p < kBlock; ++p)
          sum = hn::MulAdd(hn::Load(dd, start + p * width_), bare(e[p - d]), sum);
        hn::Store(sum, dd, to);
      }
    }
    return true;
  }

  // Counts for the labels from c on, slot by slot: an end is relative to the largest one up to the slot,
  // whose product with a start there is a probability over exp(bias). False where a duration that is ruled
  // out makes such a product larger than a double.
  template <bool kAdds>
  bool count_in_order(const Meeting& meeting, std::size_t c) {
    constexpr double kLowest = -1e300, kMost = 900;
    const DD dd;
    const std::size_t longest = std::min<std::size_t>(kBlock, bias_rows());
    const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
    const VD level = hn::Set(dd, meeting.store.scale(meeting.block) - meeting.log_z);
    const VD scale =
        hn::Add(hn::Add(level, hn::LoadU(dd, meeting.back.gamma_scale + c)), hn::Load(dd, bound_.get() + c));
    const auto some = hn::Gt(scale, hn::Set(dd, kNegativeInfinity));
    const VD units = hn::IfThenElseZero(some, hn::Round(hn::Mul(scale, hn::Set(dd, 1 / kLog2))));
    const VD factor = hn::IfThenElseZero(some, hn::Exp(dd, hn::NegMulAdd(units, hn::Set(dd, kLog2), scale)));
    const auto units_of = [&](VD number, VD whole) HWY_ATTR {
      return hn::IfThenElse(hn::Gt(number, hn::Zero(dd)), whole, hn::Set(dd, kLowest));
    };
    Kept<VD> ends[kBlock];
    VD largest = hn::Set(dd, kLowest), most = hn::Set(dd, kLowest);
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      const VD end = Vectors::load_double(meeting.back.gamma_start + at + slot * lanes_);
      const VD whole = Vectors::load_whole(meeting.back.gamma_whole + at + slot * lanes_);
      const VD before = largest;
      largest = hn::Max(largest, units_of(end, whole));
      const VD raw = hn::Load(dd, starts_.raw.get() + slot * width_ + c);
      const VD power =
          hn::Add(hn::Add(hn::Load(dd, starts_.raw_whole.get() + slot * width_ + c), units), largest);
      most = hn::Max(most, hn::IfThenElse(some, units_of(raw, power), most));
      if constexpr (kAdds) {
        const VD by = Vectors::power(hn::Sub(before, largest));
        for (std::size_t q = 0; q < slot; ++q) ends[q] = hn::Mul(bare(ends[q]), by);
        ends[slot] = hn::Mul(end, Vectors::power(hn::Sub(whole, largest)));
        const VD start = hn::Mul(hn::Mul(raw, Vectors::power(power)), factor);
        for (std::size_t d = 0; d <= slot && d < longest; ++d) {
          double* to = within_sums_.get() + d * width_ + c;
          hn::Store(hn::MulAdd(start, bare(ends[slot - d]), hn::Load(dd, to)), dd, to);
        }
      }
    }
    return hn::AllTrue(dd, hn::Le(most, hn::Set(dd, kMost)));
  }

  // --- one factor per pair of blocks and label ---

  void factors(const Meeting& meeting) {
    for (std::size_t o = 1; o < distances_; ++o)
      factors_at(meeting, o, ends_.scale.get() + end_block(o) * width_);
  }

  // `scale` of the ends `distance` blocks away, in the gauge of the boundary right of the starts. Where the
  // factor with the largest bias of its groups is out of range the pair is summed in logarithms.
  void factors_at(const Meeting& meeting, std::size_t distance, const double* scale) {
    const DD dd;
    const VD log_z = hn::Set(dd, meeting.log_z);
    const VD most = hn::Set(dd, kLargestFactor<Real>);
    const double* group = bound_.get() + distance * width_;
    const double* before = group - width_;
    const std::size_t at = (pending_ * distances_ + distance) * width_;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD starts = hn::Sub(hn::Load(dd, starts_.scale.get() + c), log_z);
      const VD x = hn::Add(starts, hn::Load(dd, scale + c));
      const VD n = hn::Round(hn::Mul(x, hn::Set(dd, 1 / kLog2)));
      const auto some = hn::Gt(x, hn::Set(dd, kNegativeInfinity));
      const VD rest = hn::IfThenElseZero(some, hn::Exp(dd, hn::NegMulAdd(n, hn::Set(dd, kLog2), x)));
      Vectors::store_real(hn::IfThenElse(some, n, hn::Set(dd, static_cast<double>(kNever))),
                          power_.get() + at + c);
      Vectors::store_real(rest, rest_.get() + at + c);
      const VD bound = hn::Max(hn::Load(dd, group + c), hn::Load(dd, before + c));
      if (hn::AllFalse(dd, hn::Gt(hn::Add(x, bound), most))) continue;
      for (std::size_t i = c; i < c + hn::Lanes(dd); ++i) {
        const double log = starts_.scale[i] + scale[i] - meeting.log_z;
        if (!(log + std::max(group[i], before[i]) > kLargestFactor<Real>)) continue;
        count_exact(meeting, distance, i, scale[i]);
        set_factor(distance, i, kNegativeInfinity);
      }
    }
  }
  void set_factor(std::size_t distance, std::size_t c, double log) {
    const std::size_t at = (pending_ * distances_ + distance) * width_ + c;
    power_[at] = log == kNegativeInfinity ? kNever : static_cast<Real>(log);
    rest_[at] = Real(0);
  }

  // --- pairs in double logarithms ---

  void count_exact(const Meeting& meeting, std::size_t distance, std::size_t c, double scale) {
    if (!starts_.has_logs) meeting.start_logs(width_, starts_.logs.get());
    starts_.has_logs = true;
    const std::size_t at = distance == 0 ? newest_ : end_block(distance);
    const std::size_t first =
        at * rows_ + t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
    for (std::size_t q = 0; q < kBlock; ++q) {
      const double end = ends_.has_logs[at] ? ends_.logs[at * rows_ + q * width_ + c]
                                            : Vectors::log_value(ends_.starts[first + q * lanes_],
                                                                 ends_.whole[first + q * lanes_]);
      for (std::size_t p = 0; p < kBlock; ++p) {
        const std::size_t k = kBlock * distance + 1 + p;  // less q
        if (k <= q || k - q > bias_rows()) continue;
        const std::size_t row = (k - q - 1) * width_ + c;
        const double log = starts_.logs[p * width_ + c] + end + t_.bias[row] + (scale - meeting.log_z);
        if (log > kSmallestFactor) exact_sums_[row] += std::exp(log);
      }
    }
  }

  // Segments within a block that the backward run did in logarithms.
  void count_within_exact(const Meeting& meeting) {
    const std::size_t first = meeting.first_slot();
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
      for (std::size_t q = first; q < kBlock; ++q) {
        double content = 0;  // from the end back to the start
        for (std::size_t p = q; p < kBlock && p - q < bias_rows(); ++p) {
          content += meeting.run.content()[p * width_ + c];
          const double log = meeting.start_log(p, c) + content + meeting.back.started_log[q * width_ + c] +
                             t_.bias[(p - q) * width_ + c] - meeting.log_z;
          if (log > kSmallestFactor) exact_sums_[(p - q) * width_ + c] += std::exp(log);
        }
      }
    }
  }

  // --- the products ---

  void flush() {
    for (std::size_t m = 0; pending_ > 0 && m < groups_; ++m) {
      for (int panel = 0; panel < t_.panels; ++panel) flush_group(m, panel);
    }
    pending_ = 0;
  }

  void flush_group(std::size_t m, int panel) {
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    std::size_t active = 0;
    const Real* starts[kBatch];
    for (std::size_t g = 0; g < pending_; ++g) {
      if (!scale_ends(m, c0, g, scaled_.get() + active * 2 * kBlock * lanes_)) continue;
      starts[active] = starts_.numbers.get() + g * rows_ + t_.panel_index(panel, 0, kBlock);
      ++active;
    }
    if (active == 0) return;
    double* sums = sums_.get() + t_.panel_index(static_cast<int>(m) * t_.panels + panel, 0, kBlock);
    correlate<0>(starts, active, sums);
    correlate<kBlock / 2>(starts, active, sums);
  }

  // Ends that durations of group m join to the starts of pending block g, relative to the group's bound: the
  // 16 of the block m + 1 away, then those of the block m away. False when all are 0.
  bool scale_ends(std::size_t m, std::size_t c0, std::size_t g, Real* out) const {
    const D d;
    const V bound = hn::Load(d, bound_power_.get() + m * width_ + c0);
    const V least = hn::Set(d, static_cast<Real>(kSmallestFactor / kLog2));
    bool any = false;
    for (std::size_t part = 0; part < 2; ++part) {
      const std::size_t distance = m + 1 - part;
      V factor = hn::Zero(d);
      if (distance < distances_) {
        const std::size_t at = (g * distances_ + distance) * width_ + c0;
        const V power = hn::Add(hn::Load(d, power_.get() + at), bound);
        const V number = hn::Mul(hn::Load(d, rest_.get() + at), Vectors::two_to(power));
        factor = hn::IfThenElseZero(hn::Ge(power, least), number);
      }
      Real* to = out + part * kBlock * lanes_;
      if (hn::AllTrue(d, hn::Eq(factor, hn::Zero(d)))) {
        for (std::size_t q = 0; q < kBlock; ++q) hn::Store(factor, d, to + q * lanes_);
        continue;
      }
      any = true;
      const std::size_t block = (newest_ + capacity_ - (pending_ - 1 - g) - distance) % capacity_;
      const Real* from = ends_.numbers.get() + block * rows_ + kBlock * c0;
      for (std::size_t q = 0; q < kBlock; ++q)
        hn::Store(hn::Mul(hn::Load(d, from + q * lanes_), factor), d, to + q * lanes_);
    }
    return any;
  }

  // Eight durations of a group: sums over p of start[p] x end[16 + p - d], d = kFirst .. kFirst + 7.
  template <std::size_t kFirst>
  HWY_INLINE void correlate(const Real* const* starts, std::size_t active, double* sums) const {
    const D d;
    const std::size_t n = hn::Lanes(d);
    V a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
    for (std::size_t g = 0; g < active; ++g) {
      const Real* start = starts[g];
      const Real* end = scaled_.get() + (g * 2 * kBlock + kBlock - kFirst) * n;
      for (std::size_t p = 0; p < kBlock; p += 2, start += 2 * n, end += 2 * n) {
        const V first = hn::Load(d, start);
        const V second = hn::Load(d, start + n);
        V e = hn::Load(d, end + n);
        a0 = hn::MulAdd(second, e, a0);
        e = hn::Load(d, end);
        a0 = hn::MulAdd(first, e, a0);
        a1 = hn::MulAdd(second, e, a1);
        e = hn::Load(d, end - n);
        a1 = hn::MulAdd(first, e, a1);
        a2 = hn::MulAdd(second, e, a2);
        e = hn::Load(d, end - 2 * n);
        a2 = hn::MulAdd(first, e, a2);
        a3 = hn::MulAdd(second, e, a3);
        e = hn::Load(d, end - 3 * n);
        a3 = hn::MulAdd(first, e, a3);
        a4 = hn::MulAdd(second, e, a4);
        e = hn::Load(d, end - 4 * n);
        a4 = hn::MulAdd(first, e, a4);
        a5 = hn::MulAdd(second, e, a5);
        e = hn::Load(d, end - 5 * n);
        a5 = hn::MulAdd(first, e, a5);
        a6 = hn::MulAdd(second, e, a6);
        e = hn::Load(d, end - 6 * n);
        a6 = hn::MulAdd(first, e, a6);
        a7 = hn::MulAdd(second, e, a7);
        e = hn::Load(d, end - 7 * n);
        a7 = hn::MulAdd(first, e, a7);
      }
    }
    double* out = sums + kFirst * n;
    const auto add = [&](V sum) HWY_ATTR {
      Vectors::add_to(sum, out);
      out += n;
    };
    add(a0), add(a1), add(a2), add(a3), add(a4), add(a5), add(a6), add(a7);
  }

  // Ends of the blocks behind the backward run.
  struct Ends {
    Ends(std::size_t capacity, std::size_t rows, std::size_t width)
        : numbers(capacity * rows),
          starts(capacity * rows),
          whole(capacity * rows, kDead),
          logs(capacity * rows, kNegativeInfinity),
          scale(capacity * width, kNegativeInfinity),
          has_logs(capacity, 0) {}
    AlignedArray<Real> numbers;  // (capacity, panels, 16, lanes) relative to `scale`
    // The numbers with nothing lost: numbers near 1 times whole units, or logarithms (capacity, 16, padded)
    // where has_logs.
    AlignedArray<Real> starts;
    AlignedArray<Whole> whole;
    AlignedArray<double> logs;
    AlignedArray<double> scale;  // (capacity, padded) in the gauge of the boundary reached
    std::vector<char> has_logs;
  };
  // Starts of the blocks that wait for their products; all but the numbers are of the last of them.
  struct Starts {
    Starts(std::size_t rows, std::size_t width)
        : numbers(kBatch * rows), scale(width), logs(rows), wide(rows), raw(rows), raw_whole(rows) {}
    AlignedArray<Real> numbers;  // (batch, panels, 16, lanes)
    AlignedArray<double> scale, logs;
    AlignedArray<double> wide;  // (16, padded) the numbers again, in double
    AlignedArray<double> raw, raw_whole;
    bool has_logs = false;
  };

  const Tables& t_;
  std::size_t width_, lanes_, rows_;
  std::size_t groups_, distances_, capacity_;
  std::size_t newest_ = 0;   // block of ends_ that was taken in last
  std::size_t pending_ = 0;  // blocks of starts that wait for their products

  Ends ends_;
  Starts starts_;
  AlignedArray<double> within_factor_, within_sums_;
  AlignedArray<Real> power_, rest_;  // (batch, distances, padded): the factor is rest x 2^power
  AlignedArray<Real> scaled_;        // (batch, 32, lanes) ends of one group and panel
  AlignedArray<double> bound_;       // (distances + 1, padded) largest bias of a group
  AlignedArray<Real> bound_power_;   // `bound_` as a power of two
  AlignedArray<double> ring_row_;
  AlignedArray<double> sums_;        // (groups, panels, 16, lanes) relative to the group's bound
  AlignedArray<double> exact_sums_;  // (K, padded) probabilities
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
