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
        scale_(width_),
        logs_(width_),
        factor_(width_),
        by_ends_(width_),
        sums_(width_),
        beyond_now_(width_),
        positions_(width_, 0.0),
        segments_(width_, 0.0) {}

  static std::size_t bytes(const Tables& t) {
    return static_cast<std::size_t>(t.padded) * 12 * sizeof(double);
  }

  // The backward run stands at the chunk's right edge; `ring`: it has blocks behind it.
  void start(Run& run, bool ring) {
    std::fill_n(positions_.get(), width_, 0.0);
    std::fill_n(segments_.get(), width_, 0.0);
    std::fill_n(beyond_.get(), width_, kNegativeInfinity);
    if (!ring) return;
    for (std::size_t c = 0; c < labels_; ++c) {
      if (t_.log_tail[c] == kNegativeInfinity) continue;
      beyond_[c] = run.tail_log()[c] - t_.last_bias[c] + t_.duration * t_.log_tail[c];
    }
    for (int d = 1; d <= t_.duration; ++d) {
      run.load_ring_logs(d, logs_.get());
      for (std::size_t c = 0; c < labels_; ++c)
        beyond_[c] = Vectors::plus_scalar(beyond_[c], logs_[c] + d * t_.log_tail[c]);
    }
  }

  // `starts`, `start_scale` of the block as DurationCounts has them.
  void add(const Meeting& meeting, const Real* starts, const double* start_scale) {
    if (meeting.exact() || !add_segments(meeting, starts, start_scale)) add_segments_exact(meeting);
    if (meeting.exact() || !add_positions(meeting)) add_positions_exact(meeting);
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
  // factor_: exp(x) for the labels from c on. False when it is out of range.
  bool factor_of(std::size_t c, VD x) {
    const DD dd;
    hn::Store(Vectors::exp_or_zero(x), dd, factor_.get() + c);
    return hn::AllTrue(dd, hn::Le(x, hn::Set(dd, kLargestFactor<Real>)));
  }

  // Segments longer than K, where they start.
  bool add_segments(const Meeting& meeting, const Real* starts, const double* start_scale) {
    const D d;
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD both = hn::Add(hn::LoadU(dd, start_scale + c), hn::LoadU(dd, meeting.back.tail_scale + c));
      if (!factor_of(c, hn::Sub(both, hn::Set(dd, meeting.log_z)))) return false;
    }
    for (std::size_t c = 0; c < width_; c += lanes_) {
      V sum = hn::Zero(d);
      const Real* start = starts + kBlock * c;
      for (std::size_t p = 0; p < kBlock; ++p) {
        const V tail = hn::Load(d, meeting.back.tail + p * width_ + c);
        sum = hn::MulAdd(hn::Load(d, start + p * lanes_), tail, sum);
      }
      Vectors::add_scaled(sum, factor_.get() + c, segments_.get() + c);
    }
    return true;
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
                                : log_of_number(meeting.back.tail[at]) + meeting.back.tail_scale[c] + content;
        const double log = meeting.start_log(p, c) + tail - meeting.log_z;
        if (log > kSmallestFactor) segments_[c] += std::exp(log);
      }
    }
  }
  static double log_of_number(Real number) {
    return number > Real(0) ? std::log(static_cast<double>(number)) : kNegativeInfinity;
  }

  // Positions beyond K: the forward tail at each boundary times all ends there and further right. beyond_ is
  // the sum of the latter, with their decay, in the gauge of the boundary right of the block.
  bool add_positions(const Meeting& meeting) {
    const D d;
    const DD dd;
    const BlockMessages<Real>& back = meeting.back;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD ends = hn::LoadU(dd, back.gamma_scale + c);
      const VD beyond = hn::Load(dd, beyond_.get() + c);
      const VD scale = Vectors::finite_or_zero(hn::Max(ends, beyond));
      hn::Store(scale, dd, scale_.get() + c);
      Vectors::store_real(hn::Exp(dd, hn::Sub(ends, scale)), by_ends_.get() + c);
      Vectors::store_real(hn::Exp(dd, hn::Sub(beyond, scale)), beyond_now_.get() + c);
      const VD tail = hn::LoadU(dd, meeting.store.tail_scale(meeting.block) + c);
      const VD whole = hn::Add(scale, hn::LoadU(dd, back.content + c));
      if (!factor_of(c, hn::Sub(hn::Add(tail, whole), hn::Set(dd, meeting.log_z)))) return false;
    }
    V least = hn::Set(d, Real(1));
    for (std::size_t c = 0; c < width_; c += lanes_) {
      const V decay = hn::Load(d, t_.tail_factor.get() + c);
      const V factor = hn::Load(d, by_ends_.get() + c);
      V beyond = hn::Load(d, beyond_now_.get() + c);
      const auto idle = hn::Eq(hn::Add(factor, beyond), hn::Zero(d));
      V sum = hn::Zero(d);
      for (std::size_t q = 0; q < kBlock; ++q) {
        const V ends = hn::Load(d, back.gamma + kBlock * c + q * lanes_);
        const V reach = hn::MulAdd(ends, factor, beyond);
        sum = hn::MulAdd(reach,
                         hn::Load(d, meeting.store.tail(meeting.block) + (kBlock - 1 - q) * width_ + c), sum);
        beyond = hn::Mul(reach, decay);
      }
      hn::Store(beyond, d, beyond_now_.get() + c);
      hn::Store(sum, d, sums_.get() + c);
      const auto none = hn::Or(hn::Eq(decay, hn::Zero(d)), idle);
      least = hn::Min(least, hn::IfThenElse(none, hn::Set(d, Real(1)), beyond));
    }
    if (!hn::AllTrue(d, hn::Ge(least, hn::Set(d, Limits<LogSemiring, Real>::kSmallest)))) return false;
    for (std::size_t c = 0; c < width_; c += lanes_) {
      Vectors::add_scaled(hn::Load(d, sums_.get() + c), factor_.get() + c, positions_.get() + c);
    }
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD whole = hn::Add(hn::Add(hn::Load(dd, scale_.get() + c), hn::LoadU(dd, back.content + c)),
                               hn::Load(dd, t_.tail_drift.get() + c));
      hn::Store(hn::Add(Vectors::log_of(beyond_now_.get() + c), whole), dd, beyond_.get() + c);
    }
    return true;
  }

  void add_positions_exact(const Meeting& meeting) {
    const BlockMessages<Real>& back = meeting.back;
    for (std::size_t c = 0; c < labels_; ++c) {
      if (t_.log_tail[c] == kNegativeInfinity) continue;
      double right = 0;  // content from the boundary to the block's right end
      const auto content_at = [&](std::size_t q) { return meeting.run.content()[q * width_ + c]; };
      for (std::size_t q = meeting.first_slot(); q < kBlock; ++q) {
        const double reach = Vectors::plus_scalar(beyond_[c], end_log(back, q, c, right));
        const double log = tail_log(meeting, kBlock - 1 - q, c) + reach - meeting.log_z;
        if (log > kSmallestFactor) positions_[c] += std::exp(log);
        beyond_[c] = reach + content_at(q) + t_.log_tail[c];
        right += content_at(q);
      }
    }
  }
  // Logarithm of the ends in slot q, content right of them left out.
  double end_log(const BlockMessages<Real>& back, std::size_t q, std::size_t c, double content) const {
    if (back.exact) return back.started_log[q * width_ + c];
    const std::size_t at = kBlock * (c / lanes_ * lanes_) + q * lanes_ + c % lanes_;
    return log_of_number(back.gamma[at]) + back.gamma_scale[c] + content;
  }
  // Logarithm of the forward tail right of slot j, content up to there.
  double tail_log(const Meeting& meeting, std::size_t j, std::size_t c) const {
    const ForwardStore<Real>& store = meeting.store;
    if (store.exact(meeting.block)) return store.tail_rows_log(meeting.block)[j * width_ + c];
    double content = 0;
    for (std::size_t i = 0; i <= j; ++i) content += meeting.run.content()[(kBlock - 1 - i) * width_ + c];
    const double number = log_of_number(store.tail(meeting.block)[j * width_ + c]);
    return number + store.tail_scale(meeting.block)[c] + content;
  }

  const Tables& t_;
  std::size_t width_, lanes_, labels_;
  AlignedArray<double> beyond_;  // (padded) ends right of the boundary reached, with their decay
  AlignedArray<double> scale_, logs_, factor_;
  AlignedArray<Real> by_ends_, sums_, beyond_now_;
  AlignedArray<double> positions_, segments_;  // (padded) probabilities
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
