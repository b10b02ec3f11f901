// The exact path: one block in double logarithms, for blocks whose refused sums slow_block cannot do again,
// blocks with masks that do not count as -inf, and blocks that begin at a cut. Slow and rare; kept out of
// line so that the fast path keeps its registers. The ring's numbers come from the fast path; what the linear
// sums over them may have lost is looked up again in logarithms.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/run_state.cuh"
#include "cuda/recursion/run_types.h"
#include "cuda/tables/numbers.cuh"
#include "engine/masks.h"

namespace semicrf::cuda {

// Emission score of a token, centred but for the position shift; the team together, -inf for missing labels.
template <class Lanes>
__device__ inline double centred_score(const SequenceView& sequence, std::int64_t row, int labels,
                                       const Lanes& lanes, double* subtracted) {
  const int c = lanes.c < labels ? lanes.c : labels - 1;
  const std::int64_t at = row * labels + c;
  double value = sequence.emissions.f32 != nullptr ? static_cast<double>(sequence.emissions.f32[at])
                                                   : sequence.emissions.f64[at];
  *subtracted = 0;
  if (sequence.subtract_position_max) {
    const double most = lanes.most(lanes.valid ? value : kNone);
    if (most != kNone) {
      value -= most;
      *subtracted = most;
    }
  }
  if (sequence.baseline != nullptr) value -= sequence.baseline[c];
  return value;
}

__device__ __forceinline__ double score_at(const DeviceScores& scores, std::int64_t at) {
  if (scores.f32 != nullptr) return static_cast<double>(scores.f32[at]);
  return scores.f64 != nullptr ? scores.f64[at] : 0.0;
}

// The centred score in the precision in which the fast path sums it.
template <class Real, class Lanes>
__device__ inline Wide<Real> centred_wide(const SequenceView& sequence, std::int64_t row, int labels,
                                          const Lanes& lanes) {
  if (sequence.emissions.f32 == nullptr || sequence.subtract_position_max) {
    double subtracted;
    return Wide<Real>::of(centred_score(sequence, row, labels, lanes, &subtracted));
  }
  const int c = lanes.c < labels ? lanes.c : labels - 1;
  Wide<Real> content = Wide<Real>::of(0);
  content.high = static_cast<Real>(sequence.emissions.f32[row * labels + c]);
  if (sequence.baseline != nullptr) content.add(Wide<Real>::of(-sequence.baseline[c]));
  return content;
}

inline constexpr double kModerateScore = 1024;  // position shifts keep clear of scores within this

// A whole number near the largest score of a position, when that is large: taken out of all labels.
__device__ __forceinline__ double shift_for(double most) {
  return most != kNone && fabs(most) > kModerateScore ? floor(most) : 0.0;
}

// Whether a score without the position's shift counts as -inf. Those above that are content like any other,
// of which whole units hold two in a block.
__device__ __forceinline__ bool is_mask(const LogTables& t, const SequenceView& sequence, double score) {
  constexpr double kDepth = 5 << 18;
  static_assert(kDepth - kModerateScore > kMaskDepth);
  return score < -kDepth && t.masks_forbid != 0 && sequence.starts.f32 == nullptr &&
         sequence.starts.f64 == nullptr && sequence.ends.f32 == nullptr && sequence.ends.f64 == nullptr;
}

// What the exact path reads and writes of a run; pointers are this lane's own.
template <class Config>
struct ExactBlock {
  const SequenceView* sequence;
  RunAside* aside;
  typename Config::Exact memory;  // far: numbers relative to `bound`
  int gauge;
  double rest;
  int head, backward;
  std::int64_t block;
  int first_slot, last_slot;
  bool active, first_of_sequence;
  bool cut_start;  // segments began in the slots before first_slot, too, which lie beyond a cut
  bool deep;       // the sums over durations in `far` miss what is far below
  double bound, ring_bound;
  double base_rest;                                  // rest of logarithms over what is written out
  double alpha, tail;                                // logarithms, in and out
  double content_sum, mass;                          // out
  double *out_alpha, *out_gamma, *out_tail, *shift;  // rows of the pool and of the window, or null
};

template <class Config>
struct ExactPath {
  using Real = typename Config::Real;
  using Semiring = typename Config::Semiring;

  const TablesView<Real>& t;
  const typename Config::Lanes lanes;
  ExactBlock<Config>& x;

  __device__ int ring_index(int distance) const {
    return (x.head - distance + 2 * t.ring_blocks) % t.ring_blocks;
  }
  __device__ double ring_log(int block, int slot) const {
    return x.memory.start_log(block, slot, x.gauge, x.rest);
  }

  // e^x of a term's distance from the largest; what thirty thousand of them would not change is nothing.
  // Without a branch, so that several are on their way at a time.
  __device__ static double part(double x) {
    const double e = exp(fmax(x, -50.0));
    return x > -50.0 ? e : 0.0;
  }

  // log sum over c' of alpha(c') + T[c'][c]. By the numbers of the fast path's table, whose logarithms are
  // those of the table here, with alpha relative to the largest; over logarithms where that is too little to
  // be all. `most`: the largest alpha with its bound of transitions.
  __device__ double sum_over_sources(double most) const {
    if constexpr (Semiring::kIsLog) {
      const double* const weights = x.memory.weights;
      const Real* const column = t.transition + lanes.c;
      double sums[4] = {};
      int from = 0;
      for (; from + 3 < t.labels; from += 4) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
          sums[k] = fma(weights[from + k], static_cast<double>(column[(from + k) * t.width]), sums[k]);
      }
      for (; from < t.labels; ++from)
        sums[0] = fma(weights[from], static_cast<double>(column[from * t.width]), sums[0]);
      const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      // Lost are terms below e^kIgnore where the table has such, and below e^-700 of the weights.
      if (sum > (t.transition_vanished ? t.labels * exp(Limits<Semiring, Real>::kIgnore + 40) : 1e-280))
        return most + t.transition_bound[lanes.c] + log(sum);
    }
    return sum_of_logs_over_sources();
  }
  __device__ SEMICRF_NOINLINE double sum_of_logs_over_sources() const {
    double most = kNone;
    for (int from = 0; from < t.labels; ++from) {
      most = fmax(most, x.memory.alpha_row[from] +
                            t.transition_log[static_cast<std::int64_t>(from) * t.width + lanes.c]);
    }
    if (!Semiring::kIsLog || most == kNone) return most;
    double sum = 0;
    for (int from = 0; from < t.labels; ++from) {
      sum += part(x.memory.alpha_row[from] +
                  t.transition_log[static_cast<std::int64_t>(from) * t.width + lanes.c] - most);
    }
    return most + log(sum);
  }

  __device__ double near_term(int slot, int s) const {
    return x.memory.near[s * t.labels] + t.bias[static_cast<std::int64_t>(slot - s) * t.width + lanes.c];
  }
  __device__ int first_start() const { return x.cut_start ? 0 : x.first_slot; }
  // Far part, tail, and segments that began in this block.
  __device__ double total(int slot, double far) const {
    const int first = slot + 1 - t.duration > first_start() ? slot + 1 - t.duration : first_start();
    double most = fmax(far, x.tail);
    for (int s = first; s <= slot; ++s) most = fmax(most, near_term(slot, s));
    if (!Semiring::kIsLog || most == kNone) return most;
    double sum = part(far - most) + part(x.tail - most);
#pragma unroll 4
    for (int s = first; s <= slot; ++s) sum += part(near_term(slot, s) - most);
    return most + log(sum);
  }

  template <class Visit>
  __device__ void for_each_ring_term(int slot, Visit visit) const {
    for (int o = 1; o <= t.offsets; ++o) {
      const int block = ring_index(o);
      const int longest = kBlock * o + slot;  // duration from slot 0
      for (int q = longest + 1 - t.duration > 0 ? longest + 1 - t.duration : 0; q < kBlock; ++q) {
        visit(ring_log(block, q) + t.bias[static_cast<std::int64_t>(longest - q) * t.width + lanes.c]);
      }
    }
  }
  __device__ double ring_sum(int slot) const {
    double most = kNone;
    for_each_ring_term(slot, [&](double term) { most = fmax(most, term); });
    if (!Semiring::kIsLog || most == kNone) return most;
    double sum = 0;
    for_each_ring_term(slot, [&](double term) { sum += part(term - most); });
    return most + log(sum);
  }

  __device__ void advance_tail(int slot) {
    if (t.log_tail[lanes.c] == kNone) return;
    const int from = slot - t.duration;  // slot of gamma_{t-K-1}
    double source = kNone;
    if (from >= 0) {
      source = x.memory.near[from * t.labels];
    } else {
      const int distance = (kBlock - 1 - from) / kBlock;
      source = ring_log(ring_index(distance), kBlock * distance + from) + x.content_sum;
    }
    x.tail = combined<Semiring>(x.tail, source + t.last_bias[lanes.c]) + t.log_tail[lanes.c];
  }

  __device__ void run() {
    const double least =
        Semiring::kIsLog ? log(static_cast<double>(t.least_total)) : static_cast<double>(t.least_total);
    const bool mine = x.active && lanes.valid;
    if (mine) {
      for (int slot = 0; slot < kBlock; ++slot)
        x.memory.near[slot * t.labels] = x.cut_start && slot < x.first_slot ? t.first_scores[lanes.c] : kNone;
    }
    x.content_sum = 0;
    x.mass = 0;
    double deep = 0;
    for (int slot = 0; slot < kBlock; ++slot) {
      const bool inside = slot >= x.first_slot && slot < x.last_slot;
      lanes.sync();
      double most_source = kNone;
      if constexpr (Semiring::kIsLog) {
        const double source = mine && inside ? x.alpha + t.source_bound[lanes.c] : kNone;
        most_source = lanes.most(source);
        if (mine && inside) x.memory.weights[lanes.c] = source > kNone ? exp(source - most_source) : 0.0;
      }
      if (mine && inside) x.memory.alpha_row[lanes.c] = x.alpha;
      lanes.sync();
      // Loading needs the whole team: rows outside of the sequence are read elsewhere and not used.
      const SequenceView& sequence = *x.sequence;
      const std::int64_t position = x.block * kBlock + slot;
      const std::int64_t rounded = (sequence.length + kBlock - 1) / kBlock * kBlock;
      std::int64_t row = (x.backward ? rounded - 1 - position : position) - sequence.begin;
      const bool readable = x.active && inside;
      if (!readable) row = 0;
      double subtracted;
      double content = centred_score(sequence, row, t.labels, lanes, &subtracted);
      // The shift must be the number that the other direction finds, which may take the fast path here.
      const Wide<Real> wide = centred_wide<Real>(sequence, row, t.labels, lanes);
      const double shift =
          shift_for(static_cast<double>(lanes.most(lanes.valid ? wide.high : static_cast<Real>(kNone))));
      content -= shift;
      if (is_mask(t, sequence, content)) content = kNone;
      const int c = lanes.c < t.labels ? lanes.c : t.labels - 1;
      if (!mine || !inside) continue;
      const DeviceScores& first = x.backward ? sequence.ends : sequence.starts;
      const DeviceScores& last = x.backward ? sequence.starts : sequence.ends;
      const bool at_first = position == (x.backward ? rounded - sequence.length : 0);
      const bool at_last = position + 1 == (x.backward ? rounded : sequence.length);
      const double first_score = score_at(first, row * t.labels + c) + (at_first ? t.first_scores[c] : 0.0);
      const double last_score = score_at(last, row * t.labels + c) + (at_last ? t.last_scores[c] : 0.0);
      x.mass += shift;
      const int out_slot = x.backward ? kBlock - 1 - slot : slot;
      if (x.shift != nullptr && c == 0) x.shift[out_slot] = shift;

      const bool bare = x.first_of_sequence && slot == x.first_slot && !t.initial_transition;
      const double start = bare ? 0.0 : sum_over_sources(most_source);
      const double started = start + first_score;
      x.memory.near[slot * t.labels] = started;
      if (x.out_gamma != nullptr)
        x.out_gamma[out_slot * t.labels] = (Semiring::kIsLog ? start : started) + x.base_rest;
      if (t.tail) advance_tail(slot);
      for (int s = first_start(); s <= slot; ++s) x.memory.near[s * t.labels] += content;
      x.content_sum += content;
      x.tail += content;
      const double far =
          Ops<double, Semiring>::to_log(x.memory.far[slot * t.labels]) + x.bound + x.content_sum;
      double sum = total(slot, far);
      const bool live = x.ring_bound > kNone && x.content_sum > kNone;
      if (live && (x.deep || sum < x.bound + x.content_sum + least)) {
        sum = total(slot, ring_sum(slot) + x.content_sum);
        deep = 1;
      }
      if (x.out_tail != nullptr) x.out_tail[out_slot * t.labels] = x.tail + x.base_rest;
      x.alpha = sum + last_score;
      if (x.out_alpha != nullptr) x.out_alpha[out_slot * t.labels] = x.alpha + x.base_rest;
    }
    const int fallbacks = lanes.most(mine ? deep : 0.0) > 0 ? 1 : 0;
    // Every lane of the team knows the mass; lanes without a label did not count it.
    x.mass = lanes.most(mine ? x.mass : kNone);
    if (!x.active) return;
    x.aside->mass += x.mass;
    x.aside->fallbacks += fallbacks;
    x.aside->tail_log = x.tail;
  }
};

// Sums of moderate scores, and the numbers whose logarithms they are.
//
// A sum of 16 scores up to kModerateScore that loses nothing of what a float needs in an exponent: high parts
// are multiples of 2^-9, so that they add up exactly; what they lack is small.
template <class Real>
struct ExponentSum;
template <>
struct ExponentSum<double> {
  double high;
  __device__ __forceinline__ static ExponentSum of(double x) { return {x}; }
  __device__ __forceinline__ static ExponentSum exactly(double x) { return {x}; }
  __device__ __forceinline__ void add(ExponentSum other) { high += other.high; }
  __device__ __forceinline__ double value() const { return high; }
};
template <>
struct ExponentSum<float> {
  float high, low;
  // The sum that is exactly a score.
  __device__ __forceinline__ static ExponentSum exactly(float x) {
    constexpr float kRound = 24576.0f;  // 1.5 x 2^14
    const float high = __fsub_rn(__fadd_rn(x, kRound), kRound);
    return {high, __fsub_rn(x, high)};
  }
  __device__ __forceinline__ static ExponentSum of(double x) {
    const float high = exactly(static_cast<float>(x)).high;
    return {high, static_cast<float>(x - static_cast<double>(high))};
  }
  __device__ __forceinline__ void add(ExponentSum other) {
    high = __fadd_rn(high, other.high);
    low = __fadd_rn(low, other.low);
  }
  __device__ __forceinline__ double value() const {
    return static_cast<double>(high) + static_cast<double>(low);
  }
};
// The number whose logarithm is x, with units that have a bias on top.
template <class Real, class Semiring>
inline constexpr int kBiasOfSums = sizeof(Real) == sizeof(float) && Semiring::kIsLog ? kExponentialBias : 0;
template <class Real, class Semiring>
__device__ __forceinline__ Scaled<Real> biased(ExponentSum<Real> x) {
  if constexpr (sizeof(Real) == sizeof(double)) {
    return Ops<Real, Semiring>::scaled_from_log(x.high);
  } else if constexpr (Semiring::kIsLog) {
    return exponential_sum(x.high, x.low);
  } else {
    const float whole = rintf(x.high);
    return {(x.high - whole) + x.low, static_cast<int>(whole)};
  }
}
template <class Real, class Semiring>
__device__ __forceinline__ Scaled<Real> scaled(ExponentSum<Real> x) {
  const Scaled<Real> result = biased<Real, Semiring>(x);
  return {result.number, result.units - kBiasOfSums<Real, Semiring>};
}

}  // namespace semicrf::cuda
