// The recursion over the 16 boundaries of a block on the fast path, and what certifies it (docs/algorithm.md,
// "The certificate").
//
// Nothing here depends on the size of the scores. Alpha of a boundary is relative to a whole number of units
// of that boundary, its level. A start has units of its own. The sums over durations of a label are relative
// to a reference that only rises: when a start lies above it, the sums that are still to come are lowered to
// the new one first.
#pragma once

#include "cuda/recursion/block/block_factors.cuh"
#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/team_memory.cuh"

namespace semicrf::cuda {

// What a lane keeps of its label through a run; bounds in units.
template <class Config>
struct LabelTables {
  using Real = typename Config::Real;
  int label;
  int into, level;  // transitions into the label; see ChainTables
  int near_bound;   // durations within a block
  bool has_near;    // there are durations within a block
  bool far_below;   // one of these bounds is so low that only the exact path knows it
  Real to_source;   // what takes an alpha relative to the level to where the transitions expect it
  static constexpr int kNear = Config::kNearShared ? 4 : kBlock;
  Real near[kNear];
  Real transition[Config::kRows > 0 ? Config::kRows : 1];
};

// The tail at the block's last boundary: what was open longer than K, and gamma_{t-K-1} with B[K] on top. A
// number relative to whole units. The sources lie in two blocks of the ring.
template <class Real>
struct BlockTail {
  int units;
  Real number;
  int old_block, new_block;
  Real* out;  // place for the tail of the block's first boundary, or null
  int out_step;
};
// The tail where K < 16, so that starts of the block are sources, too: logarithms. Sources of the ring have a
// factor that takes them to `units`, with B[K].
struct BlockTailLogs {
  double tail, decay, last_bias;
  double *here, *kept;  // (16, C) the block's starts, and the tail at its boundaries
  int block, units;
  double factor;
};

template <class Real>
struct BlockWindow {  // where the label's messages of the first slot go; null: nowhere
  Real *alpha, *gamma;
  bool all_alphas;
};

// Positions of a block that are of the sequence, [first, last), whether the sequence's first segments begin
// at `first` without a transition, and whether it ends at `last`, so that nothing begins there.
struct BlockCut {
  int first = 0, last = kBlock;
  bool bare = false, ends = false;
};

// The alphas of a boundary as all labels read them.
template <class Real>
struct BoundaryRow {
  int level;  // kEmpty: no label has one
  Real sum;   // over the label's sources, relative to level and `into`
};

// What is stored once per slot is spread over the lanes of a team, so that few instructions do it.
template <class Lanes>
inline constexpr int kSlotsOfLane = kBlock / (Lanes::kSlotLanes < kBlock ? Lanes::kSlotLanes : kBlock);

template <class Config>
struct BlockResult {
  using Real = typename Config::Real;
  BlockStarts<Config> starts;
  int most_start = 0;  // whole units in the largest
  // Log: a start is so far below an older one that it is no number beside it, or nothing beside something.
  bool falls = false;
  Scaled<Real> alpha{};     // at the block's end
  BoundaryRow<Real> row{};  // there
  bool good = false;        // the label's numbers are certified
  bool cut = false;         // a position of the block is forbidden
  bool restarted = false;   // sums over sources were done again: only logarithms hold all messages
  // Sums over durations that were refused and taken for nothing: the most that they may be, in units relative
  // to the level of their boundary, kEmpty: none was; and the least of the sums over sources.
  int neglected = kEmpty;
  Real least_source{};
  // Levels of alphas, in the lane's slots, where they are stored.
  int levels[kSlotsOfLane<typename Config::Lanes>]{};
};

template <class Config>
class RefusedSums;

template <class Config>
class FastBlock {
 public:
  using Real = typename Config::Real;
  using Semiring = typename Config::Semiring;
  using Lanes = typename Config::Lanes;
  using Memory = typename Config::Memory;
  using O = typename Config::O;
  using L = typename Config::L;
  using Content = BlockContent<Real, Semiring>;
  static constexpr int kRows = Config::kRows;
  // Units between two starts of a block, beyond which the lesser is no number beside the other.
  static constexpr int kMostSpread = Semiring::kIsLog ? L::kWidestRange : 0;
  // Units of a first start beyond which it is no number as a sum over sources.
  static constexpr int kMostOfOne = 48;
  // Boundaries that are straight code.
  template <bool kCut>
  static constexpr int kAtOnce = kCut ? 1 : (Config::kLoops ? 4 : kBlock);
  // Scores that are asked for before they are wanted.
  template <bool kCut>
  static constexpr int kAhead = kAtOnce<kCut> == 4 ? 2 : kAtOnce<kCut>;
  template <bool kCut>
  using Coming = ComingScores<Real, kAhead<kCut>>;

  // A sum that is refused may be taken for nothing where no sum over sources would notice: see neglects().
  static constexpr bool kNeglects = Lanes::kOneWarp;
  // The sums over sources stand, and are so much larger than what is taken for nothing, `neglected` units at
  // most in each label, that it is nothing beside their rounding. Max: that it is not the largest.
  __device__ __forceinline__ static bool neglects(const TablesView<Real>& t, Real least_source,
                                                  int neglected) {
    const Real least = Semiring::kIsLog ? t.least_start : static_cast<Real>(L::kSmallest);
    constexpr int kMargin = !Semiring::kIsLog ? 2 : (sizeof(Real) == sizeof(double) ? 62 : 32);
    return least_source >= least && least_source >= O::of_units(neglected + kMargin);
  }

  __device__ __forceinline__ FastBlock(const TablesView<Real>& t, const Memory& m, const Lanes& lanes,
                                       const LabelTables<Config>& label)
      : t_(t), m_(m), lanes_(lanes), label_(label) {}

  // Alpha of the block's first boundary, for all labels to read; all lanes together.
  __device__ __forceinline__ BoundaryRow<Real> first_row(Scaled<Real> alpha) const {
    const int level = share(alpha.number, alpha.units + label_.level - O::kUnitsBias, 0).units;
    return {level, sum_over_sources(0, level)};
  }

  // `alpha`, `row`: of the first boundary, where it is shared. `coming`: the first scores, and then those of
  // the next block. `sums`: the far part and the tail, relative to `reference` (kEmpty: they are zero);
  // nothing of use when this is done. Without kCut the block is whole and begins like any other, and only
  // what `cut` says of its end counts; without kFactors factors are those of the scores. kShortTail: there is
  // a tail that starts of the block enter, whose `logs` are not in the sums yet. kMayNeglect: sums
  // that are refused may be taken for nothing. kCut: those that are not are done `again`, positions may be
  // forbidden, and all is written into the `record`. All lanes together.
  template <bool kShortTail, bool kStores, bool kFactors, bool kEdges, bool kCut, bool kMayNeglect>
  // NOLINTNEXTLINE(readability-function-size): one loop, all of whose numbers stay in registers
  __device__ __forceinline__ void run(Scaled<Real> alpha, BoundaryRow<Real> row, Content& content,
                                      int reference, BlockCut cut, BlockWindow<Real> window,
                                      BlockTailLogs* logs, Coming<kCut>& coming, Real (&sums)[kBlock],
                                      RefusedSums<Config>* again, BlockRecord<Real>* record,
                                      BlockResult<Config>* out) const {
    constexpr int kCount = kAtOnce<kCut>;
    // Whether the sums of boundaries beyond the straight code wait where the starts of these will lie.
    constexpr bool kSumsWait = !kCut && kCount < kBlock;
    // Whether it is kept account of what is taken for nothing.
    constexpr bool kCounts = kMayNeglect && kNeglects && !kCut;
    constexpr int kBias = Content::kBias;
    const int most_above = Semiring::kIsLog ? in_register(t_.most_above) : 30;
    const Real start_limit = is_empty(label_.into) ? O::zero() : start_limit_of_table();
    Real sum_limit = is_empty(reference) && !label_.far_below ? O::zero() : t_.least_total;
    bool good = true;
    int neglected = kEmpty;
    Real least_source = static_cast<Real>(-kNone);
    int lowest = kEmpty;  // what starts should not be below: the largest so far, less kMostSpread
    int beyond = 0;       // how far one of them is below that, negative; or nothing is beside something
    // What boundaries have in common of the units of starts and of alphas. `floor`: the reference less the
    // bound of durations within the block, for who compares starts with it.
    const int into = label_.into + kBias, near_bound = label_.near_bound;
    const int alpha_level = label_.level - kBias - O::kUnitsBias + near_bound;
    int floor = reference - near_bound;
    // The level of an alpha that is refused, with two to spare for the number of its factor.
    const int refused_level = alpha_level + O::kUnitsBias + O::units_in(t_.least_total) + 3;
    alpha.units = wrapped(alpha.units, kBias - near_bound);
    // Factors that were made are in memory, far away: asked for before they are wanted.
    const bool made = kFactors && content.factors != nullptr;
    // The factor of the content at a boundary. Before the next start is made of it, its units are those that
    // the start has below `into` and the level.
    Scaled<Real> factor = content.first_factor();
    Real start = O::inverse(factor.number);
    if constexpr (kEdges) {
      const Scaled<Real> edge = content.edge_factor(coming.start[0]);
      start = O::times(start, edge.number);
      factor.units -= edge.units;
    }
    if (made) {
      start = content.factors->start[0].number;
      factor.units = kBias - content.factors->start[0].units;
    }
    Real down_later = O::one();  // what the sums that wait are to be lowered by
    if constexpr (kSumsWait) {
#pragma unroll
      for (int i = kCount; i < kBlock; i += kCount) out->starts.park(i, sums + i);
    }
    // Straight code for some boundaries at a time: all sixteen would not stay in the instruction cache.
#pragma unroll 1
    for (int from = 0; from < kBlock; from += kCount) {
      Real gammas[kCount], nears[kCount];
      int units_of_gammas[kCount];
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const int slot = from + k;
        const int parity = kCut ? slot % 2 : k % 2;
        const bool inside = !kCut || (slot >= cut.first && slot < cut.last);
        const int level = kCut && is_empty(row.level) ? 0 : row.level;
        const Scaled<Real> made_here = made ? content.factors->alpha[slot] : Scaled<Real>{};
        Real sum = row.sum;
        const bool bare = kCut && cut.bare && slot == cut.first;
        if (bare) sum = O::of_units(-(level + label_.into));
        if (kCut && !inside) sum = O::zero();
        // What the start is made of: the sum and what it is relative to, less `into`.
        Real source_number = sum;
        int sum_level = level;
        if constexpr (kCut) {
          const bool refused = inside && !bare && lanes_.valid && !(sum >= start_limit);
          if (lanes_.some_here(refused)) {
            Scaled<Real> source = again->over_sources(slot, refused);
            if (refused) source_number = source.number, sum_level = source.units - label_.into;
            out->restarted = lanes_.any(refused) || out->restarted;
          }
          // One, which as a sum may lie beyond what numbers hold.
          if (bare) source_number = O::one(), sum_level = -label_.into;
          const int units_of_one = level + label_.into;
          out->restarted =
              lanes_.any(bare && lanes_.valid && (units_of_one > kMostOfOne || units_of_one < -kMostOfOne)) ||
              out->restarted;
          record->sources[slot] = {source_number, sum_level + label_.into};
        }
        const Real gamma = O::times(source_number, start);
        const bool something = gamma > O::zero();
        const int units = something ? sum_level + into - factor.units : kEmpty;
        gammas[k] = gamma;
        units_of_gammas[k] = units;
        good = good && sum >= (kCut ? O::zero() : start_limit);
        if constexpr (kCounts) least_source = smaller(least_source, sum);
        // Sums and what is added to them must have one reference before they are added.
        const int own = Semiring::kIsLog || something ? units + O::biased_units_in(gamma) : kEmpty;
        lowest = larger(lowest, own - kMostSpread);
        if constexpr (Semiring::kIsLog) beyond = smaller(beyond, own - lowest);
        // Where one label must rise all do, so that they do so together the next time; but what one team
        // needs must not change a digit of another's.
        const bool above = own > floor + most_above;
        if (lanes_.any_here(above)) {
          const int top = own + (Semiring::kIsLog ? t_.room_above : 0);
          const bool rises = something && (Lanes::kAlone ? top > floor : above);
          const Real down = rises ? O::of_units_in_range(floor - top) : O::one();
#pragma unroll
          for (int i = k; i < (kSumsWait ? kCount : kBlock); ++i) sums[i] = O::times(sums[i], down);
          if constexpr (kSumsWait) down_later = O::times(down_later, down);
#pragma unroll
          for (int j = 0; j < k; ++j) nears[j] = O::times(nears[j], down);
          floor = rises ? top : floor;
          sum_limit = rises ? t_.least_total : sum_limit;
        }
        nears[k] = O::times(gamma, O::of_units_in_range(units - floor));
        sums[k] = O::times_plus(nears[k], label_.near[0], sums[k]);
        if constexpr (kShortTail)
          sums[k] = O::plus(sums[k], next_tail(logs, slot, {gamma, units}, floor + near_bound, inside));
        factor = made ? Scaled<Real>{made_here.number, made_here.units + kBias}
                      : content.alpha_factor(coming.emission[k % kAhead<kCut>]);
        Scaled<Real> ending = factor;
        if constexpr (kEdges) {
          const Scaled<Real> edge = content.edge_factor(coming.end[k % kAhead<kCut>]);
          ending = {O::times(factor.number, edge.number), factor.units + edge.units};
        }
        if constexpr (kCount < kBlock) {
          constexpr int kThen = kAhead<kCut>;
          content.template load<kEdges>(from + (k + kThen) / kCount * kCount, (k + kThen) % kCount, coming);
        }
        if constexpr (kCut) {
          record->starts[slot] = {gamma, units};
          if (made && (content.factors->cuts >> slot & 1) != 0) {
            // No segment that began up to here goes on, and none that begins here is possible.
            if (record->first_cut < 0) record->first_cut = slot;
            record->cut = slot;
            out->cut = true;
            if (kShortTail) good = false;
#pragma unroll
            for (int i = k; i < kBlock; ++i) sums[i] = O::zero();
            gammas[k] = nears[k] = O::zero();
            units_of_gammas[k] = kEmpty;
            out->starts.forget(slot);
            lowest = kEmpty;
            beyond = 0;
            floor = kEmpty - near_bound;
            if (!label_.far_below) sum_limit = O::zero();
          }
        }
        bool refused = !(sums[k] >= sum_limit);
        if (!kCut || inside) {
          // What is no number is not taken for nothing.
          good = good && sums[k] >= O::zero();
          alpha = {refused ? O::zero() : O::times(sums[k], ending.number), wrapped(ending.units, floor)};
          good = good && alpha.number <= static_cast<Real>(L::kLargest);
        }
        refused = refused && (!kCut || inside) && lanes_.valid;
        if constexpr (!kCounts && !(kCut && kNeglects)) {
          if (!kCut) good = good && !refused;
          if constexpr (kCut) good = do_again(again, slot, refused, ending, near_bound, &alpha) && good;
        }
        Scaled<Real> shared = share(alpha.number, wrapped(alpha.units, alpha_level), 1 - parity);
        Real next_sum = O::zero();
        if constexpr (kCounts) {
          const int here = wrapped(alpha.units, refused_level) - shared.units;
          neglected = refused ? larger(neglected, here) : neglected;
        }
        if constexpr (kCut) {
          next_sum = sum_over_sources(1 - parity, is_empty(shared.units) ? 0 : shared.units);
          if constexpr (kNeglects) {
            if (lanes_.any_here(refused)) {
              const int here = wrapped(alpha.units, refused_level) - shared.units;
              const int most = lanes_.most(refused ? here : kEmpty);
              const bool counts = lanes_.valid && !is_empty(label_.into);
              const Real least = -lanes_.most(counts ? -next_sum : static_cast<Real>(kNone));
              const bool known =
                  !window.all_alphas && !is_empty(shared.units) && !(cut.ends && slot == cut.last - 1);
              const bool does_again = refused && !(known && neglects(t_, least, most));
              good = do_again(again, slot, does_again, ending, near_bound, &alpha) && good;
              lanes_.sync();
              shared = share(alpha.number, wrapped(alpha.units, alpha_level), 1 - parity);
              next_sum = sum_over_sources(1 - parity, is_empty(shared.units) ? 0 : shared.units);
            }
          }
          record->alphas[slot] = {inside ? alpha.number : O::zero(),
                                  wrapped(alpha.units, near_bound - kBias)};
          record->content[slot] = made ? content.factors->content[slot] : content.sum.value();
        }
        start = O::inverse(factor.number);
        if constexpr (kEdges) {
          // The factor of the next slot, which beyond the block is not used.
          const Scaled<Real> edge = content.edge_factor(coming.start[(k + 1) % kAhead<kCut>]);
          start = O::times(start, edge.number);
          factor.units -= edge.units;
        }
        if (made) {
          const Scaled<Real> made_start = content.factors->start[slot + 1 < kBlock ? slot + 1 : slot];
          start = made_start.number;
          factor.units = kBias - made_start.units;
        }
        if (kStores && window.alpha != nullptr) {
          const int at = slot * content.step;
          window.alpha[at] = inside ? shared.number : O::zero();
          if constexpr (Semiring::kIsLog) window.gamma[at] = sum;
        }
        if constexpr (kStores && Semiring::kIsLog) {
#pragma unroll
          for (int i = 0; i < kSlotsOfLane<Lanes>; ++i) {
            const bool mine = slot == lanes_.first_slot() + i * Lanes::kSlotLanes;
            out->levels[i] = mine ? shared.units : out->levels[i];
          }
        }
#pragma unroll
        for (int i = k + 1; i < kCount; ++i) sums[i] = O::times_plus(nears[k], label_.near[i - k], sums[i]);
        row.level = shared.units;
        row.sum = kCut ? next_sum : sum_over_sources(1 - parity, row.level);
      }
      out->starts.keep(from, gammas, units_of_gammas);
      if constexpr (kSumsWait) {
        Real shorter[kCount];
        near_durations<0>(shorter);
        add_to_parked(from, nears, down_later, out->starts, shorter, sums);
        down_later = O::one();
      } else if constexpr (kCount < kBlock) {
        add_to_later(from, nears, sums);
      }
    }
    // An alpha that is no number beside the others is nothing where each label's sum over its sources stands
    // without it. At the block's end too: there the alphas that are stored are this block's.
    if constexpr (kCut) {
      // The alphas of the last boundary may count although they vanish beside others.
      const bool counts = lanes_.valid && !cut.ends && !(row.sum >= start_limit);
      out->restarted = lanes_.any(counts) || out->restarted;
    } else if (!cut.ends) {
      good = good && row.sum >= start_limit;
      if constexpr (kCounts) least_source = smaller(least_source, row.sum);
    } else if constexpr (kCounts) {
      good = good && neglected == kEmpty;
    }
    out->neglected = lanes_.valid ? neglected : kEmpty;
    out->least_source = lanes_.valid && !is_empty(label_.into) ? least_source : static_cast<Real>(-kNone);
    out->most_start = is_empty(lowest) ? kEmpty : lowest + kMostSpread - O::kUnitsBias;
    out->falls = beyond < 0;
    out->alpha = {alpha.number, wrapped(alpha.units, near_bound - kBias)};
    out->row = row;
    out->good = good && !(label_.far_below && !is_empty(label_.into) && is_far_below(label_.into));
  }

 private:
  // A refused sum, and alpha made of it. False where only the exact path knows it.
  __device__ __forceinline__ static bool do_again(RefusedSums<Config>* again, int slot, bool wanted,
                                                  Scaled<Real> ending, int near_bound, Scaled<Real>* alpha) {
    if (!wanted) return true;
    Scaled<Real> total;
    const bool known = again->at(slot, &total);
    *alpha = {O::times(total.number, ending.number), wrapped(ending.units, total.units - near_bound)};
    return known && alpha->number <= static_cast<Real>(L::kLargest);
  }
  // A sum of units with a bias, which together may leave an int for a while.
  __device__ __forceinline__ static int wrapped(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
  }
  __device__ __forceinline__ Real start_limit_of_table() const {
    return Semiring::kIsLog ? t_.least_start : static_cast<Real>(L::kSmallest);
  }

  // What the starts of some boundaries add to the sums that come after them, which move to the beginning. In
  // parts, of which the last ones are beyond the block.
  template <int kCount>
  __device__ __forceinline__ void add_to_later(int from, const Real (&nears)[kCount],
                                               Real (&sums)[kBlock]) const {
#pragma unroll
    for (int part = 0; part + kCount < kBlock; part += kCount) {
      if (kCount > 1 && from + part + kCount >= kBlock) break;
#pragma unroll
      for (int i = part; i < part + kCount; ++i) {
        sums[i] = sums[i + kCount];
#pragma unroll
        for (int k = 0; k < kCount; ++k)
          sums[i] = O::times_plus(nears[k], label_.near[i + kCount - k], sums[i]);
      }
    }
  }

  // Four durations within a block, from duration kFirst + 1 on.
  template <int kFirst>
  __device__ __forceinline__ void near_durations(Real (&four)[4]) const {
    if constexpr (Config::kNearShared && kFirst > 0) {
      load4(static_cast<const Real*>(m_.near_table.from(kFirst * Lanes::kTableWidth)), four);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = label_.near[kFirst + i];
    }
  }
  // Adds a start to sums that wait, lowered by `down` first. Those of the next boundaries wait no more.
  // `shorter`: durations up to kFirst.
  template <int kFirst = 4>
  __device__ __forceinline__ void add_to_parked(int from, const Real (&nears)[4], Real down,
                                                const BlockStarts<Config>& parked, const Real (&shorter)[4],
                                                Real (&sums)[kBlock]) const {
    if constexpr (kFirst < kBlock) {
      if (from + kFirst >= kBlock) return;
      Real later[4], longer[4];
      parked.take(from + kFirst, later);
      near_durations<kFirst>(longer);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        later[i] = O::times(later[i], down);
#pragma unroll
        for (int k = 0; k < 4; ++k)
          later[i] = O::times_plus(nears[k], i < k ? shorter[4 + i - k] : longer[i - k], later[i]);
        if (kFirst == 4) sums[i] = later[i];
      }
      if (kFirst > 4) parked.park(from + kFirst, later);
      add_to_parked<kFirst + 4>(from, nears, down, parked, longer, sums);
    }
  }

  // Alpha of the label relative to the boundary's level, which comes with it; into the row that all labels
  // read. Lanes without a label must add nothing to the others' sums. `units`: with the label's level, less
  // the bias of units_in.
  __device__ __forceinline__ Scaled<Real> share(Real alpha, int units, int parity) const {
    const bool something = lanes_.valid && alpha > O::zero();
    const int here = lanes_.most_here(something ? units + O::biased_units_in(alpha) : kEmpty);
    const Real scaled = O::times(alpha, O::of_units_in_range(units + O::kUnitsBias - here));
    Real number = something ? scaled : O::zero();
    if (lanes_.has_alpha()) {
      Real* const row = m_.alpha.from(parity * m_.alpha_width);
      row[lanes_.c] = O::times(number, label_.to_source);
    }
    int level = here;
    if constexpr (Lanes::kTeam) {
      // Each warp's labels have a level of their own until they are read.
      if (lanes_.panels() > 1) {
        int* const levels = m_.levels.from(parity * kMostPanels);
        if (threadIdx.x % 32 == 0) levels[threadIdx.x / 32] = here;
        lanes_.sync();
        level = levels[0];
        for (int panel = 1; panel < lanes_.panels(); ++panel) level = larger(level, levels[panel]);
        number = O::times(number, O::of_units(here - level));
        return {number, level};
      }
    }
    lanes_.sync();
    return {number, level};
  }

  __device__ __forceinline__ Real sum_over_sources(int parity, int level) const {
    const Real* const alpha = m_.alpha.from(parity * m_.alpha_width);
    if constexpr (Lanes::kTeam) {
      if (lanes_.panels() > 1) {
        const int* const levels = m_.levels.from(parity * kMostPanels);
        Real sum = O::zero();
#pragma unroll
        for (int panel = 0; panel < lanes_.panels(); ++panel) {
          const Real part = sum_over_panel(alpha, panel);
          sum = O::plus(sum, O::times(part, O::of_units(levels[panel] - level)));
        }
        return sum;
      }
    }
    return sum_over_panel(alpha, 0);
  }
  // Over the labels of a leading warp.
  __device__ __forceinline__ Real sum_over_panel(const Real* alpha, int panel) const {
    Real sums[4] = {O::zero(), O::zero(), O::zero(), O::zero()};
    if constexpr (kRows > 0) {
#pragma unroll
      for (int i = 0; i < 32; i += 4) {
        const int from = panel * 32 + i;
        if (from >= kRows) continue;
        Real values[4];
        load4(alpha + from, values);
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[k] = O::times_plus(values[k], label_.transition[from + k], sums[k]);
      }
    } else {
      const Real* column = m_.transitions + label_.label;
      int from = panel * 32;
      const int end = t_.labels < from + 32 ? t_.labels : from + 32;
#pragma unroll 2
      for (; from + 3 < end; from += 4) {
        Real values[4];
        load4(alpha + from, values);
#pragma unroll
        for (int k = 0; k < 4; ++k)
          sums[k] = O::times_plus(values[k], column[(from + k) * t_.width], sums[k]);
      }
      // Into the sums where an unrolled kernel has them: not a digit may differ.
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (from + k < end) sums[k] = O::times_plus(alpha[from + k], column[(from + k) * t_.width], sums[k]);
      }
    }
    return O::plus(O::plus(sums[0], sums[1]), O::plus(sums[2], sums[3]));
  }

  // `inside`: the position is of the sequence. Relative to the reference of the sums.
  __device__ __forceinline__ Real next_tail(BlockTailLogs* logs, int slot, Scaled<Real> start, int reference,
                                            bool inside) const {
    if (!lanes_.valid) return O::zero();
    const Real source = O::times(m_.ring.at(logs->block, (slot - t_.duration) & (kBlock - 1)),
                                 static_cast<Real>(logs->factor));
    const double log =
        next_tail_log(logs, t_.duration, t_.labels, slot, start, {source, logs->units}, inside);
    return inside ? O::from_log(log - reference * Semiring::kUnit) : O::zero();
  }
  // Static: who is given the address of this object puts all of it into memory.
  __device__ SEMICRF_NOINLINE static double next_tail_log(BlockTailLogs* logs, int duration, int labels,
                                                          int slot, Scaled<Real> start, Scaled<Real> older,
                                                          bool inside) {
    const auto log_of = [](Scaled<Real> x) {
      return x.number > O::zero() ? O::to_log(x.number) + x.units * Semiring::kUnit : kNone;
    };
    logs->here[slot * labels] = log_of(start);
    const double source =
        slot >= duration ? logs->here[(slot - duration) * labels] + logs->last_bias : log_of(older);
    const double log = combined<Semiring>(logs->tail, source) + logs->decay;
    logs->kept[slot * labels] = inside ? log : kNone;
    if (inside) logs->tail = log;
    return log;
  }

  const TablesView<Real>& t_;
  const Memory& m_;
  const Lanes& lanes_;
  const LabelTables<Config>& label_;
};

}  // namespace semicrf::cuda
