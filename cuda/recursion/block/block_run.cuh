// One direction of the recursion over one chunk, block by block (docs/algorithm.md, "Blocks"). A lane holds
// what belongs to its label: the carried alpha, the scales, the sums over durations of the block's 16
// boundaries. The ring of earlier starts and the duration table lie in shared memory, or in device memory
// where they do not fit. Nothing but alpha goes from label to label, through a row of shared memory at every
// boundary.
//
// Scales are whole numbers of units (log 2; 1 in the max semiring), so that whatever moves a number is a
// power of two and everything but the numbers themselves is integer arithmetic. What a label's content,
// summed from where the run began, has beyond whole units is the label's `rest`, at most half a unit: the
// content of a block begins with it. The whole units are in `gauge`: a ring block's numbers have the factor
// (scale + gauge) units, and rest, when they are wanted at the boundary reached. So the ring is never touched
// when the run moves on.
//
// Most blocks are done by BlockRun::step, which has all it needs in registers. What it cannot do (blocks that
// are cut, that the certificate refuses, whose starts are too far apart for numbers, rings that must move) is
// done from the beginning by slow_block, out of line: the same numbers where both can do it.
#pragma once

#include "cuda/recursion/block/block_slow.cuh"

namespace semicrf::cuda {

template <class Config>
class BlockRun : private BlockParts<Config> {
 public:
  using Parts = BlockParts<Config>;
  using typename Parts::Real, typename Parts::Semiring, typename Parts::Lanes, typename Parts::O;

  // `p` and `p_aside`: the same parameters twice. The address of the second goes to functions out of line;
  // as none of the first's does, it stays in the constant bank, where instructions read it for nothing.
  __device__ __forceinline__ BlockRun(const RunParameters<Real>& p, const RunParameters<Real>& p_aside,
                                      const Lanes& lanes, const typename Parts::Memory& memory,
                                      RunAside& aside)
      : Parts(p, lanes, memory, aside), p_aside_(p_aside) {}

  // The runs of a queue, one after the other; the whole team together. A team without a queue (`active`
  // false), or with a shorter one, keeps the others of its warp company.
  __device__ __forceinline__ void run_queue(int queue, bool active) {
    aside_.index = p_.queues != nullptr ? p_.queues[queue] : queue;
    aside_.end = p_.queues != nullptr ? p_.queues[queue + 1] : queue + 1;
    aside_.active = active;
    aside_.task = p_.tasks + aside_.index;
    aside_.sequence = &p_.sequences[aside_.task->sequence];
    aside_.rounded = (aside_.sequence->length + kBlock - 1) / kBlock * kBlock;
    begin_run();
    aside_.position = active ? aside_.task->from : aside_.task->end;
    for (;;) {
      run();
      aside_.active = aside_.active && aside_.index + 1 < aside_.end;
      if (!lanes_.some_team(aside_.active)) break;
      if (!aside_.active) continue;
      ++aside_.index;
      ++aside_.task;
      aside_.next_mark = -1;
    }
  }

 private:
  using Parts::aside_, Parts::label_, Parts::lanes_, Parts::m_, Parts::p_, Parts::t_;

  // One run, from aside_.position on.
  __device__ __forceinline__ void run() {
    state_.left = 0;
    // Helpers are one block ahead.
    bool leading = !helped();
    [[maybe_unused]] bool slowly = false;
    if (helped()) __syncthreads();
    for (;;) {
      if (leading && lanes_.some_team(state_.left == 0)) {
        arrive(state_.left == 0);
        if (state_.left == 0) next_place();
        if (!lanes_.some_team(state_.kind != BlockKind::kIdle)) break;
      }
      if constexpr (Lanes::kTeam) {
        if (leading && !slowly && (is_plain(BlockKind::kPlain) || is_plain(BlockKind::kEdges))) {
          plain_blocks_of_team();
          if (state_.left == 0) continue;
        }
        slowly = help_or_lead(leading);
        if (leading) advance();
        leading = true;
      } else {
        blocks_of_warp();
      }
    }
    if (!lanes_.leads) return;
    export_state(aside_.active);
    if (aside_.active && lanes_.valid && lanes_.c == 0) report();
  }

  // --- the loop over the blocks ---

  // Whether other warps sum up parts of the ring for the leading ones.
  __device__ __forceinline__ bool helped() const {
    if constexpr (Lanes::kTeam) return lanes_.has_helpers();
    return false;
  }
  __device__ __forceinline__ int direction_labels() const { return this->direction() * t_.labels; }

  // What happens at the boundary where a stretch of blocks ends: the chunk begins, or its state is kept.
  __device__ __forceinline__ void arrive(bool here) {
    const bool begins = aside_.position == aside_.task->begin;
    const bool marked =
        here && aside_.position < aside_.task->end && (begins || aside_.position == aside_.next_mark);
    if (!lanes_.some_team(marked)) return;
    // A run that is done again begins with the state that lies there.
    const bool is_there = begins && aside_.task->start == StartKind::kState;
    if (lanes_.leads) export_state(marked && !is_there);
    if (!marked) return;
    aside_.next_mark = mark_after(aside_.position);
    if (!begins || !lanes_.leads) return;
    if (lanes_.valid && lanes_.c == 0) p_.reports[aside_.task->report].mass_before = aside_.mass;
    aside_.fallbacks = 0;
  }

  // `leading`: a block of the run; else helpers alone, for the first block. Returns whether the next one is
  // not to be tried as a plain one.
  __device__ __forceinline__ bool help_or_lead(bool leading) {
    const int next = leading ? ring_after(state_.head) : state_.head;
    for (bool again = false;; again = true) {
      if (!lanes_.leads) {
        this->far().help(lanes_, next, parity_ ^ 1);
      } else if (leading && !again) {
        step();
        if (threadIdx.x == 0) slowly_next(parity_) = not_plain_next() ? 1 : 0;
      }
      if (!lanes_.has_helpers()) return not_plain_next();
      __syncthreads();
      if (this->regauge(parity_) == 0) break;
      // The scales are to change under the helpers: their sums are made again.
      __syncthreads();
      if (lanes_.leads && aside_.move_wanted) {
        this->note_far_above(
            move_ring(this->exact(), t_.ring_blocks, aside_.fresh, aside_.move_units, aside_.move_forbidden));
        aside_.move_wanted = false;
      }
      lower_flag();
      __syncthreads();
    }
    parity_ ^= 1;
    return leading && slowly_next(parity_ ^ 1) != 0;
  }
  __device__ __forceinline__ int& slowly_next(int parity) const { return this->regauge(2 + parity); }
  __device__ __forceinline__ void lower_flag() {
    // Not all lanes had something to do before: a barrier of the block wants whole warps.
    __syncwarp();
    if (threadIdx.x == 0) this->regauge(parity_) = 0;
    __syncwarp();
  }
  __device__ __forceinline__ int ring_after(int head) const {
    return head + 1 == t_.ring_blocks ? 0 : head + 1;
  }

  // Whether the blocks at hand are of a kind that has a loop of its own. Not where two warps lead: they wait
  // for each other, not for what is spilled, and are slower with more code.
  __device__ __forceinline__ bool is_plain(BlockKind kind) const {
    return Config::kRows > 0 && Config::kRows <= 32 && state_.kind == kind &&
           !(t_.tail && t_.duration < kBlock);
  }

  // The blocks of the stretch, or those up to one that plain_blocks() cannot do, and that one. Each kind has
  // a loop of its own, which keeps nothing in registers for the others: it reads the label's tables again.
  __device__ __forceinline__ void blocks_of_warp() {
    const bool stores = lanes_.some_team(p_.store.alpha.numbers != nullptr && state_.storing);
    // Where several teams share a warp, the loop that stores wants more registers than there may be; and
    // which loop does a block with boundary scores, whose last digits may differ on a GPU, would depend on
    // the others.
    constexpr bool kMayStore = Lanes::kAlone || Config::kManyRegisters || Config::kNearShared;
    const bool fits = kMayStore || !stores;
    const bool edges = Lanes::kAlone && is_plain(BlockKind::kEdges);
    const bool plain = edges || (fits && !lanes_.some_team(!is_plain(BlockKind::kPlain)));
    if (plain && !slowly()) {
      plain_blocks_of_warp<kMayStore>(stores, edges);
      if (lanes_.some_team(state_.left == 0)) return;
    }
    renew_memory();
    this->load_label();
    do {
      step();
      advance();
    } while ((!plain || slowly()) && !lanes_.some_team(state_.left == 0));
  }
  // Whether the next block is not to be tried as a plain one.
  __device__ __forceinline__ bool slowly() const {
    return lanes_.some_team(state_.kind != BlockKind::kIdle && not_plain_next());
  }
  __device__ __forceinline__ bool not_plain_next() const {
    return aside_.slow_ahead > 0 || aside_.careful_ahead > 0;
  }
  template <bool kMayStore>
  __device__ __forceinline__ void plain_blocks_of_warp(bool stores, bool edges) {
    if constexpr (kMayStore) {
      if (stores) return plain_blocks_of_kind<true>(edges);
    }
    plain_blocks_of_kind<false>(edges);
  }
  template <bool kStores>
  __device__ __forceinline__ void plain_blocks_of_kind([[maybe_unused]] bool edges) {
    if constexpr (Lanes::kAlone) {
      if (edges) return plain_blocks<BlockTraits<true, kStores, true, true>>();
    }
    if (t_.tail) {
      plain_blocks<BlockTraits<true, kStores, true>>();
    } else {
      plain_blocks<BlockTraits<true, kStores, false>>();
    }
  }
  // Nothing is called in this loop but what is inline: what lives across a call is spilled, whether the call
  // is made or not.
  template <class Traits>
  __device__ __forceinline__ void plain_blocks() {
    this->load_label();
    Ahead ahead = look_ahead<Traits>();
    while (!lanes_.some_team(state_.left == 0 || is_empty(ahead.row.level)) &&
           fast_block<Traits>(true, false, &ahead))
      advance();
  }
  // The loop over plain blocks of a block team, with its helpers. Who finds a block that this loop cannot do
  // raises the flag.
  __device__ __forceinline__ void plain_blocks_of_team() {
    const bool edges = state_.kind == BlockKind::kEdges;
    const bool stores = p_.store.alpha.numbers != nullptr && state_.storing;
    Ahead ahead;
    if (lanes_.leads) {
      if (edges) {
        ahead = look_ahead<BlockTraits<true, true, true, true>>();
      } else {
        ahead = look_ahead<BlockTraits<true, true, true>>();
      }
    }
    while (state_.left > 0) {
      bool good = true;
      if (!lanes_.leads) {
        this->far().help(lanes_, ring_after(state_.head), parity_ ^ 1);
      } else if (is_empty(ahead.row.level)) {
        good = false;
      } else if (edges) {
        good = fast_block<BlockTraits<true, true, true, true>>(true, false, &ahead);
      } else if (stores) {
        good = fast_block<BlockTraits<true, true, true>>(true, false, &ahead);
      } else {
        good = fast_block<BlockTraits<true, false, true>>(true, false, &ahead);
      }
      if (lanes_.has_helpers()) {
        if (threadIdx.x == 0 && !good) this->regauge(parity_) = 1;
        __syncwarp();
        __syncthreads();
        good = this->regauge(parity_) == 0;
      }
      if (!good) break;
      if (lanes_.has_helpers()) parity_ ^= 1;
      advance();
    }
    if (state_.left == 0 || !lanes_.has_helpers()) return;
    __syncthreads();
    lower_flag();
  }

  // The blocks from the boundary reached: one that the run or the sequence cuts or ends with, or all that are
  // like the first until something is to be done between them.
  __device__ __forceinline__ void next_place() {
    Place& at = aside_.place;
    const RunTask& task = *aside_.task;
    const SequenceView& sequence = *aside_.sequence;
    const std::int64_t position = aside_.position;
    at.running = position < task.end;
    const std::int64_t begin = position / kBlock * kBlock;
    std::int64_t end = position < task.begin ? task.begin : task.end;
    if (position >= task.begin && aside_.next_mark < end) end = aside_.next_mark;
    const std::int64_t first = p_.backward ? aside_.rounded - sequence.length : 0;
    const std::int64_t last = p_.backward ? aside_.rounded : sequence.length;
    at.first = static_cast<int>(position - begin);
    at.first_here = position == first;
    // The sequence's last block is by itself, as is a block that is cut.
    if (at.first != 0 || at.first_here || end - begin < kBlock) {
      end = end - begin < kBlock ? end : begin + kBlock;
    } else {
      const std::int64_t last_block = (last - 1) / kBlock * kBlock;
      if (end > last_block && position < last_block) end = last_block;
      if (position < last_block || end - begin >= kBlock) end = begin + (end - begin) / kBlock * kBlock;
    }
    at.last = end - begin < kBlock ? static_cast<int>(end - begin) : kBlock;
    at.whole = at.first == 0 && at.last == kBlock;
    at.last_here = end == last;
    at.blocks = at.running ? static_cast<int>((end - begin + kBlock - 1) / kBlock) : 1 << 30;
    at.storing = at.running && position >= task.begin && p_.store.alpha.numbers != nullptr;
    at.first_of_sequence = position == task.from && starts_at_edge(task.start);
    at.cut_start = at.first_of_sequence && task.start == StartKind::kCutEdge;
    at.plain_start = !at.first_of_sequence || t_.initial_transition;
    at.edges = at.first_here || at.last_here || sequence.starts.f32 != nullptr ||
               sequence.starts.f64 != nullptr || sequence.ends.f32 != nullptr || sequence.ends.f64 != nullptr;
    at.row = (p_.backward ? aside_.rounded - 1 - begin : begin) - sequence.begin;
    at.store_row = 0;
    if (at.storing)
      at.store_row =
          sequence.first_row + this->boundary_of(begin) - (p_.backward ? kBlock : 0) - p_.store.first_token;
    at.scores = at.whole && !at.edges && !sequence.subtract_position_max ? sequence.emissions.f32 : nullptr;
    if (at.running) aside_.position = end;
    state_.left = at.blocks;
    state_.storing = at.storing;
    state_.kind = BlockKind::kIdle;
    scores_ = nullptr;
    if (!at.running) return;
    state_.kind = at.scores != nullptr ? BlockKind::kPlain : BlockKind::kLong;
    const float* scores = at.scores;
    const EdgeScores edges(sequence, p_.backward != 0);
    at.starts = edges.first.f32;
    at.ends = edges.last.f32;
    if (at.whole && !at.first_here && !at.last_here && !sequence.subtract_position_max && scores == nullptr &&
        edges.first.f64 == nullptr && edges.last.f64 == nullptr) {
      scores = sequence.emissions.f32;
      if (scores != nullptr) state_.kind = BlockKind::kEdges;
    }
    if (scores != nullptr) scores_ = scores + at.row * t_.labels + label_.label;
    if (!at.whole || !at.plain_start) state_.kind = BlockKind::kSlow;
  }

  __device__ __forceinline__ void begin_run() {
    state_ = RunState<Real>{};
    state_.kind = BlockKind::kIdle;
    parity_ = 0;
    aside_.place.running = false;
    aside_.mass = 0;
    aside_.fallbacks = 0;
    aside_.slow_ahead = aside_.careful_ahead = 0;
    aside_.far_above = 0;
    aside_.next_mark = -1;
    const double* const baseline = aside_.sequence->baseline;
    aside_.baseline = baseline != nullptr ? baseline[label_.label] : 0.0;
    less_ = ExponentSum<Real>::of(-aside_.baseline);
    aside_.move_wanted = false;
    aside_.tail_log = kNone;
    aside_.tail_is_number = false;
    if (t_.tail) this->find_last();
    if (!lanes_.leads) return;
    const bool warm = aside_.task->start == StartKind::kWarm;
    if (lanes_.valid && lanes_.c == 0) {
      int* has_log = this->exact().has_log;
      for (int block = 0; block < t_.ring_blocks; ++block) has_log[block] = 0;
    }
    if (lanes_.has_memory()) {
      const bool open = warm && lanes_.valid;
      const Real number = open ? O::one() : O::zero();
      for (int block = 0; block < t_.ring_blocks; ++block) {
        for (int part = 0; part < kBlock; part += 4)
          store4(m_.ring.block(block) + part, number, number, number, number);
        m_.ring.scale(block) = open ? 0 : kEmpty;
      }
    }
    if (Lanes::kTeam && threadIdx.x == 0) this->regauge(0) = this->regauge(1) = 0;
    state_.carry = lanes_.valid ? O::one() : O::zero();
    state_.carry_scale = lanes_.valid ? 0 : kEmpty;
    if (warm && t_.tail && t_.log_tail[label_.label] != kNone) aside_.tail_log = 0;
    if (lanes_.some_team(aside_.active && aside_.task->start == StartKind::kState)) begin_from_state();
    if (lanes_.valid && aside_.active && aside_.task->start == StartKind::kCutEdge)
      this->note_far_above(open_ring(p_aside_.tables, this->exact(), label_.label, &aside_.tail_log));
    lanes_.sync();
  }

  __device__ __forceinline__ void begin_from_state() {
    const bool mine = aside_.active && aside_.task->start == StartKind::kState;
    double alpha = kNone;
    if (mine && lanes_.valid) {
      const Messages messages = read_state(p_aside_, this->exact(), aside_.task->first_state, lanes_.c);
      alpha = messages.alpha;
      aside_.tail_log = messages.tail;
    }
    this->take_alpha(state_, alpha, mine);
    if (!mine) return;
    state_.logs_left = t_.ring_blocks;
    if (lanes_.valid && state_.base != 0)
      this->note_far_above(move_ring(this->exact(), t_.ring_blocks, -1, -state_.base, false));
  }

  // Positions between the left edge of the chunk and a boundary of it.
  __device__ __forceinline__ std::int64_t from_left_edge(std::int64_t position) const {
    return p_.backward ? aside_.task->end - position : position - aside_.task->begin;
  }
  // The next position whose boundary is a mark; from the chunk's beginning on.
  __device__ __forceinline__ std::int64_t mark_after(std::int64_t position) const {
    const std::int64_t mark = aside_.task->mark;
    const std::int64_t beyond = from_left_edge(position) % mark;
    if (!p_.backward) return position + mark - beyond;
    return position + (beyond == 0 ? mark : beyond);
  }
  // Slot of the state at the boundary reached.
  __device__ __forceinline__ int state_slot() const {
    const RunTask& task = *aside_.task;
    if (aside_.position == task.begin) return task.first_state;
    const std::int64_t mark = task.mark;
    const std::int64_t here = from_left_edge(aside_.position);
    const std::int64_t marks =
        p_.backward ? (task.end - task.begin + mark - 1) / mark - here / mark : (here + mark - 1) / mark;
    return task.first_state + static_cast<int>(marks);
  }
  __device__ __forceinline__ void export_state(bool mine) {
    Boundary at;
    at.mine = mine;
    // Behind a block that the sequence's end cuts the ring is not aligned, and nobody needs it but where that
    // end is a cut.
    const int beyond = static_cast<int>(aside_.position % kBlock);
    at.with_ring = beyond == 0;
    at.slot = state_slot();
    at.head = state_.head;
    at.gauge = state_.gauge;
    at.rest = state_.rest;
    at.alpha = this->alpha_log(state_);
    at.tail = this->tail_log(state_);
    at.whole = whole_nats<Semiring>(state_.base, &at.offset) + aside_.mass;
    write_state(p_aside_, this->exact(), lanes_, at);
    if (t_.cut_end != 0 && lanes_.some_team(mine && beyond != 0)) {
      at.mine = mine && beyond != 0;
      write_ring_within(p_aside_, this->exact(), lanes_, at, beyond);
    }
  }
  __device__ __forceinline__ void report() const {
    RunReport& report = p_.reports[aside_.task->report];
    report.mass_inside = aside_.mass - report.mass_before;
    report.fallbacks = aside_.fallbacks;
  }

  // --- one block with everything in registers ---

  __device__ __forceinline__ void step() {
    const bool mine = state_.kind != BlockKind::kIdle;
    if (lanes_.some_team(state_.kind == BlockKind::kSlow || (mine && aside_.slow_ahead > 0))) [[unlikely]] {
      step_slowly();
      return;
    }
    const bool long_way = state_.kind == BlockKind::kLong || state_.kind == BlockKind::kEdges;
    if (!fast_block<AnyBlock>(mine, long_way, nullptr)) [[unlikely]]
      step_slowly();
  }

  // What a loop over plain blocks has of the next one already.
  struct Ahead {
    BoundaryRow<Real> row;
    typename Parts::template Coming<false> coming;
    std::int64_t stored;         // row of the store where it begins
    const float *starts, *ends;  // boundary scores of its first position
  };
  template <class Traits>
  __device__ __forceinline__ Ahead look_ahead() {
    Ahead ahead;
    ahead.row = this->first_row(state_);
    ahead.stored = this->store_row(state_);
    const Place& at = aside_.place;
    const std::int64_t first = this->row(state_) * t_.labels + label_.label;
    ahead.starts = Traits::kEdges && at.starts != nullptr ? at.starts + first : nullptr;
    ahead.ends = Traits::kEdges && at.ends != nullptr ? at.ends + first : nullptr;
    if constexpr (Config::kLoops)
      this->template ask_for<Traits::kEdges>(content_of<Traits>(ahead), ahead.coming);
    return ahead;
  }
  template <class Traits>
  __device__ __forceinline__ BlockContent<Real, Semiring> content_of(const Ahead& ahead) const {
    BlockContent<Real, Semiring> content;
    content.begin(scores_, direction_labels(), less_, state_.rest);
    if constexpr (Traits::kEdges) {
      content.starts = ahead.starts;
      content.ends = ahead.ends;
    }
    return content;
  }
  // The next block. False, with nothing changed, where it must be done by step_slowly().
  template <class Traits>
  __device__ __forceinline__ bool fast_block(bool mine, bool long_way, Ahead* ahead) {
    constexpr bool kPlain = Traits::kPlain, kStores = Traits::kStores;
    if constexpr (kPlain) renew_memory();
    if (kPlain && scores_ == nullptr) __builtin_unreachable();
    const bool stores = kStores && p_.store.alpha.numbers != nullptr && state_.storing;
    std::int64_t stored = 0;
    if (stores) stored = kPlain ? ahead->stored : this->store_row(state_);
    BlockContent<Real, Semiring> content;
    if constexpr (kPlain) {
      content = content_of<Traits>(*ahead);
    } else {
      content.begin(long_way ? nullptr : scores_, direction_labels(), less_, state_.rest);
    }
    bool forbidden = false;
    const bool longer = !kPlain && mine && (long_way || !content.is_moderate(&forbidden));
    if (!kPlain && lanes_.any_team(mine && forbidden)) [[unlikely]]
      return false;
    const FarBound ring = this->ring_bound(state_, parity_);
    const int reference = this->template reference_of<Traits>(state_, ring.largest);
    Real sums[kBlock];
    this->sum_far(state_, parity_, sums, reference, ring);

    prefetch_rows(scores_);
    if constexpr (Traits::kEdges) prefetch_rows(ahead->starts), prefetch_rows(ahead->ends);
    BlockFactors<Real> factors;
    if constexpr (kPlain) {
      if (kStores) this->no_shifts(state_, stored);
    } else {
      content.factors = this->long_factors(p_aside_.tables, state_, mine, longer, &factors);
      if (lanes_.any_team(mine && content.factors != nullptr && content.factors->cuts != 0)) [[unlikely]]
        return false;
    }

    BlockTail<Real> tail;
    BlockTailLogs logs{};
    BlockResult<Config> result{{m_, lanes_.has_memory()}};
    constexpr bool kParks = kPlain && Config::kLoops && Lanes::kParks;
    if constexpr (kParks) park();
    if constexpr (kPlain && Config::kLoops) {
      content.after = state_.left > 1 ? kBlock : 0;
      this->template recur<false, Traits>(state_, stored, ahead->row, ahead->coming, reference, content,
                                          &tail, &logs, sums, nullptr, nullptr, &result);
    } else {
      typename Parts::template Coming<false> coming;
      this->template ask_for<Traits::kEdges>(content, coming);
      this->template recur<false, Traits>(state_, stored, kPlain ? ahead->row : this->first_row(state_),
                                          coming, reference, content, &tail, &logs, sums, nullptr, nullptr,
                                          &result);
    }
    if constexpr (kPlain) renew_memory();
    if constexpr (kParks) unpark();
    if (kPlain && lanes_.any_team(!content.was_moderate())) [[unlikely]]
      return false;
    const bool good = this->template certified<Traits>(state_, ring.largest, content, tail, result);
    const double total = content.total();
    const BlockMove<Real> move = this->move_of(state_, total, result);
    const bool moves = move.gauge > kMostGauge || move.gauge < -kMostGauge;
    if (lanes_.any_team(mine && lanes_.valid && (!good || moves))) [[unlikely]]
      return false;
    const bool vanished = this->has_vanished(state_, mine, move, result);
    // Their messages are kept as logarithms.
    if (!Semiring::kIsLog && lanes_.some_team(vanished)) return false;
    if constexpr (!kPlain) {
      const bool careful = lanes_.any(mine && result.neglected != kEmpty);
      if (mine) aside_.careful_ahead = ahead_after(aside_.careful_ahead, careful);
    }
    if (mine) {
      if (lanes_.valid) this->template keep_starts_of<Traits>(state_, stored, result, move, -state_.gauge);
      if (vanished || state_.logs_left > 0) [[unlikely]]
        this->keep_logs_of(state_, result, move, vanished);
      if (stores) this->template store_scales<Traits>(state_, stored, total, tail, logs, result, move);
      if (!kPlain && content.factors != nullptr) aside_.mass += content.factors->mass;
      this->template move_on<Traits>(state_, total, tail, logs, result, move);
    }
    if constexpr (kPlain) {
      // The base has moved to the level.
      ahead->row = {is_empty(result.row.level) ? kEmpty : 0, result.row.sum};
      if (kStores) ahead->stored += this->direction() * kBlock;
      if constexpr (Traits::kEdges) {
        if (ahead->starts != nullptr) ahead->starts += kBlock * direction_labels();
        if (ahead->ends != nullptr) ahead->ends += kBlock * direction_labels();
      }
    }
    lanes_.sync();
    return true;
  }
  // Addresses are computed again rather than kept.
  __device__ __forceinline__ void renew_memory() {
    if constexpr (!Lanes::kTeam) this->m_ = warp_memory<Real, Lanes>(p_, thread_here());
  }
  // What the recursion does not want of the state waits behind the warp's alphas: kParkedNumbers of every
  // lane.
  __device__ __forceinline__ int& parked(int number) const {
    const SharedPointer<int> numbers{m_.alpha.offset};
    return static_cast<int*>(numbers)[2 * kAlphaWidth + 32 * number + lanes_.c];
  }
  __device__ __forceinline__ void park() const {
    parked(0) = state_.gauge;
    parked(1) = state_.head;
    parked(2) = state_.left;
    parked(3) = state_.logs_left;
    parked(4) = __double2loint(state_.base);
    parked(5) = __double2hiint(state_.base);
  }
  __device__ __forceinline__ void unpark() {
    state_.gauge = parked(0);
    state_.head = parked(1);
    state_.left = parked(2);
    state_.logs_left = parked(3);
    state_.base = __hiloint2double(parked(5), parked(4));
  }
  __device__ __forceinline__ void advance() {
    if (state_.kind != BlockKind::kIdle) {
      state_.head = ring_after(state_.head);
      if (scores_ != nullptr) scores_ += kBlock * direction_labels();
    }
    --state_.left;
  }

  __device__ __forceinline__ void step_slowly() {
    // A copy: the address of state_ would put it into memory.
    RunState<Real> state = state_;
    slow_block<typename Config::OutOfLine>(p_aside_, lanes_, m_, aside_, state, parity_);
    state_ = state;
    this->load_label();
  }

  // Asks for the rows of the next block. `scores`: where this one's begin.
  __device__ __forceinline__ void prefetch_rows(const float* scores) const {
    constexpr int kLine = 128 / sizeof(float);
    const int labels = in_register(t_.labels), c = in_register(lanes_.c);
    const int label = c < labels ? c : labels - 1;
    const int lane = c * kLine;
    if (scores == nullptr || state_.left <= 1 || lane >= kBlock * labels) return;
    const int from = (p_.backward ? 1 - 2 * kBlock : kBlock) * labels - label;
    ask_for_line(scores + (from + lane));
  }

  const RunParameters<Real>& p_aside_;
  RunState<Real> state_;
  const float* scores_ = nullptr;  // scores of the label, where the next block begins
  ExponentSum<Real> less_;         // taken out of every score
  int parity_ = 0;
};

}  // namespace semicrf::cuda
