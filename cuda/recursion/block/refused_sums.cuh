// Sums that the certificate refused, again: each feeds its own label alone (docs/algorithm.md, section 11).
// Those over durations with whole units for every term, those over sources in double logarithms. Only
// slow_block comes here.
#pragma once

#include "cuda/recursion/block/block_far.cuh"
#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/run_state.cuh"

namespace semicrf::cuda {

// What a lane adds up of its label. Numbers are relative to whole units as the sums of the block are: without
// the rest of the gauge, and without the content of the block.
template <class Config>
class RefusedSums {
 public:
  using Real = typename Config::Real;
  using Semiring = typename Config::Semiring;
  using O = typename Config::O;

  // `alpha`, `tail`: of the block's first boundary, the former as a logarithm.
  __device__ RefusedSums(const TablesView<Real>& t, const typename Config::Memory& m,
                         const typename Config::Lanes& lanes, const typename Config::Exact& exact,
                         const BlockRecord<Real>& record, int label, int head, int gauge, double alpha,
                         Scaled<Real> tail)
      : t_(t),
        lanes_(lanes),
        far_(t, m),
        exact_(exact),
        record_(record),
        label_(label),
        head_(head),
        gauge_(gauge),
        alpha_(alpha),
        tail_(tail) {}

  // At the right boundary of a slot, up to which the record has the block's starts; slots only rise. False
  // where a term lies beyond what units hold, or (max) has too few digits: only the exact path knows the sum.
  __device__ SEMICRF_NOINLINE bool at(int slot, Scaled<Real>* sum) {
    if (!used_) find_far(slot);
    used_ = true;
    if (t_.tail) advance_tail(slot);
    *sum = near(slot);
    if (record_.cut < 0) *sum = together(*sum, far_sums_[slot]);
    if (t_.tail) *sum = together(*sum, tail_);
    if (!(sum->number > O::zero())) *sum = {O::zero(), 0};
    return known_ && doubts_[slot] < sum->units;
  }
  __device__ bool used() const { return used_; }

  // G at the left boundary of a slot, up to which the record has the alphas, with all its units. All lanes
  // together, for those that want it.
  __device__ SEMICRF_NOINLINE Scaled<Real> over_sources(int slot, bool wanted) const {
    double alpha = alpha_;
    if (slot > 0) {
      const Scaled<Real> before = record_.alphas[slot - 1];
      alpha = before.number > O::zero() ? O::to_log(before.number) + before.units * Semiring::kUnit : kNone;
    }
    lanes_.sync();
    if (lanes_.valid) exact_.alpha_row[label_] = alpha;
    lanes_.sync();
    if (!wanted) return {O::zero(), 0};
    const auto term = [&](int from) {
      return exact_.alpha_row[from] + t_.transition_log[static_cast<std::int64_t>(from) * t_.width + label_];
    };
    double most = kNone;
    for (int from = 0; from < t_.labels; ++from) most = fmax(most, term(from));
    if (!Semiring::kIsLog || most == kNone) return O::scaled_from_log(most);
    double sum = 0;
    for (int from = 0; from < t_.labels; ++from) sum += exp(fmax(term(from) - most, -700.0));
    return O::scaled_from_log(most + log(sum));
  }

 private:
  // Units below the largest term beyond which tens of thousands of terms change no digit.
  static constexpr int kReach = !Semiring::kIsLog ? 4 : (sizeof(Real) == sizeof(double) ? 75 : 46);
  static constexpr int kFewDigits = 80;  // max: larger numbers have too few

  // A number in [1, 2), or [0, 1), and its units; kEmpty: there is none.
  __device__ static Scaled<Real> normal(Scaled<Real> x) {
    if (!(x.number > O::zero())) return {O::zero(), kEmpty};
    const int units = O::units_in(x.number);
    return {O::times(x.number, O::of_units(-units)), x.units + units};
  }

  // Segments that began in earlier blocks, at the right boundaries of a slot and of those after it.
  __device__ void find_far(int from) {
    if (t_.scores_fit == 0) known_ = false;
#pragma unroll 8
    for (int k = 0; k < kBlock; ++k) {
      near_scores_[k] = t_.score_numbers[label_ + k * t_.width];
      near_units_[k] = t_.score_units[label_ + k * t_.width];
    }
    for (int slot = from; slot < kBlock; ++slot) {
      far_sums_[slot] = {O::zero(), kEmpty};
      doubts_[slot] = kEmpty;
    }
    int least = kEmpty;  // units that the sums have at least
    for (int o = 1; o <= t_.offsets; ++o) {
      const int bound = far_.largest(head_, o);
      if (is_empty(bound)) continue;
      if (is_far_below(bound)) known_ = false;
      if (bound + gauge_ + 4 < least - kReach) continue;
      least = add_distance(o, from);
    }
  }
  // Returns the units of the least of the sums.
  __device__ int add_distance(int o, int from) {
    Real starts[kBlock], scores[2 * kBlock];
    int units[kBlock], score_units[2 * kBlock];
    bool few_digits = load_starts(block_before(o), starts, units);
    const std::int64_t first = static_cast<std::int64_t>(kBlock * o - kBlock + 1) * t_.width + label_;
#pragma unroll 8
    for (int x = 0; x < 2 * kBlock - 1; ++x) {
      scores[x] = t_.score_numbers[first + x * t_.width];
      score_units[x] = t_.score_units[first + x * t_.width];
    }
    int least = 1 << 30;
#pragma unroll 1
    for (int slot = from; slot < kBlock; ++slot) {
      // Entry x is duration 16 o - 14 + x: that of start q and this boundary is slot - q + 15.
      const int last = slot + kBlock - 1;
      int top = kEmpty;
#pragma unroll
      for (int q = 0; q < kBlock; ++q) top = larger(top, units[q] + score_units[last - q]);
      if (!is_empty(top)) {
        Real sum = O::zero();
#pragma unroll
        for (int q = 0; q < kBlock; ++q) {
          const Real by = O::of_units_in_range(units[q] + score_units[last - q] - top);
          sum = O::times_plus(O::times(starts[q], scores[last - q]), by, sum);
        }
        far_sums_[slot] = together(far_sums_[slot], {sum, top});
        if (few_digits) doubts_[slot] = larger(doubts_[slot], top + kReach);
      }
      least = smaller(least, far_sums_[slot].units);
    }
    return least;
  }
  // The starts of a block of the ring. Returns whether some have too few digits (max).
  __device__ bool load_starts(int j, Real (&numbers)[kBlock], int (&units)[kBlock]) const {
    const int scale = exact_.ring.scale(j) + gauge_;
    bool few_digits = false;
#pragma unroll 8
    for (int q = 0; q < kBlock; ++q) {
      const Scaled<Real> start = normal(exact_.row_scaled(j, q));
      numbers[q] = start.number;
      units[q] = start.units + scale;
      if (!Semiring::kIsLog && sizeof(Real) == sizeof(float))
        few_digits =
            few_digits || (start.units < -kFewDigits && !is_empty(start.units) && exact_.has_log[j] == 0);
    }
    return few_digits;
  }
  // Segments that began in the block, up to a slot.
  __device__ Scaled<Real> near(int slot) const {
    const int first = larger(record_.cut + 1, slot + 1 - t_.duration);
    int top = kEmpty;
#pragma unroll 4
    for (int s = first; s <= slot; ++s) {
      const Scaled<Real> start = record_.starts[s];
      if (start.number > O::zero())
        top = larger(top, start.units + O::units_in(start.number) + near_units_[slot - s]);
    }
    if (is_empty(top)) return {O::zero(), kEmpty};
    Real sum = O::zero();
#pragma unroll 4
    for (int s = first; s <= slot; ++s) {
      const Scaled<Real> start = record_.starts[s];
      if (start.number > O::zero())
        sum = O::times_plus(O::times(start.number, near_scores_[slot - s]),
                            O::of_units(start.units + near_units_[slot - s] - top), sum);
    }
    return {sum, top};
  }

  // tail_t = q (tail_{t-1} + gamma_{t-K-1} e^{B[K]}), up to the slot's right boundary.
  __device__ void advance_tail(int slot) {
    const double decay = t_.log_tail[label_];
    if (decay == kNone) return;
    if (record_.cut >= 0) {
      // Nothing is open longer than K; with K < 16 the block is left to the exact path.
      tail_ = {O::zero(), 0};
      return;
    }
    const Scaled<Real> factor = O::scaled_from_log(decay);
    const double last = t_.last_bias[label_];
    if (last < -kWidestScale * Semiring::kUnit && last > kNone) known_ = false;
    const Scaled<Real> entering = O::scaled_from_log(last);
    for (; next_ <= slot; ++next_) {
      const int from = next_ - t_.duration;  // slot of gamma_{t-K-1}
      Scaled<Real> source{O::zero(), 0};
      if (from >= 0) {
        source = record_.starts[from];
      } else {
        const int distance = (kBlock - 1 - from) / kBlock;
        const int j = block_before(distance);
        const int scale = exact_.ring.scale(j);
        if (is_far_below(scale)) {
          if (!is_empty(scale)) known_ = false;
        } else {
          source = exact_.row_scaled(j, kBlock * distance + from);
          source.units += scale + gauge_;
        }
      }
      source = {O::times(source.number, entering.number), source.units + entering.units};
      tail_ = together(tail_, source);
      tail_ = {O::times(tail_.number, factor.number), tail_.units + factor.units};
    }
  }
  __device__ static Scaled<Real> together(Scaled<Real> a, Scaled<Real> b) {
    if (!(a.number > O::zero())) return b;
    if (!(b.number > O::zero())) return a;
    const int top = larger(a.units + O::units_in(a.number), b.units + O::units_in(b.number));
    return {O::plus(O::times(a.number, O::of_units(a.units - top)),
                    O::times(b.number, O::of_units(b.units - top))),
            top};
  }

  __device__ int block_before(int distance) const {
    const int j = head_ - distance;
    return j < 0 ? j + t_.ring_blocks : j;
  }

  const TablesView<Real>& t_;
  const typename Config::Lanes& lanes_;
  const FarPart<Config> far_;
  const typename Config::Exact exact_;
  const BlockRecord<Real>& record_;
  const int label_, head_, gauge_;
  const double alpha_;
  Scaled<Real> tail_;
  int next_ = 0;  // slot the tail has not reached yet
  bool known_ = true, used_ = false;
  Real near_scores_[kBlock];  // scores of durations within the block
  int near_units_[kBlock];
  Scaled<Real> far_sums_[kBlock];
  int doubts_[kBlock];  // sums that few digits went into have at most these units
};

}  // namespace semicrf::cuda
