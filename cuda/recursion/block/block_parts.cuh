// What a block on the fast path is put together of; for BlockRun and slow_block.
#pragma once

#include "cuda/recursion/block/block_factors.cuh"
#include "cuda/recursion/block/block_far.cuh"
#include "cuda/recursion/block/block_fast.cuh"
#include "cuda/recursion/run_state.cuh"

namespace semicrf::cuda {

inline constexpr int kMostGauge = 1 << 24;
inline constexpr double kTailRange = 60;        // between the tails of a block that are stored as numbers
inline constexpr double kLowestTail = -1e6;     // B[K] below it: only the exact path knows the tail
inline constexpr int kMostTailUnits = 1 << 28;  // beyond them a tail is kept as a logarithm,
inline constexpr double kMostLacking = 1e-4;    // or where so much is lacking of 16 decays

// What a block hands on: alpha's scale at its last boundary, and how the ring's gauge moves.
template <class Real>
struct BlockMove {
  Scaled<Real> alpha;
  int shift, gauge;
  double rest;
  // Starts in the ring: the largest becomes a number in [1, 2), or in [0, 1) (max).
  int starts;     // units of the largest; kEmpty: all are zero
  bool vanished;  // beside it some that are newer become zero
};

// What is known of a block when the code for it is compiled. Plain ones have scores that are read as they
// are, of moderate size, and no tail, or K >= 16.
template <bool kPlainBlock, bool kMayStore, bool kMayHaveTail, bool kHasEdges = false>
struct BlockTraits {
  static constexpr bool kEdges = kHasEdges;  // boundary scores, too
  static constexpr bool kPlain = kPlainBlock;
  static constexpr bool kStores = kMayStore;
  static constexpr bool kTail = kMayHaveTail;
};
using AnyBlock = BlockTraits<false, true, true>;

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
  static constexpr int kNear = LabelTables<Config>::kNear;
  // Units between the starts of a block, beyond which some of them are no numbers, or (max) have few digits.
  static constexpr int kMostSpread = L::kWidestRange;

  __device__ __forceinline__ BlockParts(const RunParameters<Real>& p, const Lanes& lanes,
                                        const Memory& memory, RunAside& aside)
      : p_(p), t_(p.tables), lanes_(lanes), m_(memory), aside_(aside) {
    load_label();
  }

 protected:
  // Again after a call out of line, and in every loop over blocks, so that no register holds the tables
  // meanwhile: what the compiler does not know to be the same label is read anew.
  __device__ __forceinline__ void load_label() {
    const int label = in_register(lanes_.c < t_.labels ? lanes_.c : t_.labels - 1);
    label_.label = label;
    label_.into = t_.transition_units[label];
    label_.level = t_.level_units[label];
    label_.to_source = lanes_.valid ? O::of_units(t_.source_units[label] - label_.level) : O::zero();
    label_.near_bound = t_.duration_bound[label];
    label_.has_near = !is_far_below(label_.near_bound);
    const auto lost = [](int bound) { return is_far_below(bound) && !is_empty(bound); };
    label_.far_below = lost(label_.into) || lost(label_.near_bound);
#pragma unroll
    for (int i = 0; i < kNear; i += 4) load4(t_.near_table + label * kBlock + i, label_.near + i);
#pragma unroll
    for (int i = 0; i < kNear; ++i) label_.near[i] = label_.has_near ? label_.near[i] : O::zero();
    if (!label_.has_near) label_.near_bound = kEmpty;
    if constexpr (kRows > 0) {
#pragma unroll
      for (int from = 0; from < kRows; ++from)
        label_.transition[from] = from < t_.labels ? t_.transition[from * t_.width + label] : O::zero();
    }
  }

  __device__ __forceinline__ Exact exact() const { return exact_memory<Config>(p_, m_, lanes_.c); }
  // Until the block in question has left the ring.
  __device__ __forceinline__ void note_far_above(bool far_above) const {
    if (far_above) aside_.far_above = t_.ring_blocks;
  }
  __device__ __forceinline__ int direction() const { return p_.backward ? -1 : 1; }
  __device__ __forceinline__ std::int64_t boundary_of(std::int64_t r) const {
    return p_.backward ? aside_.rounded - r : r;
  }
  __device__ __forceinline__ int ring_before(int head, int distance) const {
    const int j = head - distance;
    return j < 0 ? j + t_.ring_blocks : j;
  }
  // The row of the block that is next.
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
    return {at.first, at.last, at.first_of_sequence && !t_.initial_transition, at.last_here};
  }
  // Two flags in turn: who reads one late must not see the next block's.
  __device__ __forceinline__ int& regauge(int parity) const { return static_cast<int*>(m_.regauge)[parity]; }

  // No member: a pointer of the object into itself would put all of it into memory.
  __device__ __forceinline__ FarPart<Config> far() const { return {t_, m_}; }
  // Distances that the leading warps sum up themselves.
  __device__ __forceinline__ int far_alone() const {
    if constexpr (Lanes::kTeam) {
      if (lanes_.has_helpers()) return t_.offsets < 1 ? t_.offsets : 1;
    }
    return t_.offsets;
  }
  // Over the ring, as its numbers are at the boundary reached; what the leading warps sum up beside helpers
  // is always needed.
  __device__ __forceinline__ FarBound ring_bound(const RunState<Real>& s, int parity) const {
    FarBound ring{kEmpty, kEmpty, 1, far_alone()};
    if constexpr (Lanes::kTeam) {
      if (lanes_.valid) {
        if (lanes_.has_helpers()) {
          ring.largest = far().bound_of_parts(lanes_, parity);
          if (far_alone() > 0) ring.largest = larger(ring.largest, far().largest(s.head, 1));
        } else {
          ring = far().bound(s.head, 1, t_.offsets);
        }
      }
    } else if (lanes_.c < Lanes::kTableWidth) {
      ring = far().bound(s.head, 1, t_.offsets);
    }
    if (!is_empty(ring.largest)) ring.largest += s.gauge;
    return ring;
  }
  // The largest tail of the block, sources within it left out.
  __device__ __forceinline__ int tail_bound(const RunState<Real>& s) const {
    const double decay = t_.log_tail[label_.label];
    int open = units_of<Semiring>(decay);
    if (aside_.tail_is_number) {
      const int here = number_units();
      open = is_empty(here) || is_far_below(open) ? kEmpty : here + open + 1;
    } else {
      open = units_of<Semiring>(aside_.tail_log - s.rest + decay);
    }
    int oldest = kEmpty;
    if (lanes_.has_memory()) {
      oldest = m_.ring.scale(ring_before(s.head, t_.tail_reach));
      if (t_.tail_reach > 1) oldest = larger(oldest, m_.ring.scale(ring_before(s.head, t_.tail_reach - 1)));
    }
    const int last = units_of<Semiring>(t_.last_bias[label_.label] + decay);
    const bool enters = !is_far_below(oldest) && !is_empty(last);
    return enters ? larger(open, oldest + s.gauge + last) : open;
  }

  // What the sums over segments of earlier blocks are relative to; kEmpty: there are none.
  template <class Traits>
  __device__ __forceinline__ int reference_of(const RunState<Real>& s, int ring) const {
    const int bound = Traits::kTail && t_.tail ? larger(ring, tail_bound(s)) : ring;
    return is_empty(bound) ? kEmpty : bound;
  }

  __device__ __forceinline__ void sum_far(const RunState<Real>& s, int parity, Real (&sums)[kBlock],
                                          int reference, FarBound ring) const {
    const int bound = (is_empty(reference) ? 0 : reference) - s.gauge;
    far().clear(sums);
    if constexpr (Lanes::kTeam) {
      if (!lanes_.valid) return;
      far().add(sums, s.head, ring, bound);
      if (lanes_.has_helpers()) far().add_parts(sums, lanes_, parity, bound);
    } else {
      if (lanes_.c < Lanes::kTableWidth) far().add(sums, s.head, ring, bound);
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

  // All lanes together. Where the team's block is a `longer` one its factors are returned, else null. Blocks
  // of teams that run `mine` have no position shifts where no team needs the long way. `tables`: those whose
  // address functions out of line may have.
  __device__ __forceinline__ const BlockFactors<Real>* long_factors(const TablesView<Real>& tables,
                                                                    const RunState<Real>& s, bool mine,
                                                                    bool longer,
                                                                    BlockFactors<Real>* factors) const {
    if (lanes_.any_team(longer)) [[unlikely]] {
      block_factors<Real, Semiring, Lanes>(tables, *aside_.sequence, factor_source(s, mine), lanes_, factors);
      // What other teams need must not change a digit of this one's.
      if (lanes_.any(longer)) return factors;
    } else if (mine) {
      no_shifts(s, store_row(s));
    }
    return nullptr;
  }
  // Nothing was taken out of the positions of a block that is stored, from row `stored` on.
  __device__ __forceinline__ void no_shifts(const RunState<Real>& s, std::int64_t stored) const {
    if (p_.store.shift == nullptr || !s.storing) return;
    for_own_slots([&](int, int slot) { p_.store.shift[stored + slot] = 0; });
  }
  // Calls visit(i, slot) for the i-th slot that is the lane's.
  template <class Visit>
  __device__ __forceinline__ void for_own_slots(Visit visit) const {
#pragma unroll
    for (int i = 0; i < kSlotsOfLane<Lanes>; ++i) {
      const int slot = lanes_.first_slot() + i * Lanes::kSlotLanes;
      if (slot < kBlock) visit(i, slot);
    }
  }

  // --- tails ---

  // What is open longer than K, as a logarithm.
  __device__ __forceinline__ double tail_log(const RunState<Real>& s) const {
    if (!aside_.tail_is_number) return aside_.tail_log;
    const auto number = static_cast<Real>(aside_.tail_number);
    return number > O::zero() ? O::to_log(number) + aside_.tail_units * Semiring::kUnit + s.rest : kNone;
  }
  // Whole units of the number; kEmpty: it is zero.
  __device__ __forceinline__ int number_units() const {
    const auto number = static_cast<Real>(aside_.tail_number);
    return number > O::zero() ? aside_.tail_units + O::units_in(number) : kEmpty;
  }
  __device__ __forceinline__ void find_last() const {
    const double last = t_.last_bias[label_.label];
    const Scaled<Real> scaled = O::scaled_from_log(fmax(last, kLowestTail));
    aside_.last_number = static_cast<double>(scaled.number);
    aside_.last_units = last >= kLowestTail ? scaled.units : kEmpty;
  }

  // Units of a ring block's numbers with B[K] on top; kEmpty: there are none, or only the exact path knows.
  __device__ __forceinline__ int entering_units(const RunState<Real>& s, int block) const {
    const int scale = lanes_.has_memory() ? m_.ring.scale(block) : kEmpty;
    return is_far_below(scale) || is_empty(aside_.last_units) ? kEmpty : scale + s.gauge + aside_.last_units;
  }
  // What enters the tail in this block, unless K < 16, began in earlier ones. So the tail is known at all
  // boundaries before the recursion begins, and its share is added to the `sums`. On a scale of its own: it
  // may be far below the sums now, and count again when the ring forgets what outweighs it. What will enter
  // later may be far above it.
  template <bool kCut, class Traits>
  __device__ __forceinline__ void add_tail(const RunState<Real>& s, int reference, Real* out,
                                           BlockTail<Real>* tail, BlockTailLogs* logs,
                                           BlockRecord<Real>* record, Real (&sums)[kBlock]) const {
    const bool is_short = !Traits::kPlain && t_.duration < kBlock;
    tail->out = out;
    tail->out_step = p_.backward ? -t_.labels : t_.labels;
    tail->old_block = ring_before(s.head, t_.tail_reach);
    tail->new_block = t_.tail_reach > 1 ? ring_before(s.head, t_.tail_reach - 1) : tail->old_block;
    const int first_new =
        t_.duration - kBlock * (t_.tail_reach - 1);  // slot: from here on in the newer block
    const int first = kCut ? aside_.place.first : 0;
    const int last = smaller(kCut ? aside_.place.last : kBlock, t_.duration);
    Real entering[kBlock];
    Real most_old = O::zero(), most_new = O::zero();
#pragma unroll(kCut ? 1 : kBlock)
    for (int slot = 0; slot < kBlock; ++slot) {
      const bool newer = slot >= first_new;
      Real number = O::zero();
      if (lanes_.has_memory())
        number = m_.ring.at(newer ? tail->new_block : tail->old_block, (slot - t_.duration) & (kBlock - 1));
      entering[slot] = number;
      const bool enters = slot >= first && slot < last;
      most_old = enters && !newer ? larger(most_old, number) : most_old;
      most_new = enters && newer ? larger(most_new, number) : most_new;
    }
    const int old_units = entering_units(s, tail->old_block);
    const int new_units = entering_units(s, tail->new_block);
    const double open = aside_.tail_is_number ? kNone : aside_.tail_log - s.rest;
    int units = aside_.tail_is_number ? number_units() : units_of<Semiring>(open);
    if (most_old > O::zero() && !is_empty(old_units))
      units = larger(units, old_units + O::units_in(most_old));
    if (most_new > O::zero() && !is_empty(new_units))
      units = larger(units, new_units + O::units_in(most_new));
    units = is_far_below(units) ? 0 : units;
    const auto before = static_cast<Real>(aside_.tail_number);
    Real number = O::zero();
    if (!aside_.tail_is_number) {
      number = O::from_log(open - units * Semiring::kUnit);
    } else if (before > O::zero()) {
      number = O::times(before, O::of_units(aside_.tail_units - units));
    }
    const auto bias = static_cast<Real>(aside_.last_number);
    const Real old_factor = is_empty(old_units) ? O::zero() : O::times(bias, O::of_units(old_units - units));
    const Real new_factor = is_empty(new_units) ? O::zero() : O::times(bias, O::of_units(new_units - units));
    tail->units = units;
    tail->number = number;
    if (is_short) [[unlikely]] {
      logs->tail = tail_log(s) - s.rest;
      logs->decay = t_.log_tail[label_.label];
      logs->last_bias = t_.last_bias[label_.label];
      logs->here = exact().near;
      logs->kept = exact().far;
      logs->block = tail->old_block;
      logs->units = units;
      logs->factor = static_cast<double>(old_factor);
      return;
    }
    const Real decay = t_.tail_factor[label_.label];
    const Real by = is_empty(reference) ? O::zero() : O::of_units(units - reference);
#pragma unroll(kCut ? 1 : kBlock)
    for (int slot = 0; slot < kBlock; ++slot) {
      const bool inside = !kCut || (slot >= first && slot < last);
      const Real source = O::times(entering[slot], slot >= first_new ? new_factor : old_factor);
      number = inside ? O::times(O::plus(number, source), decay) : number;
      if (inside) sums[slot] = O::plus(sums[slot], O::times(number, by));
      entering[slot] = inside ? number : O::zero();
      if constexpr (kCut) record->tails[slot] = {entering[slot], units};
    }
    tail->number = number;
    if (out == nullptr) return;
    const Real out_factor = O::from_log(s.rest);
#pragma unroll(kCut ? 1 : kBlock)
    for (int slot = 0; slot < kBlock; ++slot)
      out[slot * tail->out_step] = O::times(entering[slot], out_factor);
  }
  // What a block of the ring had that a float has not is nothing beside its largest row. That one has entered
  // from the older block; from the newer one it may be still to come, and outweigh all that is there.
  __device__ __forceinline__ bool tail_certified(const RunState<Real>& s, const BlockTail<Real>& tail) const {
    const int label = label_.label;
    if (!lanes_.valid || t_.log_tail[label] == kNone) return true;
    const int old_scale = m_.ring.scale(tail.old_block), new_scale = m_.ring.scale(tail.new_block);
    const auto lost = [](int scale) { return is_far_below(scale) && !is_empty(scale); };
    const double last = t_.last_bias[label];
    const bool enters = last > kNone;
    if (enters && (last < kLowestTail || lost(old_scale) || lost(new_scale))) return false;
    // Stored tails go to the exact path, so that log Z with counts may have other last digits than without.
    if (t_.duration < kBlock) {
      const bool stored = p_.store.tail.numbers != nullptr && aside_.place.storing;
      return !stored || tails_are_near(exact().far, t_.labels);
    }
    // Nothing comes after the sequence's end.
    if (aside_.place.last_here) return true;
    const bool old_empty = !enters || is_empty(old_scale);
    const bool open =
        aside_.tail_is_number ? static_cast<Real>(aside_.tail_number) > O::zero() : aside_.tail_log > kNone;
    if (!open && old_empty) return true;
    const int above = old_empty ? 0 : old_scale + s.gauge + aside_.last_units - tail.units;
    Real least = static_cast<Real>(L::kSmallest);
    if (above > 0) least = O::times(least, O::of_units(above));
    return tail.number >= least && tail.number <= static_cast<Real>(L::kLargest);
  }
  // K < 16: whether numbers that are relative to the largest hold all tails of the block.
  __device__ SEMICRF_NOINLINE static bool tails_are_near(const double* kept, int labels) {
    double most = kNone, least = -kNone;
    for (int slot = 0; slot < kBlock; ++slot) {
      const double tail = kept[slot * labels];
      if (tail == kNone) continue;
      most = fmax(most, tail);
      least = fmin(least, tail);
    }
    return !(most - least > kTailRange);
  }
  // K < 16: the tails of the block as numbers, and what they are relative to.
  __device__ SEMICRF_NOINLINE static int store_tails(const double* kept, int labels, Real* out, int step,
                                                     double rest) {
    const Real factor = O::from_log(rest);
    double most = kNone;
    for (int slot = 0; slot < kBlock; ++slot) most = fmax(most, kept[slot * labels]);
    const int units = most > kNone ? units_of<Semiring>(most) : 0;
    for (int slot = 0; slot < kBlock; ++slot)
      out[slot * step] = O::times(O::from_log(kept[slot * labels] - units * Semiring::kUnit), factor);
    return units;
  }

  // --- the recursion ---

  // The alphas of the boundary reached, for all labels to read; all lanes together.
  __device__ __forceinline__ BoundaryRow<Real> first_row(const RunState<Real>& s) const {
    return FastBlock<Config>(t_, m_, lanes_, label_).first_row(first_alpha(s));
  }
  __device__ __forceinline__ Scaled<Real> first_alpha(const RunState<Real>& s) const {
    const bool known = lanes_.valid && !is_far_below(s.carry_scale);
    return {known ? s.carry : O::zero(), known ? s.carry_scale : 0};
  }

  // The first scores of a block, as many as are asked for ahead.
  template <bool kCut>
  using Coming = typename FastBlock<Config>::template Coming<kCut>;
  template <bool kEdges, int kCount>
  __device__ __forceinline__ static void ask_for(const BlockContent<Real, Semiring>& content,
                                                 ComingScores<Real, kCount>& coming) {
#pragma unroll
    for (int k = 0; k < kCount; ++k) content.template load<kEdges>(0, k, coming);
  }
  // `stored`: the row of the store where the block begins.
  template <bool kCut, class Traits>
  __device__ __forceinline__ void recur(const RunState<Real>& s, std::int64_t stored, BoundaryRow<Real> row,
                                        Coming<kCut>& coming, int reference,
                                        BlockContent<Real, Semiring>& content, BlockTail<Real>* tail,
                                        BlockTailLogs* logs, Real (&sums)[kBlock], RefusedSums<Config>* again,
                                        BlockRecord<Real>* record, BlockResult<Config>* result) const {
    Real* tail_out = nullptr;
    BlockWindow<Real> window{nullptr, nullptr, p_.store.all_alphas != 0};
    if (Traits::kStores && p_.store.alpha.numbers != nullptr && s.storing && lanes_.valid) {
      const std::int64_t to = stored_slot(stored, 0);
      const std::int64_t first = to * t_.labels + lanes_.c;
      window.alpha = p_.store.alpha.numbers + first;
      window.gamma = p_.store.gamma.numbers + first;
      if (Semiring::kIsLog && lanes_.c == 0) p_.store.gamma.level[to] = is_empty(row.level) ? 0 : row.level;
      if (Traits::kTail && t_.tail && p_.store.tail.numbers != nullptr)
        tail_out = p_.store.tail.numbers + first;
    }
    if (Traits::kTail && t_.tail) add_tail<kCut, Traits>(s, reference, tail_out, tail, logs, record, sums);
    const FastBlock<Config> block(t_, m_, lanes_, label_);
    const BlockCut cut = Traits::kPlain ? BlockCut{} : this->cut();
    const auto recursion = [&](auto has_short_tail, auto stores, auto has_factors) {
      block.template run<decltype(has_short_tail)::value, decltype(stores)::value,
                         decltype(has_factors)::value, Traits::kEdges, kCut, !Traits::kPlain>(
          first_alpha(s), row, content, reference, cut, window, logs, coming, sums, again, record, result);
    };
    // What a model, a pass or a block does without is not in the way of the others.
    constexpr std::true_type yes;
    constexpr std::false_type no;
    if constexpr (Traits::kPlain) {
      recursion(no, std::bool_constant<Traits::kStores>(), no);
      return;
    }
    const bool factors = lanes_.some_team(content.factors != nullptr);
    if (t_.tail && t_.duration < kBlock) [[unlikely]] {
      recursion(yes, yes, yes);
    } else if (kCut || kRows == 0 || p_.store.alpha.numbers != nullptr) {
      if (factors || !Config::kLoops) {
        recursion(no, yes, yes);
      } else {
        recursion(no, yes, no);
      }
    } else if (factors || !Config::kLoops) {
      recursion(no, no, yes);
    } else {
      recursion(no, no, no);
    }
  }

  template <class Traits>
  __device__ __forceinline__ bool certified(const RunState<Real>& s, int ring,
                                            const BlockContent<Real, Semiring>& content,
                                            const BlockTail<Real>& tail,
                                            const BlockResult<Config>& result) const {
    bool good = result.good && (content.factors == nullptr || content.factors->good) &&
                (Traits::kPlain || !s.impossible) && !t_.too_large && (!is_far_below(ring) || is_empty(ring));
    if (s.logs_left > 0) [[unlikely]]
      good = good && aside_.far_above == 0;
    if constexpr (FastBlock<Config>::kNeglects && !Traits::kPlain) {
      if (lanes_.any_team(result.neglected != kEmpty)) [[unlikely]] {
        const int neglected = lanes_.most(result.neglected);
        const Real least = -lanes_.most(-result.least_source);
        good = good && (neglected == kEmpty ||
                        (p_.store.all_alphas == 0 && FastBlock<Config>::neglects(t_, least, neglected)));
      }
    }
    if (Traits::kTail && t_.tail) good = good && (result.cut || tail_certified(s, tail));
    return good;
  }

  // --- after the recursion ---

  // `total`: the block's content, with the rest.
  __device__ __forceinline__ BlockMove<Real> move_of(const RunState<Real>& s, double total,
                                                     const BlockResult<Config>& result) const {
    BlockMove<Real> move;
    const bool something = lanes_.valid && result.alpha.number > O::zero();
    move.shift = is_empty(result.row.level) ? 0 : result.row.level;
    move.alpha.number = something ? result.alpha.number : O::zero();
    move.alpha.units = something ? result.alpha.units - move.shift : kEmpty;
    // Moves of the content's whole units go into the gauge.
    const double units = rint(total * (1 / Semiring::kUnit));
    move.rest = fma(-units, Semiring::kUnit, total);
    move.gauge = s.gauge + static_cast<int>(units) - move.shift;
    const bool starts = lanes_.valid && !is_empty(result.most_start);
    move.starts = starts ? result.most_start : kEmpty;
    move.vanished = starts && result.falls;
    return move;
  }

  // Starts go into the ring. `gauge`: less that of the block's first boundary, to which their scales belong.
  // Max semiring: also what is stored of them.
  template <class Traits>
  __device__ __forceinline__ void keep_starts_of(const RunState<Real>& s, std::int64_t stored,
                                                 const BlockResult<Config>& result,
                                                 const BlockMove<Real>& move, int gauge) const {
    m_.ring.scale(s.head) = is_empty(move.starts) ? kEmpty : move.starts + gauge;
    Real* to = m_.ring.block(s.head);
    const int turn = in_register(m_.ring.turn);
    const bool stores =
        Traits::kStores && !Semiring::kIsLog && p_.store.gamma.numbers != nullptr && s.storing;
    const int step = p_.backward ? -t_.labels : t_.labels;
    Real* const out =
        stores ? p_.store.gamma.numbers + ((stored + (p_.backward ? kBlock - 1 : 0)) * t_.labels + lanes_.c)
               : nullptr;
#pragma unroll
    for (int i = 0; i < kBlock; i += 4) {
      Real row[4];
      int units[4];
      result.starts.get(i, row, units);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        row[k] = O::times(row[k], O::of_units_in_range(units[k] - move.starts));
        if (stores) out[(i + k) * step] = row[k];
      }
      store4(to + (i / 4 ^ turn) * 4, row[0], row[1], row[2], row[3]);
    }
  }

  // Whether starts of the block that count lie so far below its largest that their numbers do not hold them;
  // all lanes together. An older start than the largest counts where some durations are forbidden, or nearly
  // so: else whatever segment it may become is far less likely than the one that the largest would. And in
  // states, of which two are compared entry by entry.
  __device__ __forceinline__ bool has_vanished(const RunState<Real>& s, bool mine,
                                               const BlockMove<Real>& move,
                                               const BlockResult<Config>& result) const {
    if (!Semiring::kIsLog && t_.gaps == 0) return false;
    bool vanished = move.vanished;
    if (t_.gaps != 0 || (Semiring::kIsLog && s.left <= t_.ring_blocks)) [[unlikely]]
      vanished = has_few_digits(move, result);
    return lanes_.any_team(mine && vanished) && lanes_.any(mine && vanished);
  }
  // Whether the starts of a lane, whichever is the largest, lie farther apart than their numbers hold.
  __device__ __forceinline__ bool has_few_digits(const BlockMove<Real>& move,
                                                 const BlockResult<Config>& result) const {
    int least = -kEmpty;
#pragma unroll
    for (int i = 0; i < kBlock; i += 4) {
      Real numbers[4];
      int units[4];
      result.starts.get(i, numbers, units);
#pragma unroll
      for (int k = 0; k < 4; ++k)
        least = smaller(least, numbers[k] > O::zero() ? units[k] + O::units_in(numbers[k]) : -kEmpty);
    }
    return lanes_.valid && move.starts - least > kMostSpread;
  }
  // Where some starts have `vanished` beside the block's largest, what the ring's numbers lack is kept aside;
  // where not, that of an earlier block is not to be taken for it.
  __device__ __forceinline__ void keep_logs_of(RunState<Real>& s, const BlockResult<Config>& result,
                                               const BlockMove<Real>& move, bool vanished) const {
    s.logs_left = vanished ? t_.ring_blocks : s.logs_left - 1;
    if (!lanes_.valid) return;
    const Exact memory = exact();
    if (lanes_.c == 0) memory.has_log[s.head] = vanished ? kHasVanished : 0;
    if (!vanished) return;
#pragma unroll
    for (int from = 0; from < kBlock; from += 4) {
      Real numbers[4];
      int units[4];
      result.starts.get(from, numbers, units);
#pragma unroll
      for (int k = 0; k < 4; ++k) memory.keep_vanished(s.head, from + k, numbers[k], units[k] - move.starts);
    }
  }

  // Levels of the messages of a fast block, from row `stored` on.
  __device__ __forceinline__ void store_levels(std::int64_t stored, const BlockResult<Config>& result) const {
    for_own_slots([&](int i, int slot) {
      const int level = is_empty(result.levels[i]) ? 0 : result.levels[i];
      p_.store.alpha.level[stored_slot(stored, slot)] = level;
      // The next position's sum over sources is relative to it.
      if (slot + 1 < kBlock) p_.store.gamma.level[stored_slot(stored, slot + 1)] = level;
    });
  }
  __device__ __forceinline__ std::int64_t stored_slot(std::int64_t stored, int slot) const {
    return stored + (p_.backward ? kBlock - 1 - slot : slot);
  }
  // What the messages of a fast block are relative to.
  template <class Traits>
  __device__ __forceinline__ void store_scales(const RunState<Real>& s, std::int64_t stored, double total,
                                               BlockTail<Real>& tail, const BlockTailLogs& logs,
                                               const BlockResult<Config>& result,
                                               const BlockMove<Real>& move) const {
    double mass = 0;  // asked for before it is wanted, see parks_numbers
    if constexpr (Lanes::kParks) mass = aside_.mass;
    if constexpr (Semiring::kIsLog) store_levels(stored, result);
    const std::int64_t block = stored / kBlock;
    double nats_rest;
    const double nats = whole_nats<Semiring>(s.base, &nats_rest);
    if (!lanes_.valid) return;
    const std::int64_t to = block * t_.labels + lanes_.c;
    p_.store.alpha.scale[to] = nats_rest - label_.level * Semiring::kUnit;
    if (Traits::kTail && p_.store.tail.numbers != nullptr) {
      if (!Traits::kPlain && t_.duration < kBlock)
        tail.units = store_tails(logs.kept, t_.labels, tail.out, tail.out_step, s.rest);
      p_.store.tail.scale[to] = tail.units * Semiring::kUnit + nats_rest;
    }
    const double starts = log_of_units<Semiring>(move.starts) + nats_rest + s.rest;
    p_.store.gamma.scale[to] = Semiring::kIsLog ? log_of_units<Semiring>(label_.into) + nats_rest : starts;
    p_.store.content[to] = total - s.rest;
    // The largest number is below one unit above its scale.
    p_.store.gamma_bound[to] = starts + Semiring::kUnit;
    if (lanes_.c == 0) {
      p_.store.base[block] = nats;
      p_.store.mass[block] = Lanes::kParks ? mass : aside_.mass;
      p_.store.exact[block] = 0;
    }
  }

  // The tail for the next block. Its number goes on as it is: a logarithm would cost as much as a quarter of
  // the recursion.
  template <class Traits>
  __device__ __forceinline__ void keep_tail(const RunState<Real>& s, double total,
                                            const BlockTail<Real>& tail, const BlockTailLogs& logs,
                                            const BlockMove<Real>& move) const {
    const bool is_short = !Traits::kPlain && t_.duration < kBlock;
    const int units = tail.units + (move.gauge - s.gauge);
    const bool empty = !(tail.number > O::zero());
    // The decay was rounded to a Real 16 times over. Of a decay that hardly is a Real this is not small.
    const double lacking = empty ? 0.0 : t_.tail_correction[label_.label];
    aside_.tail_is_number =
        !is_short && units > -kMostTailUnits && units < kMostTailUnits && fabs(lacking) < kMostLacking;
    if (aside_.tail_is_number) {
      const Real change = static_cast<Real>(lacking);
      const Real number = Semiring::kIsLog ? fused(tail.number, change, tail.number) : tail.number + change;
      aside_.tail_units = units;
      aside_.tail_number = static_cast<double>(empty ? O::zero() : number);
    } else {
      double log = 0;
      if (is_short) {
        log = logs.tail;
      } else {
        log = empty ? kNone : O::to_log(tail.number) + tail.units * Semiring::kUnit + lacking;
      }
      aside_.tail_log = log + total - move.shift * Semiring::kUnit;
    }
  }
  // The next boundary is reached.
  template <class Traits>
  __device__ __forceinline__ void move_on(RunState<Real>& s, double total, const BlockTail<Real>& tail,
                                          const BlockTailLogs& logs, const BlockResult<Config>& result,
                                          const BlockMove<Real>& move) const {
    if (Traits::kTail && t_.tail) keep_tail<Traits>(s, total, tail, logs, move);
    s.carry = move.alpha.number;
    s.carry_scale = move.alpha.units;
    s.impossible = is_empty(result.row.level);
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
  Memory m_;
  LabelTables<Config> label_;
  RunAside& aside_;
};

}  // namespace semicrf::cuda
