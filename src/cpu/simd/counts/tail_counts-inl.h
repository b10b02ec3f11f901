// Expected counts of tails over one chunk: positions beyond K, and the segments that go on there.
// docs/algorithm.md, "Expected counts". Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_TAIL_COUNTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_TAIL_COUNTS_INL_H_
#undef SEMICRF_CPU_SIMD_TAIL_COUNTS_INL_H_
#else
#define SEMICRF_CPU_SIMD_TAIL_COUNTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu/simd/block/block_meeting-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D>
class TailCounts : public CountVectors<Real, D> {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Meeting = BlockMeeting<Real, D>;
  using Run = typename Meeting::Run;
  using Vectors = CountVectors<Real, D>;
  using typename Vectors::DD;
  using typename Vectors::V;
  using typename Vectors::VD;

  explicit TailCounts(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        labels_(static_cast<std::size_t>(tables.labels)),
        beyond_(width_, kNegativeInfinity),
        logs_(width_),
        decay_(width_, 1.0),
        decay_whole_(width_, 0.0),
        positions_(width_, 0.0),
        segments_(width_, 0.0) {
    for (std::size_t c = 0; c < labels_; ++c) {
      if (t_.tails.log[c] == kNegativeInfinity) continue;
      decay_whole_[c] = std::floor(t_.tails.log[c] / kLog2);
      decay_[c] = std::exp(t_.tails.log[c] - decay_whole_[c] * kLog2);
    }
  }

  static std::size_t bytes(const Tables& t) {
    return static_cast<std::size_t>(t.padded) * 6 * sizeof(double);
  }

  // The backward run stands at the chunk's right edge; `ring`: it has blocks behind it.
  void start(Run& run, bool ring) {
    std::fill_n(positions_.get(), width_, 0.0);
    std::fill_n(segments_.get(), width_, 0.0);
    std::fill_n(beyond_.get(), width_, kNegativeInfinity);
    if (!ring) return;
    for (std::size_t c = 0; c < labels_; ++c) {
      if (t_.tails.log[c] == kNegativeInfinity) continue;
      beyond_[c] = run.tail_log()[c] - t_.last.log[c] + t_.duration * t_.tails.log[c];
    }
    for (int d = 1; d <= t_.duration; ++d) {
      run.load_ring_logs(d, logs_.get());
      for (std::size_t c = 0; c < labels_; ++c)
        beyond_[c] = Vectors::plus_scalar(beyond_[c], logs_[c] + d * t_.tails.log[c]);
    }
  }

  // `starts`, `starts_whole` of the block as DurationCounts has them.
  void add(const Meeting& meeting, const double* starts, const double* starts_whole) {
    if (meeting.exact()) {
      add_segments_exact(meeting);
      add_positions_exact(meeting);
    } else {
      for (std::size_t c = 0; c < width_; c += hn::Lanes(DD())) {
        add_segments(meeting, starts, starts_whole, c);
        add_positions(meeting, c);
      }
    }
    const double shift = meeting.base_shift();
    for (std::size_t c = 0; c < labels_; ++c) beyond_[c] -= shift;
  }

  // Adds the chunk's positions to (C), and its segments to row K - 1 of the durations.
  void finish(double* positions, double* segments) const {
    for (std::size_t c = 0; c < labels_; ++c) {
      positions[c] += positions_[c];
      segments[c] += segments_[c];
    }
  }

 private:
  // A logarithm as number x 2^whole; the number is 0 for -inf.
  struct Parts {
    Kept<VD> number, whole;
  };
  static HWY_INLINE Parts parts_of(VD log) {
    const DD dd;
    const auto some = hn::Gt(log, hn::Set(dd, kNegativeInfinity));
    const VD whole = hn::IfThenElseZero(some, hn::Round(hn::Mul(log, hn::Set(dd, 1 / kLog2))));
    const VD number = hn::IfThenElseZero(some, hn::Exp(dd, hn::NegMulAdd(whole, hn::Set(dd, kLog2), log)));
    return {number, hn::IfThenElse(some, whole, hn::Set(dd, static_cast<double>(kDead)))};
  }

  // Segments longer than K of the labels from c on, where they start. Each term is a probability.
  HWY_INLINE void add_segments(const Meeting& meeting, const double* starts, const double* starts_whole,
                               std::size_t c) {
    const DD dd;
    const double scale = meeting.log_scale();
    const double units = std::round(scale / kLog2);
    const VD rest = hn::Set(dd, std::exp(scale - units * kLog2));
    VD sum = hn::Zero(dd);
    for (std::size_t p = 0; p < kBlock; ++p) {
      const std::size_t at = p * width_ + c;
      const VD tail = Vectors::load_double(meeting.back.tail + at);
      const VD whole =
          hn::Add(hn::Load(dd, starts_whole + at), Vectors::load_whole(meeting.back.tail_whole + at));
      const VD power = Vectors::power(hn::Add(whole, hn::Set(dd, units)));
      sum = hn::MulAdd(hn::Mul(hn::Load(dd, starts + at), tail), power, sum);
    }
    double* to = segments_.get() + c;
    hn::Store(hn::MulAdd(sum, rest, hn::Load(dd, to)), dd, to);
  }
  void add_segments_exact(const Meeting& meeting) {
    for (std::size_t c = 0; c < labels_; ++c) {
      double content = 0;
      for (std::size_t p = meeting.first_slot(); p < kBlock; ++p) {
        const std::size_t at = p * width_ + c;
        content += meeting.run.content()[at];
        // Logarithms of a run hold the content up to the boundary, its numbers lack that of the block.
        const double tail = meeting.back.exact
                                ? meeting.back.tail_log[at]
                                : Vectors::log_value(meeting.back.tail[at], meeting.back.tail_whole[at]) +
                                      meeting.back.scale + content;
        const double log = meeting.start_log(p, c) + tail - meeting.log_z;
        if (log > kSmallestFactor) segments_[c] += std::exp(log);
      }
    }
  }

  // Positions beyond K of the labels from c on: the forward tail at each boundary times all ends there and
  // further right, which beyond_ sums up, with their decay, in the gauge of the boundary right of the block.
  HWY_INLINE void add_positions(const Meeting& meeting, std::size_t c) {
    const DD dd;
    const typename Run::Messages& back = meeting.back;
    const std::size_t panel = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
    const VD decay = hn::Load(dd, decay_.get() + c);
    const VD decay_whole = hn::Load(dd, decay_whole_.get() + c);
    const Parts ends = parts_of(hn::LoadU(dd, back.gamma_scale + c));
    const double scale = meeting.store.scale(meeting.block) - meeting.log_z;
    const Parts factor = parts_of(hn::Add(hn::LoadU(dd, back.content + c), hn::Set(dd, scale)));
    Parts reach = parts_of(hn::Load(dd, beyond_.get() + c));
    VD sum = hn::Zero(dd);
    for (std::size_t q = 0; q < kBlock; ++q) {
      const std::size_t i = panel + q * lanes_;
      const VD end_whole = hn::Add(ends.whole, Vectors::load_whole(back.gamma_whole + i));
      const VD end = hn::Mul(ends.number, Vectors::load_double(back.gamma_start + i));
      const VD whole = hn::Max(reach.whole, end_whole);
      reach.number = hn::MulAdd(end, Vectors::power(hn::Sub(end_whole, whole)),
                                hn::Mul(reach.number, Vectors::power(hn::Sub(reach.whole, whole))));
      reach.whole = whole;
      const std::size_t at = (kBlock - 1 - q) * width_ + c;
      const VD tail_whole = Vectors::load_whole(meeting.store.tail_whole(meeting.block) + at);
      const VD power = Vectors::power(hn::Add(hn::Add(whole, tail_whole), factor.whole));
      const VD tail = Vectors::load_double(meeting.store.tail(meeting.block) + at);
      sum = hn::MulAdd(hn::Mul(reach.number, tail), power, sum);
      reach.number = hn::Mul(reach.number, decay);
      reach.whole = hn::Add(reach.whole, decay_whole);
    }
    double* to = positions_.get() + c;
    hn::Store(hn::MulAdd(sum, factor.number, hn::Load(dd, to)), dd, to);
    const VD log = hn::MulAdd(reach.whole, hn::Set(dd, kLog2), LogOrMinusInfinity(dd, bare(reach.number)));
    hn::Store(hn::Add(log, hn::LoadU(dd, back.content + c)), dd, beyond_.get() + c);
  }

  void add_positions_exact(const Meeting& meeting) {
    const typename Run::Messages& back = meeting.back;
    for (std::size_t c = 0; c < labels_; ++c) {
      if (t_.tails.log[c] == kNegativeInfinity) continue;
      double right = 0;  // content from the boundary to the block's right end
      const auto content_at = [&](std::size_t q) { return meeting.run.content()[q * width_ + c]; };
      for (std::size_t q = meeting.first_slot(); q < kBlock; ++q) {
        const double reach = Vectors::plus_scalar(beyond_[c], end_log(back, q, c, right));
        const double log = tail_log(meeting, kBlock - 1 - q, c) + reach - meeting.log_z;
        if (log > kSmallestFactor) positions_[c] += std::exp(log);
        beyond_[c] = reach + content_at(q) + t_.tails.log[c];
        right += content_at(q);
      }
    }
  }
  // Logarithm of the ends in slot q, content right of them left out.
  double end_log(const typename Run::Messages& back, std::size_t q, std::size_t c, double content) const {
    if (back.exact) return back.started_log[q * width_ + c];
    const std::size_t at = kBlock * (c / lanes_ * lanes_) + q * lanes_ + c % lanes_;
    return Vectors::log_value(back.gamma_start[at], back.gamma_whole[at]) + back.gamma_scale[c] + content;
  }
  // Logarithm of the forward tail right of slot j, content up to there.
  double tail_log(const Meeting& meeting, std::size_t j, std::size_t c) const {
    const auto& store = meeting.store;
    if (store.exact(meeting.block)) return store.tail_rows_log(meeting.block)[j * width_ + c];
    double content = 0;
    for (std::size_t i = 0; i <= j; ++i) content += meeting.run.content()[(kBlock - 1 - i) * width_ + c];
    const std::size_t at = j * width_ + c;
    const double number =
        Vectors::log_value(store.tail(meeting.block)[at], store.tail_whole(meeting.block)[at]);
    return number + store.scale(meeting.block) + content;
  }

  const Tables& t_;
  std::size_t width_, lanes_, labels_;
  AlignedArray<double> beyond_;  // (padded) ends right of the boundary reached, with their decay
  AlignedArray<double> logs_;
  AlignedArray<double> decay_, decay_whole_;   // (padded) q as a number times 2^whole
  AlignedArray<double> positions_, segments_;  // (padded) probabilities
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
