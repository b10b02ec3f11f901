// What a block on the fast path is put together of; for BlockRun and slow_block.
#pragma once

#include "cuda/recursion/block/block_factors.cuh"
#include "cuda/recursion/block/block_far.cuh"
#include "cuda/recursion/block/block_fast.cuh"
#include "cuda/recursion/run_state.cuh"

namespace semicrf::cuda {

inline constexpr int kMostGauge = 1 << 24;

// What a block hands on: alpha's scale at its last boundary, and how the ring's gauge moves.
template <class Real>
struct BlockMove {
  bool something;  // alpha is not zero
  int within;      // units in alpha's number
  int scale;       // and its scale before the shift
  int largest;     // scale of the team's labels; kEmpty: none has an alpha
  int shift, gauge;
  double rest;
  // Starts in the ring: the largest becomes a number in [1, 2), or in [0, 1) (max).
  bool has_starts, vanished;
  int up;
  Real by;
};

template <class Config>
class BlockParts {
 public:
  using Real = typename Config::Real;
  using Semiring = typename Config::Semiring;
  using Lanes = typename Config::Lanes;
  using Memory = typename Config::Memory;
  using Exact = typename Config::Exact;
  using O = typename Config::O;
  using L = typename Config::L;
  static constexpr int kRows = Config::kRows;
  static constexpr int kMostGrowth = static_cast<int>(100 / Semiring::kUnit);
  // Of a run's first block, when nothing is known: alpha may then grow by 1e38 along it, or shrink by 1e-21.
  // In the max semiring nothing overflows, and numbers near 0 have the most bits.
  static constexpr int kFirstGrowth = Semiring::kIsLog ? 57 : 0;

  __device__ __forceinline__ BlockParts(const RunParameters<Real>& p, const Lanes& lanes,
                                        const Memory& memory, RunAside& aside)
      : p_(p), t_(p.tables), lanes_(lanes), m_(memory), far_(p.tables, memory), aside_(aside) {
    load_label();
  }

 protected:
  // Again after a call out of line, so that no register holds the tables meanwhile.
  __device__ __forceinline__ void load_label() {
    const int label = lanes_.c < t_.labels ? lanes_.c : t_.labels - 1;
    label_.label = label;
    label_.into = t_.transition_units[label];
    label_.out_of = t_.source_units[label];
    label_.near_bound = t_.duration_bound[label];
#pragma unroll
    for (int i = 0; i < kBlock; i += 4) load4(t_.near_table + label * kBlock + i, label_.near + i);
    if constexpr (kRows > 0) {
#pragma unroll
      for (int from = 0; from < kRows; ++from)
        label_.transition[from] = from < t_.labels ? t_.transition[from * t_.width + label] : O::zero();
    }
  }

  __device__ __forceinline__ Exact exact() const { return exact_memory<Config>(p_, m_, lanes_.c); }
  __device__ __forceinline__ int direction() const { return p_.backward ? -1 : 1; }
  __device__ __forceinline__ std::int64_t boundary_of(std::int64_t r) const {
    return p_.backward ? aside_.rounded - r : r;
  }
  __device__ __forceinline__ int ring_before(int head, int distance) const {
    const int j = head - distance;
    return j < 0 ? j + t_.ring_blocks : j;
  }
  // Of the block that is next.
  __device__ __forceinline__ std::int64_t row(const RunState<Real>& s) const {
    return aside_.place.row +
           static_cast<std::int64_t>(direction() * kBlock) * (aside_.place.blocks - s.left);
  }
  __device__ __forceinline__ std::int64_t store_row(const RunState<Real>& s) const {
    return aside_.place.store_row +
           static_cast<std::int64_t>(direction() * kBlock) * (aside_.place.blocks - s.left);
  }
  __device__ __forceinline__ BlockCut cut() const {
    const Place& at = aside_.place;
    return {at.first, at.last, at.first_of_sequence && !t_.initial_transition};
  }
  // Two flags in turn: who reads one late must not see the next block's.
  __device__ __forceinline__ int& regauge(int parity) const { return static_cast<int*>(m_.regauge)[parity]; }

  // Distances that the leading warps sum up themselves.
  __device__ __forceinline__ int far_alone() const {
    if constexpr (Lanes::kTeam) {
      if (lanes_.has_helpers()) return t_.offsets < 1 ? t_.offsets : 1;
    }
    return t_.offsets;
  }
  // The largest bound over the ring, as its numbers are at the boundary reached.
  __device__ __forceinline__ int ring_bound(const RunState<Real>& s, int parity) const {
    int ring = kEmpty;
    if constexpr (Lanes::kTeam) {
      if (lanes_.valid) {
        ring = far_.bound(s.head, 1, far_alone());
        if (lanes_.has_helpers()) ring = larger(ring, far_.bound_of_parts(lanes_, parity));
      }
    } else if (lanes_.c < Lanes::kTableWidth) {
      ring = far_.bound(s.head, 1, t_.offsets);
    }
    return is_empty(ring) ? ring : ring + s.gauge;
  }
  // The largest tail of the block, sources within it left out.
  __device__ __forceinline__ int tail_bound(const RunState<Real>& s) const {
    const double decay = t_.log_tail[label_.label];
    const int open = units_of<Semiring>(aside_.tail_log - s.rest + decay);
    int oldest = kEmpty;
    if (lanes_.has_memory()) {
      oldest = m_.ring.scale(ring_before(s.head, t_.ring_blocks));
      if (t_.ring_blocks > 1) oldest = larger(oldest, m_.ring.scale(ring_before(s.head, t_.ring_blocks - 1)));
    }
    const int last = units_of<Semiring>(t_.last_bias[label_.label] + decay);
    const bool enters = !is_far_below(oldest) && !is_empty(last);
    return enters ? larger(open, oldest + s.gauge + last) : open;
  }

  __device__ __forceinline__ BlockScales scales_of(const RunState<Real>& s, int ring, bool edges) const {
    BlockScales scales;
    // The largest alpha typically grows along a block as it did along the last one.
    scales.common = s.growth >> 1;
    int start = scales.common + label_.into + label_.near_bound;
    if (edges) {
      const Place& at = aside_.place;
      const std::int64_t first_row = at.running ? row(s) + direction() * at.first : 0;
      const DeviceScores& scores = p_.backward ? aside_.sequence->ends : aside_.sequence->starts;
      const double first = score_at(scores, first_row * t_.labels + label_.label) +
                           (at.first_here ? t_.first_scores[label_.label] : 0.0);
      const int units = units_of<Semiring>(first);
      start = is_far_below(units) ? kEmpty : start + units;
    }
    int bound = larger(ring, start);
    if (t_.tail) bound = larger(bound, tail_bound(s));
    scales.idle_sums = is_empty(bound);
    scales.idle_starts = is_empty(label_.into);
    scales.bound = scales.idle_sums ? scales.common : bound;
    scales.to_alpha = scales.bound - scales.common + label_.out_of;
    scales.to_near = scales.common + label_.into + label_.near_bound - scales.bound;
    return scales;
  }

  __device__ __forceinline__ void sum_far(const RunState<Real>& s, int parity, Real (&sums)[kBlock],
                                          int bound) const {
    far_.clear(sums);
    if constexpr (Lanes::kTeam) {
      if (!lanes_.valid) return;
      far_.add(sums, s.head, 1, far_alone(), bound - s.gauge);
      if (lanes_.has_helpers()) far_.add_parts(sums, lanes_, parity, bound - s.gauge);
    } else {
      if (lanes_.c < Lanes::kTableWidth) far_.add(sums, s.head, 1, t_.offsets, bound - s.gauge);
    }
  }

  // --- factors that plain_factors() does not find ---

  __device__ __forceinline__ FactorSource factor_source(const RunState<Real>& s, bool readable) const {
    const Place& at = aside_.place;
    FactorSource source;
    source.row = readable ? row(s) : 0;
    source.step = readable ? direction() : 0;
    source.first = at.first;
    source.last = at.last;
    source.rest = s.rest;
    source.first_here = at.first_here;
    source.last_here = at.last_here;
    source.edges = at.edges;
    source.backward = p_.backward != 0;
    source.shift = at.storing && p_.store.shift != nullptr ? p_.store.shift + store_row(s) : nullptr;
    return source;
  }

  // All lanes together. Where the team's block is a `longer` one its factors replace those that
  // plain_factors() found, and its start factors are returned, else null. Blocks of teams that run `mine`
  // have no position shifts where no team needs the long way. `tables`: those whose address functions out of
  // line may have.
  __device__ __forceinline__ const Real* long_factors(const TablesView<Real>& tables, const RunState<Real>& s,
                                                      bool mine, bool longer, Real (&alpha_factor)[kBlock],
                                                      FactorRange<Real>* range,
                                                      BlockFactors<Real>* factors) const {
    if (lanes_.any_team(longer)) [[unlikely]] {
      block_factors<Real, Semiring, Lanes>(tables, *aside_.sequence, factor_source(s, mine), lanes_, factors);
      // What other teams need must not change a digit of this one's.
      if (lanes_.any(longer)) {
        *range = factors->range;
#pragma unroll
        for (int slot = 0; slot < kBlock; ++slot) alpha_factor[slot] = factors->alpha[slot];
        return factors->start;
      }
    } else if (p_.store.shift != nullptr && mine && aside_.place.storing && lanes_.valid && lanes_.c == 0) {
      double* shift = p_.store.shift + store_row(s);
      for (int slot = 0; slot < kBlock; ++slot) shift[slot] = 0;
    }
    return nullptr;
  }

  // --- tails ---

  __device__ __forceinline__ void fill_tail(const RunState<Real>& s, int bound, BlockTail<Real>* tail) const {
    const int label = label_.label;
    // On a scale of its own: it may be far below the sums now, and count again when the ring forgets what
    // outweighs it. With sources within the block on that of the sums.
    tail->bound = t_.duration >= kBlock ? tail_bound(s) : bound;
    if (is_far_below(tail->bound)) tail->bound = bound;
    tail->to_sum = O::of_units(tail->bound - bound);
    const double bound_log = tail->bound * Semiring::kUnit;
    tail->number = O::from_log(aside_.tail_log - s.rest - bound_log);
    tail->decay = t_.tail_factor[label];
    tail->old_block = ring_before(s.head, t_.ring_blocks);
    tail->new_block = t_.ring_blocks > 1 ? ring_before(s.head, t_.ring_blocks - 1) : tail->old_block;
    tail->first_new = t_.duration - kBlock * (t_.ring_blocks - 1);
    const auto factor = [&](int block) {
      if (!lanes_.valid) return O::zero();
      const double log = exact().log_scale(block, s.gauge, 0.0);
      return O::from_log(log + t_.last_bias[label] - bound_log);
    };
    tail->old_factor = factor(tail->old_block);
    tail->new_factor = factor(tail->new_block);
    // Not from label_: an index that is not a constant would put all of this object into memory.
    tail->here_factor = t_.duration <= kBlock ? t_.near_table[label * kBlock + t_.duration - 1] : O::zero();
    tail->here = exact().near;
    tail->out = nullptr;
    tail->out_step = p_.backward ? -t_.labels : t_.labels;
    tail->out_factor = O::from_log(Wide<Real>::of(s.rest));
    tail->least = O::one();
  }
  __device__ __forceinline__ bool tail_certified(const BlockTail<Real>& tail) const {
    const bool idle = !lanes_.valid || t_.log_tail[label_.label] == kNone ||
                      (t_.duration >= kBlock && aside_.tail_log == kNone &&
                       is_empty(m_.ring.scale(tail.old_block)) && is_empty(m_.ring.scale(tail.new_block)));
    return idle ||
           (tail.least >= static_cast<Real>(L::kSmallest) && tail.number <= static_cast<Real>(L::kLargest));
  }

  // --- the recursion ---

  template <bool kCut>
  __device__ __forceinline__ void recur(const RunState<Real>& s, const BlockScales& scales,
                                        const Real (&alpha_factor)[kBlock], const Real* start_factors,
                                        BlockTail<Real>* tail, Real (&sums)[kBlock],
                                        BlockResult<Real>* result) const {
    if (t_.tail) fill_tail(s, scales.bound, tail);
    BlockWindow<Real> window{nullptr, nullptr, p_.backward ? -t_.labels : t_.labels};
    if (p_.store.alpha.numbers != nullptr && aside_.place.storing && lanes_.valid) {
      const std::int64_t first = (store_row(s) + (p_.backward ? kBlock - 1 : 0)) * t_.labels + lanes_.c;
      window.alpha = p_.store.alpha.numbers + first;
      window.gamma = p_.store.gamma.numbers + first;
      if (t_.tail && p_.store.tail.numbers != nullptr) tail->out = p_.store.tail.numbers + first;
    }
    const Real first_factor = O::from_log(Wide<Real>::of(s.rest).negated());
    Real alpha = O::of_units(s.carry_scale - scales.common + label_.out_of);
    alpha = lanes_.valid && !is_far_below(s.carry_scale) ? O::times(alpha, s.carry) : O::zero();
    const FastBlock<Config> block(t_, m_, lanes_, label_);
    const BlockCut cut = kCut ? this->cut() : BlockCut();
    const auto recursion = [&](auto has_tail, auto stores) {
      block.template run<decltype(has_tail)::value, decltype(stores)::value, kCut>(
          alpha, first_factor, alpha_factor, start_factors, scales, cut, window, tail, sums, result);
    };
    // What a model or a pass does without is not in the way of the others.
    if (t_.tail) {
      recursion(std::true_type(), std::true_type());
    } else if (kRows == 0 || p_.store.alpha.numbers != nullptr) {
      recursion(std::false_type(), std::true_type());
    } else {
      recursion(std::false_type(), std::false_type());
    }
  }

  __device__ __forceinline__ bool certified(const RunState<Real>& s, const BlockScales& scales, int ring,
                                            const FactorRange<Real>& range, const BlockTail<Real>& tail,
                                            const BlockResult<Real>& result) const {
    const FastBlock<Config> block(t_, m_, lanes_, label_);
    bool good = block.certified(scales, range, result);
    good = good && !s.impossible && !t_.too_large && (!is_far_below(ring) || is_empty(ring));
    if (t_.tail) good = good && tail_certified(tail);
    return good;
  }

  // --- after the recursion ---

  // All lanes together; `mine`: the team's block was fast.
  __device__ __forceinline__ BlockMove<Real> move_of(const RunState<Real>& s, const BlockScales& scales,
                                                     const FactorRange<Real>& range,
                                                     const BlockResult<Real>& result, bool mine) const {
    BlockMove<Real> move;
    move.something = lanes_.valid && result.stored > O::zero();
    move.within = move.something ? O::units_in(result.stored) : 0;
    move.scale = move.something ? scales.bound + move.within : kEmpty;
    move.largest = lanes_.most(mine ? move.scale : kEmpty);
    move.shift = is_empty(move.largest) ? 0 : move.largest;
    // Moves of the content's whole units go into the gauge.
    const double units = rint(range.sum * (1 / Semiring::kUnit));
    move.rest = fma(-units, Semiring::kUnit, range.sum);
    move.gauge = s.gauge + static_cast<int>(units) - move.shift;
    move.has_starts = lanes_.valid && result.most_gamma > O::zero();
    move.vanished = false;
    move.up = 0;
    move.by = O::one();
    if constexpr (Semiring::kIsLog) {
      if (move.has_starts) {
        move.up = exponent_of(result.most_gamma);
        move.by = power_of_two(-move.up, Real());
        move.vanished = move.up - (result.least_gamma > Real(0) ? exponent_of(result.least_gamma) : -100000) >
                        L::kWidestRange;
      }
    } else if (move.has_starts) {
      move.up = O::units_in(result.most_gamma);
      move.by = -static_cast<Real>(move.up);
    }
    return move;
  }

  // Starts go into the ring. `gauge`: less that of the block's first boundary, to which their scales belong.
  __device__ __forceinline__ void keep_starts_of(const RunState<Real>& s, const BlockScales& scales,
                                                 const BlockResult<Real>& result, const BlockMove<Real>& move,
                                                 int gauge) const {
    m_.ring.scale(s.head) = move.has_starts ? scales.common + label_.into + move.up + gauge : kEmpty;
    Real* to = m_.ring.block(s.head);
#pragma unroll
    for (int i = 0; i < kBlock; i += 4) {
      store4(to + m_.ring.part(i / 4), O::times(result.gamma[i], move.by),
             O::times(result.gamma[i + 1], move.by), O::times(result.gamma[i + 2], move.by),
             O::times(result.gamma[i + 3], move.by));
    }
  }

  // The logarithms of the starts as well, where some have `vanished`; where not, those of an earlier block
  // are not to be taken for them.
  __device__ __forceinline__ void keep_logs_of(RunState<Real>& s, const BlockResult<Real>& result,
                                               const BlockMove<Real>& move, bool vanished) const {
    s.logs_left = vanished ? t_.ring_blocks : s.logs_left - 1;
    if (!lanes_.valid) return;
    const Exact memory = exact();
    if (lanes_.c == 0) memory.has_log[s.head] = vanished ? 1 : 0;
    if (!vanished) return;
    // A copy: the address of `result` would put it into memory.
    StartNumbers<Real> numbers;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) numbers.start[slot] = result.gamma[slot];
    keep_logs(memory, s.head, numbers, move.up);
  }

  // What the messages of a fast block are relative to.
  __device__ __forceinline__ void store_scales(const RunState<Real>& s, const BlockScales& scales,
                                               const FactorRange<Real>& range, const BlockTail<Real>& tail,
                                               const BlockResult<Real>& result) const {
    const std::int64_t block = store_row(s) / kBlock;
    double nats_rest;
    const double nats = whole_nats<Semiring>(s.base, &nats_rest);
    if (!lanes_.valid) return;
    const std::int64_t to = block * t_.labels + lanes_.c;
    p_.store.alpha.scale[to] = scales.bound * Semiring::kUnit + nats_rest;
    if (p_.store.tail.numbers != nullptr) p_.store.tail.scale[to] = tail.bound * Semiring::kUnit + nats_rest;
    const int start = scales.common + label_.into;
    p_.store.gamma.scale[to] = log_of_units<Semiring>(start) + nats_rest + (Semiring::kIsLog ? 0.0 : s.rest);
    p_.store.content[to] = range.sum - s.rest;
    double most = kNone;
    if (result.most_gamma > O::zero()) {
      most = (start + O::units_in(result.most_gamma)) * Semiring::kUnit + s.rest + nats_rest;
      if (!Semiring::kIsLog)
        most = start * Semiring::kUnit + static_cast<double>(result.most_gamma) + s.rest + nats_rest;
    }
    p_.store.gamma_bound[to] = most;
    if (lanes_.c == 0) {
      p_.store.base[block] = nats;
      p_.store.mass[block] = aside_.mass;
      p_.store.exact[block] = 0;
    }
  }

  // The next boundary is reached.
  __device__ __forceinline__ void move_on(RunState<Real>& s, const BlockScales& scales,
                                          const FactorRange<Real>& range, const BlockTail<Real>& tail,
                                          const BlockResult<Real>& result,
                                          const BlockMove<Real>& move) const {
    if (t_.tail) {
      // The decay was rounded to a Real 16 times over.
      aside_.tail_log = O::to_log(tail.number) + (tail.bound - move.shift) * Semiring::kUnit + range.sum +
                        t_.tail_correction[label_.label];
    }
    s.carry = move.something ? O::less_units(result.stored, move.within) : O::zero();
    s.carry_scale = move.something ? move.scale - move.shift : kEmpty;
    s.impossible = is_empty(move.largest);
    s.growth = larger(-kMostGrowth, smaller(move.shift, kMostGrowth));
    s.base += move.shift;
    s.rest = move.rest;
    s.gauge = move.gauge;
  }

  // alpha given as a logarithm; the units of the largest go into the base.
  __device__ __forceinline__ void take_alpha(RunState<Real>& s, double alpha, bool mine) const {
    const double largest = lanes_.most(mine && lanes_.valid ? alpha : kNone);
    if (!mine) return;
    s.impossible = largest == kNone;
    const double shift = s.impossible ? 0.0 : floor(largest * (1 / Semiring::kUnit));
    s.base += shift;
    const double bounded =
        fmin(fmax(shift, static_cast<double>(-kMostGrowth)), static_cast<double>(kMostGrowth));
    s.growth = static_cast<int>(bounded);
    alpha -= shift * Semiring::kUnit;
    aside_.tail_log -= shift * Semiring::kUnit;
    s.carry_scale = lanes_.valid ? units_of<Semiring>(alpha) : kEmpty;
    s.carry = O::zero();
    if (!is_far_below(s.carry_scale)) {
      const double rest = alpha - s.carry_scale * Semiring::kUnit;
      s.carry = static_cast<Real>(Semiring::kIsLog ? exp(rest) : rest);
    } else if (lanes_.valid) {
      *exact().alpha = alpha;
    }
  }
  __device__ __forceinline__ double alpha_log(const RunState<Real>& s) const {
    if (!lanes_.valid || is_empty(s.carry_scale)) return kNone;
    if (is_far_below(s.carry_scale)) return *exact().alpha;
    return O::to_log(s.carry) + s.carry_scale * Semiring::kUnit;
  }

  const RunParameters<Real>& p_;
  const TablesView<Real>& t_;
  const Lanes lanes_;
  const Memory& m_;
  const FarPart<Config> far_;
  LabelTables<Config> label_;
  RunAside& aside_;
};

}  // namespace semicrf::cuda
