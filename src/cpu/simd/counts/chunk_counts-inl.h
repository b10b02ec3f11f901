// The expected counts of one chunk, summed where the backward run meets the forward store.
// docs/algorithm.md, "Expected counts". Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_COUNTS_CHUNK_COUNTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_COUNTS_CHUNK_COUNTS_INL_H_
#undef SEMICRF_CPU_SIMD_COUNTS_CHUNK_COUNTS_INL_H_
#else
#define SEMICRF_CPU_SIMD_COUNTS_CHUNK_COUNTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu/simd/block/block_meeting-inl.h"
#include "cpu/simd/counts/duration_counts-inl.h"
#include "cpu/simd/counts/tail_counts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Expected counts of transitions over one chunk: alpha before each position times what follows a start there.
// docs/algorithm.md, "Expected counts". Included once per instruction set.
template <class Real, class D>
class TransitionCounts : public CountVectors<Real, D> {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Meeting = BlockMeeting<Real, D>;
  using Vectors = CountVectors<Real, D>;
  using typename Vectors::DD;
  using typename Vectors::V;
  using typename Vectors::VD;

  // `tables` of the forward direction.
  explicit TransitionCounts(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        labels_(static_cast<std::size_t>(tables.labels)),
        first_alpha_(width_, kNegativeInfinity),
        row_(width_, 0.0),
        from_(kBlock * width_),
        to_(kBlock * width_),
        sums_(labels_ * width_, 0.0),
        exact_sums_(labels_ * width_, 0.0) {}

  static std::size_t bytes(const Tables& t) {
    const auto width = static_cast<std::size_t>(t.padded);
    return width * (sizeof(Real) * 2 * kBlock + (3 + 2 * width) * sizeof(double));
  }

  // The forward run stands at the chunk's left edge.
  void start(const typename Meeting::Run& forward) {
    forward.load_carry_logs(first_alpha_.get());
    std::fill_n(sums_.get(), sums_.size(), 0.0);
    std::fill_n(exact_sums_.get(), exact_sums_.size(), 0.0);
  }

  // `first`: the block begins with position 0 of the sequence.
  void add(const Meeting& meeting, bool first) {
    const bool skip_first = first && !t_.initial_transition;
    if (!meeting.exact() && !skip_first && fill_rows(meeting)) {
      multiply();
    } else {
      add_exact(meeting, skip_first ? 1 : 0);
    }
  }

  // Adds the chunk's counts to (C, C).
  void finish(double* counts) const {
    for (std::size_t from = 0; from < labels_; ++from) {
      for (std::size_t to = 0; to < labels_; ++to) {
        const double score = t_.transitions.logs[from * width_ + to];
        double sum = exact_sums_[from * width_ + to];
        if (score != kNegativeInfinity) {
          const double bound = t_.transitions.out_bound[from] + t_.transitions.into_bound[to];
          sum += sums_[from * width_ + to] * std::exp(score - bound);
        }
        counts[from * labels_ + to] += sum;
      }
    }
  }

 private:
  static constexpr double kWidestFactor = 600;  // |log| of a factor in double

  // Logarithm of alpha at the boundary left of slot j.
  double alpha_before(const Meeting& meeting, std::size_t j, std::size_t c) const {
    if (j > 0) return meeting.store.alpha_value(meeting.block, j - 1, c);
    if (meeting.block == 0) return first_alpha_[c];
    const double base = meeting.store.base(meeting.block - 1) - meeting.store.base(meeting.block);
    return meeting.store.alpha_value(meeting.block - 1, kBlock - 1, c) + base;
  }

  // from_: alpha before each slot, relative to the largest of the slot; to_: what follows a start in the
  // slot, times that largest and divided by Z; both with the bounds of the transitions out of and into the
  // label. False when a number leaves its range.
  bool fill_rows(const Meeting& meeting) {
    const DD dd;
    const auto& units = meeting.store.units(meeting.block);
    const double scale = meeting.log_scale();
    // alpha left of the block belongs to the block before.
    for (std::size_t c = 0; c < labels_; ++c) {
      const double source = static_cast<double>(t_.transitions.out_whole[c]) * kLog2;
      const double first =
          static_cast<double>(units[0]) * kLog2 + meeting.store.scale(meeting.block) - source;
      row_[c] = alpha_before(meeting, 0, c) - first;
      if (row_[c] > kLargestFactor<Real>) return false;
      row_[c] = std::exp(row_[c]);
    }
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd))
      Vectors::store_real(hn::Load(dd, row_.get() + c), from_.get() + c);
    const Real* alpha = meeting.store.alpha(meeting.block);
    std::copy_n(alpha, (kBlock - 1) * width_, from_.get() + width_);
    VD most = hn::Zero(dd);
    for (std::size_t j = 0; j < kBlock; ++j) {
      const std::size_t theirs = kBlock - 1 - j;
      const double factor = static_cast<double>(units[j] + meeting.back.units[theirs + 1]) * kLog2 + scale;
      if (factor > kWidestFactor) return false;
      const VD by = hn::Set(dd, std::exp(factor));
      const Real* alpha_number = meeting.back.alpha_number + theirs * width_;
      const auto* alpha_whole = meeting.back.alpha_whole + theirs * width_;
      const VD units_taken = hn::Set(dd, static_cast<double>(meeting.back.units[theirs + 1]));
      for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
        // What may vanish of the run's last boundary is not certified yet.
        const VD power = Vectors::power(hn::Sub(Vectors::load_whole(alpha_whole + c), units_taken));
        const VD number = hn::Mul(hn::Mul(Vectors::load_double(alpha_number + c), power), by);
        most = hn::Max(most, number);
        Vectors::store_real(number, to_.get() + j * width_ + c);
      }
    }
    return hn::AllTrue(dd, hn::Le(most, hn::Set(dd, std::exp(kLargestFactor<Real>))));
  }

  // The block's product, four sources at a time; up to 16 terms are added up in Real.
  void multiply() {
    const D d;
    for (std::size_t c0 = 0; c0 < width_; c0 += lanes_) {
      std::size_t from = 0;
      for (; from + 4 <= labels_; from += 4) {
        V a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
        for (std::size_t j = 0; j < kBlock; ++j) {
          const V to = hn::Load(d, to_.get() + j * width_ + c0);
          const Real* alpha = from_.get() + j * width_ + from;
          a0 = hn::MulAdd(hn::Set(d, alpha[0]), to, a0);
          a1 = hn::MulAdd(hn::Set(d, alpha[1]), to, a1);
          a2 = hn::MulAdd(hn::Set(d, alpha[2]), to, a2);
          a3 = hn::MulAdd(hn::Set(d, alpha[3]), to, a3);
        }
        double* sums = sums_.get() + from * width_ + c0;
        Vectors::add_to(a0, sums);
        Vectors::add_to(a1, sums + width_);
        Vectors::add_to(a2, sums + 2 * width_);
        Vectors::add_to(a3, sums + 3 * width_);
      }
      for (; from < labels_; ++from) {
        V sum = hn::Zero(d);
        for (std::size_t j = 0; j < kBlock; ++j) {
          const V alpha = hn::Set(d, from_[j * width_ + from]);
          sum = hn::MulAdd(alpha, hn::Load(d, to_.get() + j * width_ + c0), sum);
        }
        Vectors::add_to(sum, sums_.get() + from * width_ + c0);
      }
    }
  }

  void add_exact(const Meeting& meeting, std::size_t first) {
    const DD dd;
    for (std::size_t j = first; j < static_cast<std::size_t>(meeting.slots); ++j) {
      meeting.back.load_alpha(meeting.run.tables(), kBlock - 1 - j, row_.get());
      for (std::size_t from = 0; from < labels_; ++from) {
        const VD alpha = hn::Set(dd, alpha_before(meeting, j, from) - meeting.log_z);
        for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
          const std::size_t at = from * width_ + c;
          const VD after = hn::Load(dd, row_.get() + c);
          const VD x = hn::Add(hn::Add(alpha, after), hn::Load(dd, t_.transitions.logs.get() + at));
          hn::Store(hn::Add(hn::Load(dd, exact_sums_.get() + at), Vectors::exp_or_zero(x)), dd,
                    exact_sums_.get() + at);
        }
      }
    }
  }

  const Tables& t_;
  std::size_t width_, lanes_, labels_;
  AlignedArray<double> first_alpha_;  // (padded) logarithms at the chunk's left edge
  AlignedArray<double> row_;
  AlignedArray<Real> from_, to_;     // (16, padded)
  AlignedArray<double> sums_;        // (C, padded) relative to the bounds of both labels
  AlignedArray<double> exact_sums_;  // (C, padded) probabilities
};

template <class Real, class D>
class ChunkCounts {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Meeting = BlockMeeting<Real, D>;
  using Run = typename Meeting::Run;

  ChunkCounts(const Tables& forward, const Tables& backward)
      : t_(forward), durations_(backward), transitions_(forward), tails_(backward) {}

  static std::size_t bytes(const Tables& t) {
    return DurationCounts<Real, D>::bytes(t) + TransitionCounts<Real, D>::bytes(t) +
           TailCounts<Real, D>::bytes(t);
  }

  // The forward run stands at the chunk's left edge.
  void start_left(const Run& forward) { transitions_.start(forward); }
  // The backward run stands at its right edge; `ring`: the sequence goes on there.
  void start_right(Run& backward, bool ring) {
    durations_.start(backward, ring);
    if (t_.tail) tails_.start(backward, ring || t_.cut_end);
  }

  // Blocks from right to left. `first`: the block begins with position 0 of the sequence.
  void add(const Meeting& meeting, bool first) {
    durations_.add(meeting);
    transitions_.add(meeting, first);
    if (t_.tail) tails_.add(meeting, durations_.starts(), durations_.starts_whole());
  }

  void finish(ExpectedCounts& counts) {
    const auto labels = static_cast<std::size_t>(t_.labels);
    counts.transition.assign(labels * labels, 0.0);
    counts.duration.assign(static_cast<std::size_t>(t_.duration) * labels, 0.0);
    counts.tail.assign(t_.tail ? labels : 0, 0.0);
    durations_.finish(counts.duration.data());
    transitions_.finish(counts.transition.data());
    if (t_.tail) tails_.finish(counts.tail.data(), counts.duration.data() + counts.duration.size() - labels);
  }

 private:
  const Tables& t_;
  DurationCounts<Real, D> durations_;
  TransitionCounts<Real, D> transitions_;
  TailCounts<Real, D> tails_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
