// The recursion over the 16 boundaries of a block on the fast path, and what certifies it: docs/cuda.md, "A
// block in steps"; what numbers are relative to: docs/algorithm.md, section 11, "Whole units inside a block".
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
  __device__ __forceinline__ bool has(int slot) const { return slot >= first && slot < last; }
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

// A block's recursion in numbers times whole units: the cpu's FastBlock for the label of a lane. Members are
// what the lane carries from boundary to boundary.
template <class Config>
class FastBlock {
 public:
  using Real = typename Config::Real;
  using Semiring = typename Config::Semiring;
  using Lanes = typename Config::Lanes;
  using Memory = typename Config::Memory;
  using O = typename Config::O;
  using L = typename Config::L;
  static constexpr int kRows = Config::kRows;
  // Units between two starts of a block, beyond which the lesser is no number beside the other.
  static constexpr int kMostSpread = Semiring::kIsLog ? L::kWidestRange : 0;
  // Units of a first start beyond which it is no number as a sum over sources.
  static constexpr int kMostOfOne = 48;
  // Boundaries of a turn, which are straight code.
  template <bool kSlow>
  static constexpr int kTurn = kSlow ? 1 : (Config::kLoops ? 4 : kBlock);
  // Scores that are asked for before they are wanted.
  template <bool kSlow>
  static constexpr int kAhead = kTurn<kSlow> == 4 ? 2 : kTurn<kSlow>;
  template <bool kSlow>
  using Coming = RowScores<Real>[kAhead<kSlow>];

  // What a block is computed from besides its content and its sums.
  struct Inputs {
    Scaled<Real> alpha;     // at the first boundary, where it is shared:
    BoundaryRow<Real> row;  // as all labels read it
    int reference;        // what the sums, the far part and the tail, are relative to; kEmpty: they are zero
    BlockCut cut;         // without kSlow only what it says of the end counts
    BlockTailLogs* logs;  // a tail that starts of the block enter, which is not in the sums; or null
    bool may_neglect;     // sums that are refused may be taken for nothing, see neglects()
  };

  // Where sums that are refused may be taken for nothing, as no sum over sources would notice.
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
    const int level = share_alpha(alpha.number, alpha.units + label_.level - O::kUnitsBias, 0).units;
    return {level, start_message(0, level)};
  }

  // The 16 boundaries in turn; all lanes together. `coming`: the first scores, and then those of the next
  // block. `sums`: over durations; nothing of use when this is done. `content`: see BlockContent. kStores:
  // messages go to where `window` says. kSlow: for slow_block alone, one boundary at a time: the block may be
  // cut and positions forbidden, sums that are refused and count are done `again`, and the record is written.
  template <bool kSlow, bool kStores, class Content>
  __device__ __forceinline__ void run(const Inputs& in, Content& content, Coming<kSlow>& coming,
                                      Real (&sums)[kBlock], BlockWindow<Real> window,
                                      RefusedSums<Config>* again, BlockResult<Config>* out) {
    constexpr int kCount = kTurn<kSlow>, kThen = kAhead<kSlow>;
    // Whether the sums of boundaries beyond the turn wait where their starts will lie.
    constexpr bool kSumsWait = !kSlow && kCount < kBlock;
    const bool counts = kNeglects && !kSlow && in.may_neglect;
    prepare(in);
    start_ = content.start_factor(content.first_factor(), coming[0], 0);
    if constexpr (kSumsWait) {
#pragma unroll
      for (int i = kCount; i < kBlock; i += kCount) out->starts.park(i, sums + i);
    }
#pragma unroll 1
    for (int from = 0; from < kBlock; from += kCount) {
      Real gammas[kCount], nears[kCount];
      int units_of_gammas[kCount];
      down_ = O::one();
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        const int slot = from + k, parity = 1 - slot % 2;
        const bool inside = !kSlow || in.cut.has(slot);
        const Scaled<Real> made = content.made(slot);
        Scaled<Real> source{row_.sum, row_.level};
        if constexpr (kSlow) source = redo_start(slot, in.cut, again, out);
        if (counts) least_source_ = smaller(least_source_, row_.sum);
        good_ = good_ && row_.sum >= (kSlow ? O::zero() : start_limit_);
        Scaled<Real> gamma = begin_segments(source);
        raise_reference<kSumsWait>(gamma, k, nears, sums);
        nears[k] = push_start(gamma, &sums[k]);
        if (in.logs != nullptr) sums[k] = O::plus(sums[k], next_tail(in.logs, slot, gamma, inside));

        const Scaled<Real> factor = content.alpha_factor(coming[k % kThen], made);
        const Scaled<Real> ending = content.end_factor(factor, coming[k % kThen]);
        if constexpr (kCount < kBlock)
          coming[k % kThen] = content.load(from + (k + kThen) / kCount * kCount, (k + kThen) % kCount);
        if constexpr (kSlow) {
          again->record().starts[slot] = gamma;
          if (content.forbids(slot)) apply_cut(slot, in, again->record(), sums, &gamma, &nears[k], out);
        }
        gammas[k] = gamma.number;
        units_of_gammas[k] = gamma.units;
        const bool refused = end_segments(sums[k], ending, inside);
        if (!kSlow && !counts) good_ = good_ && !refused;
        Scaled<Real> shared;
        if constexpr (kSlow) {
          shared = share_slowly(slot, refused, ending, in.cut, window, again);
          again->record().alphas[slot] = {inside ? alpha_.number : O::zero(), own_units(alpha_)};
          again->record().content[slot] = content.up_to(slot);
        } else {
          shared = share_alpha(parity);
        }
        if (counts) neglected_ = refused ? larger(neglected_, most_of_refused(shared.units)) : neglected_;
        start_ = content.start_factor(factor, coming[(k + 1) % kThen], slot + 1);
        if constexpr (kStores) store(slot, content.step, shared, inside, window, out);
        push_to_turn(k, nears, sums);
        row_ = {shared.units, start_message(parity, shared.units)};
      }
      out->starts.keep(from, gammas, units_of_gammas);
      if constexpr (kSumsWait) {
        Real shorter[kCount];
        near_durations<0>(shorter);
        push_to_parked(from, nears, out->starts, shorter, sums);
      } else if constexpr (kCount < kBlock) {
        push_to_later(from, nears, sums);
      }
    }
    finish<kSlow>(in.cut, counts, out);
  }

 private:
  static constexpr int kBias = kBiasOfSums<Real, Semiring>;

  // What starts and sums are compared with, and the carried alpha.
  __device__ __forceinline__ void prepare(const Inputs& in) {
    const Real start_limit = Semiring::kIsLog ? t_.least_start : static_cast<Real>(L::kSmallest);
    most_above_ = Semiring::kIsLog ? in_register(t_.most_above) : 30;
    start_limit_ = is_empty(label_.into) ? O::zero() : start_limit;
    sum_limit_ = is_empty(in.reference) && !label_.far_below ? O::zero() : t_.least_total;
    into_ = label_.into + kBias;
    alpha_level_ = label_.level - kBias - O::kUnitsBias + label_.near_bound;
    refused_level_ = alpha_level_ + O::kUnitsBias + O::units_in(t_.least_total) + 3;
    floor_ = in.reference - label_.near_bound;
    alpha_ = {in.alpha.number, wrapped(in.alpha.units, kBias - label_.near_bound)};
    row_ = in.row;
  }

  // gamma = G e^{first score - S} of the label, with units of its own; kEmpty: there is none. `source`: G.
  __device__ __forceinline__ Scaled<Real> begin_segments(Scaled<Real> source) const {
    const Real gamma = O::times(source.number, start_.number);
    const bool something = gamma > O::zero();
    return {gamma, something ? source.units + into_ - start_.units : kEmpty};
  }

  // Sums and a start that is added to them get one reference before, which only rises. Where one label must
  // rise all do, so that they do so together the next time; but what one team needs must not change a digit
  // of another's. kSumsWait: sums beyond the turn are lowered later, by down_.
  template <bool kSumsWait, int kCount>
  __device__ __forceinline__ void raise_reference(Scaled<Real> gamma, int k, Real (&nears)[kCount],
                                                  Real (&sums)[kBlock]) {
    const bool something = gamma.number > O::zero();
    const int own = Semiring::kIsLog || something ? gamma.units + O::biased_units_in(gamma.number) : kEmpty;
    lowest_ = larger(lowest_, own - kMostSpread);
    if constexpr (Semiring::kIsLog) beyond_ = smaller(beyond_, own - lowest_);
    const bool above = own > floor_ + most_above_;
    if (!lanes_.any_here(above)) return;
    const int top = own + (Semiring::kIsLog ? t_.room_above : 0);
    const bool rises = something && (Lanes::kAlone ? top > floor_ : above);
    const Real down = rises ? O::of_units_in_range(floor_ - top) : O::one();
#pragma unroll
    for (int i = k; i < (kSumsWait ? kCount : kBlock); ++i) sums[i] = O::times(sums[i], down);
    if constexpr (kSumsWait) down_ = O::times(down_, down);
#pragma unroll
    for (int j = 0; j < k; ++j) nears[j] = O::times(nears[j], down);
    floor_ = rises ? top : floor_;
    sum_limit_ = rises ? t_.least_total : sum_limit_;
  }

  // Adds a start to the sum at its slot's right boundary. Returns it relative to the reference.
  __device__ __forceinline__ Real push_start(Scaled<Real> gamma, Real* sum) const {
    const Real start = O::times(gamma.number, O::of_units_in_range(gamma.units - floor_));
    *sum = O::times_plus(start, label_.near[0], *sum);
    return start;
  }
  // And to those of the turn that come after it.
  template <int kCount>
  __device__ __forceinline__ void push_to_turn(int k, const Real (&nears)[kCount],
                                               Real (&sums)[kBlock]) const {
#pragma unroll
    for (int i = k + 1; i < kCount; ++i) sums[i] = O::times_plus(nears[k], label_.near[i - k], sums[i]);
  }

  // alpha of a sum over durations and the content's factor. Returns whether the sum is refused.
  __device__ __forceinline__ bool end_segments(Real sum, Scaled<Real> ending, bool inside) {
    const bool refused = !(sum >= sum_limit_);
    if (inside) {
      // What is no number is not taken for nothing.
      good_ = good_ && sum >= O::zero();
      alpha_ = {refused ? O::zero() : O::times(sum, ending.number), wrapped(ending.units, floor_)};
      good_ = good_ && alpha_.number <= static_cast<Real>(L::kLargest);
    }
    return refused && inside && lanes_.valid;
  }

  // Messages of a slot: alpha of its right boundary; log: G of its left one, and levels.
  __device__ __forceinline__ void store(int slot, int step, Scaled<Real> shared, bool inside,
                                        const BlockWindow<Real>& window, BlockResult<Config>* out) const {
    if (window.alpha != nullptr) {
      const int at = slot * step;
      window.alpha[at] = inside ? shared.number : O::zero();
      if constexpr (Semiring::kIsLog) window.gamma[at] = row_.sum;
    }
    if constexpr (Semiring::kIsLog) {
#pragma unroll
      for (int i = 0; i < kSlotsOfLane<Lanes>; ++i) {
        const bool mine = slot == lanes_.first_slot() + i * Lanes::kSlotLanes;
        out->levels[i] = mine ? shared.units : out->levels[i];
      }
    }
  }

  // An alpha that is no number beside the others is nothing where each label's sum over its sources stands
  // without it. At the block's end too: there the alphas that are stored are this block's.
  template <bool kSlow>
  __device__ __forceinline__ void finish(const BlockCut& cut, bool counts, BlockResult<Config>* out) {
    if constexpr (kSlow) {
      // The alphas of the last boundary may count although they vanish beside others.
      const bool lost = lanes_.valid && !cut.ends && !(row_.sum >= start_limit_);
      out->restarted = lanes_.any(lost) || out->restarted;
    } else if (!cut.ends) {
      good_ = good_ && row_.sum >= start_limit_;
      if (counts) least_source_ = smaller(least_source_, row_.sum);
    } else if (counts) {
      good_ = good_ && neglected_ == kEmpty;
    }
    out->neglected = lanes_.valid ? neglected_ : kEmpty;
    out->least_source = has_sources() ? least_source_ : static_cast<Real>(-kNone);
    out->most_start = is_empty(lowest_) ? kEmpty : lowest_ + kMostSpread - O::kUnitsBias;
    out->falls = beyond_ < 0;
    out->alpha = {alpha_.number, own_units(alpha_)};
    out->row = row_;
    out->good = good_ && !(label_.far_below && !is_empty(label_.into) && is_far_below(label_.into));
  }

  // --- units ---

  // A sum of units with a bias, which together may leave an int for a while.
  __device__ __forceinline__ static int wrapped(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
  }
  // Alpha has units less these two.
  __device__ __forceinline__ int own_units(Scaled<Real> alpha) const {
    return wrapped(alpha.units, label_.near_bound - kBias);
  }
  // The most that the alpha of a refused sum may be, relative to the boundary's level.
  __device__ __forceinline__ int most_of_refused(int level) const {
    return wrapped(alpha_.units, refused_level_) - level;
  }
  __device__ __forceinline__ bool has_sources() const { return lanes_.valid && !is_empty(label_.into); }

  // --- for slow_block ---

  // G of any slot, to make a start of, and as it is stored in row_: none beyond the sequence, one where its
  // first segments begin without a transition, and again where it was refused.
  __device__ __forceinline__ Scaled<Real> redo_start(int slot, const BlockCut& cut,
                                                     RefusedSums<Config>* again, BlockResult<Config>* out) {
    const int level = is_empty(row_.level) ? 0 : row_.level;
    const bool inside = cut.has(slot), bare = cut.bare && slot == cut.first;
    const int units_of_one = level + label_.into;
    if (bare) row_.sum = O::of_units(-units_of_one);
    if (!inside) row_.sum = O::zero();
    Scaled<Real> source{row_.sum, level};
    const bool refused = inside && !bare && lanes_.valid && !(row_.sum >= start_limit_);
    if (lanes_.any_team(refused)) {
      const Scaled<Real> found = again->redo_start(slot, refused);
      if (refused) source = {found.number, found.units - label_.into};
      out->restarted = lanes_.any(refused) || out->restarted;
    }
    // One, which as a sum may lie beyond what numbers hold.
    if (bare) source = {O::one(), -label_.into};
    const bool beyond = units_of_one > kMostOfOne || units_of_one < -kMostOfOne;
    out->restarted = lanes_.any(bare && lanes_.valid && beyond) || out->restarted;
    again->record().sources[slot] = {source.number, source.units + label_.into};
    return source;
  }

  // A forbidden position: no segment that began up to here goes on, and none that begins here is possible.
  __device__ __forceinline__ void apply_cut(int slot, const Inputs& in, BlockRecord<Real>& record,
                                            Real (&sums)[kBlock], Scaled<Real>* gamma, Real* near,
                                            BlockResult<Config>* out) {
    if (record.first_cut < 0) record.first_cut = slot;
    record.cut = slot;
    out->cut = true;
    if (in.logs != nullptr) good_ = false;
#pragma unroll
    for (int i = 0; i < kBlock; ++i) sums[i] = O::zero();
    *gamma = {O::zero(), kEmpty};
    *near = O::zero();
    out->starts.forget(slot);
    lowest_ = kEmpty;
    beyond_ = 0;
    floor_ = kEmpty - label_.near_bound;
    if (!label_.far_below) sum_limit_ = O::zero();
  }

  // share_alpha() of any slot. A refused sum is done again before, or, where it may be taken for nothing,
  // if a sum over sources would notice.
  __device__ __forceinline__ Scaled<Real> share_slowly(int slot, bool refused, Scaled<Real> ending,
                                                       const BlockCut& cut, const BlockWindow<Real>& window,
                                                       RefusedSums<Config>* again) {
    const int parity = 1 - slot % 2;
    if constexpr (!kNeglects) redo_sum(slot, refused, ending, again);
    const Scaled<Real> shared = share_alpha(parity);
    if (!kNeglects || !lanes_.any_here(refused)) return shared;
    const int most = lanes_.most(refused ? most_of_refused(shared.units) : kEmpty);
    const Real sum = start_message(parity, shared.units);
    const Real least = -lanes_.most(has_sources() ? -sum : static_cast<Real>(kNone));
    const bool last = cut.ends && slot == cut.last - 1;
    const bool known = !window.all_alphas && !is_empty(shared.units) && !last;
    redo_sum(slot, refused && !(known && neglects(t_, least, most)), ending, again);
    lanes_.sync();
    return share_alpha(parity);
  }
  // A sum over durations, and alpha made of it. Not good where only the exact path knows it.
  __device__ __forceinline__ void redo_sum(int slot, bool wanted, Scaled<Real> ending,
                                           RefusedSums<Config>* again) {
    if (!wanted) return;
    Scaled<Real> total;
    const bool known = again->redo_sum(slot, &total);
    alpha_ = {O::times(total.number, ending.number), wrapped(ending.units, total.units - label_.near_bound)};
    good_ = good_ && known && alpha_.number <= static_cast<Real>(L::kLargest);
  }

  // --- starts and the sums that come after them ---

  // What the starts of some boundaries add to the sums that come after them, which move to the beginning. In
  // parts, of which the last ones are beyond the block.
  template <int kCount>
  __device__ __forceinline__ void push_to_later(int from, const Real (&nears)[kCount],
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
  // Adds a start to sums that wait, lowered by down_ first. Those of the next boundaries wait no more.
  // `shorter`: durations up to kFirst.
  template <int kFirst = 4>
  __device__ __forceinline__ void push_to_parked(int from, const Real (&nears)[4],
                                                 const BlockStarts<Config>& parked, const Real (&shorter)[4],
                                                 Real (&sums)[kBlock]) const {
    if constexpr (kFirst < kBlock) {
      if (from + kFirst >= kBlock) return;
      Real later[4], longer[4];
      parked.take(from + kFirst, later);
      near_durations<kFirst>(longer);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        later[i] = O::times(later[i], down_);
#pragma unroll
        for (int k = 0; k < 4; ++k)
          later[i] = O::times_plus(nears[k], i < k ? shorter[4 + i - k] : longer[i - k], later[i]);
        if (kFirst == 4) sums[i] = later[i];
      }
      if (kFirst > 4) parked.park(from + kFirst, later);
      push_to_parked<kFirst + 4>(from, nears, parked, longer, sums);
    }
  }

  // Alpha of the label relative to the boundary's level, which comes with it; into the row that all labels
  // read. Lanes without a label must add nothing to the others' sums. `units`: with the label's level, less
  // the bias of units_in.
  __device__ __forceinline__ Scaled<Real> share_alpha(Real alpha, int units, int parity) const {
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

  // The same for the boundary reached.
  __device__ __forceinline__ Scaled<Real> share_alpha(int parity) const {
    return share_alpha(alpha_.number, wrapped(alpha_.units, alpha_level_), parity);
  }

  // G of the label: over all labels, of the row that was shared.
  __device__ __forceinline__ Real start_message(int parity, int level) const {
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

  // The tail at the slot's right boundary, relative to the reference of the sums. `inside`: the position is
  // of the sequence.
  __device__ __forceinline__ Real next_tail(BlockTailLogs* logs, int slot, Scaled<Real> start,
                                            bool inside) const {
    if (!lanes_.valid) return O::zero();
    const Real source = O::times(m_.ring.at(logs->block, (slot - t_.duration) & (kBlock - 1)),
                                 static_cast<Real>(logs->factor));
    const double log =
        next_tail_log(logs, t_.duration, t_.labels, slot, start, {source, logs->units}, inside);
    return inside ? O::from_log(log - (floor_ + label_.near_bound) * Semiring::kUnit) : O::zero();
  }
  // Static: docs/cuda.md, "Tuning".
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

  Scaled<Real> alpha_;     // at the boundary reached; see own_units()
  BoundaryRow<Real> row_;  // there
  Scaled<Real> start_;     // factor of starts there, whose units are taken away
  Real start_limit_, sum_limit_;
  int into_;  // what starts have in common of their units
  int alpha_level_,
      refused_level_;  // and alphas; refused ones, with two to spare for the number of their factor
  int most_above_;     // units of a start above the floor that raise the reference
  int floor_;          // the reference less the bound of durations within the block
  Real down_;          // what the sums that wait are to be lowered by
  bool good_ = true;   // nothing was refused
  int neglected_ = kEmpty;
  Real least_source_ = static_cast<Real>(-kNone);
  int lowest_ = kEmpty;  // what starts should not be below: the largest so far, less kMostSpread
  int beyond_ = 0;       // how far one of them is below that, negative; or nothing is beside something
};

}  // namespace semicrf::cuda
