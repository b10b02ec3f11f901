// Tables of one direction of one model in the layout the kernels read: labels in panels of one vector.
// Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_CHAIN_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_CHAIN_TABLES_INL_H_
#undef SEMICRF_CPU_SIMD_CHAIN_TABLES_INL_H_
#else
#define SEMICRF_CPU_SIMD_CHAIN_TABLES_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/score_view.h"
#include "cpu/simd/real_vectors-inl.h"
#include "engine/cut_edges.h"
#include "hwy/aligned_allocator.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// A fixed-size array aligned for vectors.
template <class T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t size, T value = T())
      : data_(hwy::AllocateAligned<T>(std::max<std::size_t>(size, 1))), size_(size) {
    if (data_ == nullptr) throw std::bad_alloc();
    std::fill_n(data_.get(), size, value);
  }
  T* get() { return data_.get(); }
  const T* get() const { return data_.get(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::size_t size() const { return size_; }

 private:
  hwy::AlignedFreeUniquePtr<T[]> data_;
  std::size_t size_ = 0;
};

inline constexpr int kOffsetEntries =
    2 * kBlock - 1;  // durations that connect two blocks at a given distance

// D: the vector tag of the fast path. Durations k from block j to block i at distance o = i - j >= 1 are
// 16 o - 14 .. 16 o + 16; inside a block (o = 0) they are 1..16.
template <class Real, class D, class Semiring>
struct ChainTables {
  using Vectors = RealVectors<Real, D, Semiring>;
  using Whole = typename Vectors::Whole;

  // A term of so many units lies below kLeastWhole however far above the block's scale its start is.
  static constexpr double kDeep = -(1 << 29);

  // Durations within a block.
  struct Near {
    AlignedArray<Real> table;  // (panels, 16, lanes): entry k-1 is duration k, relative to offset_bound row 0
    AlignedArray<Whole> whole;     // (padded) that bound in whole units; kDead: impossible
    AlignedArray<Whole> left_out;  // (padded) 1: they are finite, but so low that `table` leaves them out
  };
  struct Transitions {
    AlignedArray<Real> numbers;  // (labels, padded) relative to out_bound[from] + into_bound[to]
    AlignedArray<double> logs;   // (labels, padded)
    // The scores as numbers times whole units; kDead: impossible, or (`deep`, padded) so low that nothing
    // notices it that whole units reach. `fit`: they reach all others.
    AlignedArray<Real> score_numbers;
    AlignedArray<Whole> score_whole, deep;
    bool fit = true;
    // (labels, padded) exp(logs - linear_bound), and (padded) the largest of the logarithms into each label.
    AlignedArray<double> linear, linear_bound;
    AlignedArray<double> into_bound,
        out_bound;  // (padded): of the scores into and out of a label, -inf: none
    // (padded) the bounds in whole units. Impossible ones are kDead, but a label that nothing may follow has
    // 0 for the scores out of it.
    AlignedArray<Whole> into_whole, out_whole;
  };
  // (padded) A score of each label, and the same as a number times whole units.
  struct LabelScores {
    explicit LabelScores(std::size_t width)
        : log(width, kNegativeInfinity), number(width, Semiring::template one<Real>()), whole(width, kDead) {}
    // Whether whole units reach it.
    bool set(std::size_t c, double score) {
      log[c] = score;
      return Vectors::split_value(score, &number[c], &whole[c]);
    }
    AlignedArray<double> log;
    AlignedArray<Real> number;
    AlignedArray<Whole> whole;
  };
  // The least start messages and sums that are certified.
  struct Least {
    double total = 0, start = 0;  // logarithms
    // (padded) Labels that nothing leads to, and the padding, are impossible by their units and have no
    // limit.
    AlignedArray<Real> start_numbers, total_numbers;
    double log_lost = 0;
  };

  explicit ChainTables(const DirectedModel& model)
      : lanes(static_cast<int>(hn::Lanes(D()))),
        labels(model.num_labels),
        padded((labels + lanes - 1) / lanes * lanes),
        panels(padded / lanes),
        duration(model.max_duration),
        offsets((duration + kBlock - 2) / kBlock),
        tail_reach((duration + kBlock - 1) / kBlock),
        // A cut need not lie between two blocks.
        ring_blocks((duration + (model.cut_end ? kBlock - 1 : 0) + kBlock - 1) / kBlock),
        tail(!model.log_tail.empty()),
        initial_transition(model.initial_transition),
        cut_begin(model.cut_begin),
        cut_end(model.cut_end),
        masks_forbid(model.masks_forbid),
        first_scores(model.first_scores),
        last_scores(model.last_scores),
        tails(static_cast<std::size_t>(padded)),
        last(static_cast<std::size_t>(padded)) {
    const auto width = static_cast<std::size_t>(padded);
    build_durations(model, width);
    build_transitions(model, width);
    tail_drift = AlignedArray<double>(width, 0.0);
    for (int c = 0; c < labels; ++c) {
      const auto i = static_cast<std::size_t>(c);
      fits = last.set(i, bias_or_forbidden(duration, c)) && fits;
      if (!tail) continue;
      fits = tails.set(i, model.log_tail[i]) && fits;
      if (tails.log[i] != kNegativeInfinity)
        tail_drift[i] = kBlock * (tails.log[i] - Vectors::log_value(tails.number[i], tails.whole[i]));
    }
    least.total = least_certified<Semiring, Real>(duration + kBlock);
    least.start = least_certified<Semiring, Real>(labels);
    build_whole_bounds(width);
    if constexpr (Semiring::kIsLog)
      least.log_lost = std::log(static_cast<double>(duration + kBlock)) + Limits<Semiring, Real>::kLost;
  }

  std::size_t panel_index(int panel, int entry, int entries) const {
    return (static_cast<std::size_t>(panel) * static_cast<std::size_t>(entries) +
            static_cast<std::size_t>(entry)) *
           static_cast<std::size_t>(lanes);
  }
  const Real* offset_panel(int offset, int panel) const {
    return offset_table.get() +
           static_cast<std::size_t>(offset - 1) * kOffsetEntries * static_cast<std::size_t>(padded) +
           panel_index(panel, 0, kOffsetEntries);
  }

  int lanes, labels, padded, panels, duration, offsets;
  int tail_reach, ring_blocks;  // blocks back to the starts that enter the tail; and those that are kept
  bool tail, initial_transition, cut_begin, cut_end, masks_forbid;
  std::vector<double> first_scores, last_scores;
  AlignedArray<Real> offset_table;  // (offsets, panels, 31, lanes): entry x is duration 16 o - 14 + x,
                                    // relative to offset_bound
  AlignedArray<double>
      offset_bound;  // (offsets + 1, padded): largest bias at that distance; row 0: within a block
  AlignedArray<double> offset_least;  // (offsets + 1, padded): least bias there, -inf: one is impossible
  AlignedArray<Whole> offset_whole;   // (offsets + 1, padded): whole units that no start with a duration at
                                      // that distance exceeds, less those of the scale of its block
  AlignedArray<double> bias;          // (K, padded)
  // Duration scores as numbers times whole units, (panels, K, lanes); kDead: impossible.
  AlignedArray<Real> duration_numbers;
  AlignedArray<Whole> duration_whole;
  bool durations_fit = true;  // whole units reach all of them, but for
  // (padded) 1: some scores, which nothing notices that whole units reach, and which are impossible above.
  AlignedArray<Whole> deep_durations;
  Near near;
  Transitions transitions;
  LabelScores tails, last;          // scores of the tail, and of the longest duration
  AlignedArray<double> tail_drift;  // (padded) what rounding the number takes from a tail over a block
  Least least;
  bool fits = true;  // whole units reach all bounds

 private:
  void build_whole_bounds(std::size_t width) {
    near.whole = AlignedArray<Whole>(width, kDead);
    near.left_out = AlignedArray<Whole>(width, 0);
    transitions.into_whole = AlignedArray<Whole>(width, kDead);
    transitions.out_whole = AlignedArray<Whole>(width, kDead);
    using Number = std::numeric_limits<Real>;
    constexpr Real kNoLimit = Number::has_infinity ? -Number::infinity() : Number::lowest();
    least.start_numbers = AlignedArray<Real>(width, kNoLimit);
    least.total_numbers = AlignedArray<Real>(width, kNoLimit);
    const auto whole = [&](double bound, AlignedArray<Whole>& to, std::size_t c) {
      if (bound == kNegativeInfinity) return true;
      const double n = std::round(bound / Semiring::kUnit);
      if (!(std::fabs(n) <= kMostUnits)) return false;
      to[c] = static_cast<Whole>(n);
      return true;
    };
    for (std::size_t c = 0; c < static_cast<std::size_t>(labels); ++c) {
      transitions.out_whole[c] = 0;
      least.total_numbers[c] = Vectors::number_of(least.total);
      if (transitions.into_bound[c] != kNegativeInfinity)
        least.start_numbers[c] = Vectors::number_of(least.start);
      fits = whole(transitions.into_bound[c], transitions.into_whole, c) && fits;
      fits = whole(transitions.out_bound[c], transitions.out_whole, c) && fits;
      if (!whole(offset_bound[c], near.whole, c)) near.left_out[c] = 1;
    }
  }

  // The score whose number a Real holds exactly. Numbers that are rounded in a table and logarithms that are
  // not would differ by the same part wherever a duration or a transition occurs: the exact blocks of one
  // direction then drift away from the fast ones of the other. Scores beyond whole units are for exact
  // blocks alone, and stay.
  static double rounded(double score) {
    if constexpr (Semiring::kIsLog && sizeof(Real) < sizeof(double)) {
      if (!(std::fabs(score) <= kMostUnits * Semiring::kUnit)) return score;
      const double power = Semiring::Quantized(score);
      return power + std::log(static_cast<double>(Vectors::number_of(score - power)));
    }
    return score;
  }

  // A score as a number times whole units; a deep one is impossible. False where neither is right.
  static bool fits_or_deep(double score, Real* number, Whole* whole, Whole* deep) {
    if (Vectors::split_value(score, number, whole)) return true;
    if (!(score < kDeep * Semiring::kUnit)) return false;
    *deep = 1;
    return true;
  }

  void build_durations(const DirectedModel& model, std::size_t width) {
    bias = AlignedArray<double>(static_cast<std::size_t>(duration) * width, kNegativeInfinity);
    for (int k = 0; k < duration; ++k) {
      for (int c = 0; c < labels; ++c) {
        bias[static_cast<std::size_t>(k) * width + static_cast<std::size_t>(c)] =
            rounded(model.duration_bias[static_cast<std::size_t>(k) * static_cast<std::size_t>(labels) +
                                        static_cast<std::size_t>(c)]);
      }
    }
    duration_numbers = AlignedArray<Real>(bias.size(), Semiring::template one<Real>());
    duration_whole = AlignedArray<Whole>(bias.size(), kDead);
    deep_durations = AlignedArray<Whole>(width, 0);
    for (int k = 1; k <= duration; ++k) {
      for (int c = 0; c < labels; ++c) {
        const std::size_t at = panel_index(c / lanes, k - 1, duration) + static_cast<std::size_t>(c % lanes);
        durations_fit = fits_or_deep(bias_or_forbidden(k, c), &duration_numbers[at], &duration_whole[at],
                                     &deep_durations[c]) &&
                        durations_fit;
      }
    }
    offset_bound = AlignedArray<double>((static_cast<std::size_t>(offsets) + 1) * width, kNegativeInfinity);
    offset_least = AlignedArray<double>(offset_bound.size(), kNegativeInfinity);
    offset_whole = AlignedArray<Whole>(offset_bound.size(), kDead);
    offset_table = AlignedArray<Real>(static_cast<std::size_t>(offsets) * kOffsetEntries * width,
                                      Semiring::template zero<Real>());
    near.table = AlignedArray<Real>(kBlock * width, Semiring::template zero<Real>());
    for (int o = 0; o <= offsets; ++o) {
      const int first = o == 0 ? 1 : kBlock * o - (kBlock - 2);
      const int entries = o == 0 ? kBlock : kOffsetEntries;
      for (int c = 0; c < labels; ++c) {
        const std::size_t at = static_cast<std::size_t>(o) * width + static_cast<std::size_t>(c);
        double& bound = offset_bound[at];
        double lowest = bias_or_forbidden(first, c);
        for (int x = 0; x < entries; ++x) {
          bound = std::max(bound, bias_or_forbidden(first + x, c));
          lowest = std::min(lowest, bias_or_forbidden(first + x, c));
        }
        if (bound == kNegativeInfinity) continue;
        offset_least[at] = lowest;
        // A start is up to two units above its scale, and what lies between whole units adds up to two more.
        if (std::fabs(bound) <= kMostUnits * Semiring::kUnit)
          offset_whole[at] = static_cast<Whole>(std::ceil(bound / Semiring::kUnit)) + 4;
        bound = Semiring::Quantized(bound);
        Real* table = o == 0 ? near.table.get() + panel_index(c / lanes, 0, kBlock)
                             : offset_table.get() + static_cast<std::size_t>(o - 1) * kOffsetEntries * width +
                                   panel_index(c / lanes, 0, kOffsetEntries);
        for (int x = 0; x < entries; ++x) {
          table[x * lanes + c % lanes] = Vectors::relative_number(bias_or_forbidden(first + x, c) - bound);
        }
      }
    }
  }

  double bias_or_forbidden(int k, int c) const {
    return k > duration ? kNegativeInfinity
                        : bias[static_cast<std::size_t>(k - 1) * static_cast<std::size_t>(padded) +
                               static_cast<std::size_t>(c)];
  }

  void build_transitions(const DirectedModel& model, std::size_t width) {
    const auto rows = static_cast<std::size_t>(labels);
    transitions.numbers = AlignedArray<Real>(rows * width, Semiring::template zero<Real>());
    transitions.logs = AlignedArray<double>(rows * width, kNegativeInfinity);
    transitions.linear = AlignedArray<double>(rows * width, 0.0);
    transitions.linear_bound = AlignedArray<double>(width, kNegativeInfinity);
    transitions.score_numbers = AlignedArray<Real>(rows * width, Semiring::template one<Real>());
    transitions.score_whole = AlignedArray<Whole>(rows * width, kDead);
    transitions.deep = AlignedArray<Whole>(width, 0);
    transitions.into_bound = AlignedArray<double>(width, kNegativeInfinity);
    transitions.out_bound = AlignedArray<double>(width, kNegativeInfinity);
    for (std::size_t c = 0; c < rows; ++c) {
      transitions.into_bound[c] = Semiring::Quantized(model.to_bound[c]);
      transitions.out_bound[c] = Semiring::Quantized(model.from_bound[c]);
    }
    for (std::size_t to = 0; to < rows; ++to) {
      for (std::size_t from = 0; from < rows; ++from) {
        const double score = rounded(model.transition[from * rows + to]);
        if (score == kNegativeInfinity) continue;
        // Rounded to Real from the same double in both directions.
        const double forward = model.direction == Direction::kForward
                                   ? (score - transitions.into_bound[to]) - transitions.out_bound[from]
                                   : (score - transitions.out_bound[from]) - transitions.into_bound[to];
        transitions.numbers[from * width + to] = Vectors::relative_number(forward);
        transitions.logs[from * width + to] = score;
        transitions.fit = fits_or_deep(score, &transitions.score_numbers[from * width + to],
                                       &transitions.score_whole[from * width + to], &transitions.deep[to]) &&
                          transitions.fit;
        transitions.linear_bound[to] = std::max(transitions.linear_bound[to], score);
      }
      if (transitions.linear_bound[to] == kNegativeInfinity) continue;
      for (std::size_t i = to; i < rows * width; i += width)
        transitions.linear[i] = std::exp(transitions.logs[i] - transitions.linear_bound[to]);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
