// A block of any kind, from the beginning, out of line: by the fast path where it can do it, else by the
// exact one.
#pragma once

#include "cuda/recursion/block/block_parts.cuh"
#include "cuda/recursion/block/exact_block.cuh"
#include "cuda/recursion/block/refused_sums.cuh"

namespace semicrf::cuda {

template <class Config>
class SlowBlock : private BlockParts<Config> {
 public:
  using Parts = BlockParts<Config>;
  using typename Parts::Real, typename Parts::Semiring, typename Parts::Lanes, typename Parts::O;

  __device__ SlowBlock(const RunParameters<Real>& p, const Lanes& lanes, const typename Parts::Memory& memory,
                       RunAside& aside, RunState<Real>& state, int parity)
      : Parts(p, lanes, memory, aside), s_(state), parity_(parity) {}

  __device__ void run() {
    const Place& at = aside_.place;
    const FarBound ring = this->ring_bound(s_, parity_);

    BlockContent<Real, Semiring> content;
    const bool readable = at.running && at.scores != nullptr;
    content.begin(readable ? at.scores + this->row(s_) * t_.labels + label_.label : nullptr,
                  this->direction() * t_.labels, ExponentSum<Real>::of(-aside_.baseline), s_.rest);
    const bool moderate = readable && content.is_moderate();
    BlockFactors<Real> factors;
    content.factors = this->long_factors(t_, s_, at.running, at.running && !moderate, &factors);

    const int reference = this->template reference_of<AnyBlock>(s_, ring.largest);
    Real far[kBlock], sums[kBlock];
    this->sum_far(s_, parity_, far, reference, ring);
    for (int slot = 0; slot < kBlock; ++slot) sums[slot] = far[slot];
    BlockTail<Real> tail;
    BlockTailLogs logs{};
    BlockResult<Config> result{{m_, lanes_.has_memory()}};
    typename Parts::template Coming<true> coming;
    this->template ask_for<false>(content, coming);
    BlockRecord<Real> record;
    RefusedSums<Config> again(t_, m_, lanes_, this->exact(), record, label_.label, s_.head, s_.gauge,
                              this->alpha_log(s_), open_tail());
    this->template recur<true, AnyBlock>(s_, this->store_row(s_), this->first_row(s_), coming, reference,
                                         content, &tail, &logs, sums, &again, &record, &result);
    // A first segment needs no transition; where there is none into its label, the scale says nothing of it.
    const bool lost = this->cut().bare && is_far_below(label_.into);
    // Beyond a cut only the exact path looks.
    const bool good = this->template certified<AnyBlock>(s_, ring.largest, content, tail, result) && !lost &&
                      !aside_.place.cut_start;
    const bool exact = lanes_.any(lanes_.valid && !good) && at.running;
    if (lanes_.any_team(exact)) {
      run_exact(reference, ring.largest, far, exact);
      if (exact) ++aside_.fallbacks;
    }
    const bool low = finish(content, tail, logs, record, result, at.running && !exact);
    const bool needed =
        lanes_.any(lanes_.valid && (exact || low || result.cut || result.restarted || again.used()));
    aside_.slow_ahead = ahead_after(aside_.slow_ahead, needed);
    lanes_.sync();
  }

 private:
  using Parts::aside_, Parts::label_, Parts::lanes_, Parts::m_, Parts::p_, Parts::t_;

  // What is open longer than K, without the rest.
  __device__ Scaled<Real> open_tail() const {
    if (!t_.tail) return {O::zero(), 0};
    if (aside_.tail_is_number) return {static_cast<Real>(aside_.tail_number), aside_.tail_units};
    return O::scaled_from_log(aside_.tail_log - s_.rest);
  }

  // What of the teams' blocks were fast moves on to the next boundary; all lanes together. Returns whether it
  // has starts that a fast block has not.
  __device__ bool finish(const BlockContent<Real, Semiring>& content, BlockTail<Real>& tail,
                         const BlockTailLogs& logs, const BlockRecord<Real>& record,
                         const BlockResult<Config>& result, bool mine) {
    const double total = content.total();
    const BlockMove<Real> move = this->move_of(s_, total, result);
    const bool moves = result.cut || move.gauge > kMostGauge || move.gauge < -kMostGauge;
    const bool keep = this->has_vanished(s_, mine, move, result);
    // What the ring is to forget and readers are not, and what has few digits as a number.
    const bool lost = result.cut && (Semiring::kIsLog || t_.tail || (t_.gaps != 0 && spreads(record)));
    const bool in_logs =
        lanes_.any(mine && ((lanes_.valid && lost) || result.restarted)) || (!Semiring::kIsLog && keep);
    const bool stores = mine && aside_.place.storing;
    const int pool = claim_pool(stores && in_logs);
    if (!mine) return false;
    if (result.cut) tail.number = O::zero();
    if (lanes_.valid)
      this->template keep_starts_of<AnyBlock>(s_, this->store_row(s_), result, move,
                                              moves ? move.gauge - s_.gauge : -s_.gauge);
    if (keep || s_.logs_left > 0) this->keep_logs_of(s_, result, move, keep);
    if (stores && in_logs) {
      if (lanes_.valid) store_logs(record, logs, total, result.cut, pool);
    } else if (stores) {
      this->template store_scales<AnyBlock>(s_, this->store_row(s_), total, tail, logs, result, move);
      if (lanes_.valid && result.cut) store_cuts(record, content.factors->cuts);
    }
    if (content.factors != nullptr) aside_.mass += content.factors->mass;
    this->template move_on<AnyBlock>(s_, total, tail, logs, result, move);
    if (lanes_.valid && moves) request_move(move.gauge, result.cut);
    return !Semiring::kIsLog && keep;
  }

  // --- max semiring: starts of a label with forbidden positions, those included that end at one ---

  __device__ static int units_of_start(const Scaled<Real>& start) {
    return start.number > O::zero() ? start.units + O::units_in(start.number) : kEmpty;
  }
  __device__ static int most_units(const BlockRecord<Real>& record) {
    int most = kEmpty;
    for (int slot = 0; slot < kBlock; ++slot) {
      const int units = units_of_start(record.starts[slot]);
      most = units > most ? units : most;
    }
    return most;
  }
  // Whether numbers with a common scale have too few digits for them.
  __device__ static bool spreads(const BlockRecord<Real>& record) {
    const int most = most_units(record);
    bool far = false;
    for (int slot = 0; slot < kBlock; ++slot) {
      const int units = units_of_start(record.starts[slot]);
      far = far || (!is_empty(units) && most - units > Parts::kMostSpread);
    }
    return far;
  }
  // In place of what the ring keeps of them. `cuts`: a bit per forbidden position.
  __device__ void store_cuts(const BlockRecord<Real>& record, unsigned cuts) const {
    const int most = most_units(record);
    const std::int64_t first = this->store_row(s_);
    for (int slot = 0; slot < kBlock; ++slot) {
      const Scaled<Real>& start = record.starts[slot];
      const bool some = start.number > O::zero();
      p_.store.gamma.numbers[(first + slot) * t_.labels + lanes_.c] =
          some ? O::times(start.number, O::of_units_in_range(start.units - most)) : O::zero();
    }
    double nats_rest;
    whole_nats<Semiring>(s_.base, &nats_rest);
    const std::int64_t to = first / kBlock * t_.labels + lanes_.c;
    const double scale = log_of_units<Semiring>(most) + nats_rest + s_.rest;
    p_.store.gamma.scale[to] = scale;
    p_.store.gamma_bound[to] = scale + Semiring::kUnit;
    p_.store.cuts[to] = static_cast<std::uint16_t>(cuts);
  }

  // A slot of the pool for the messages of the block as logarithms; -1: not asked for. The team together.
  __device__ int claim_pool(bool keeps) {
    int pool = -1;
    if (keeps && lanes_.valid && lanes_.c == 0) {
      // A run that is done again has slots of its own already.
      const std::int64_t block = this->store_row(s_) / kBlock;
      int& exact = p_.store.exact[block];
      const bool again = aside_.task->start == StartKind::kState && exact != 0;
      pool = again ? exact - 1 : atomicAdd(p_.store.pool_used, 1);
      exact = pool + 1;
      double nats_rest;
      p_.store.base[block] = whole_nats<Semiring>(s_.base, &nats_rest);
      p_.store.mass[block] = aside_.mass;
    }
    if (keeps && lanes_.valid) {
      // Not used, but copied with those of other blocks.
      const std::int64_t to = this->store_row(s_) / kBlock * t_.labels + lanes_.c;
      p_.store.alpha.scale[to] = p_.store.gamma.scale[to] = 0;
      if (p_.store.tail.numbers != nullptr) p_.store.tail.scale[to] = 0;
    }
    return lanes_.most(pool);
  }
  // Where a lane's logarithms begin in the pool; -1: there is no room.
  __device__ std::int64_t pool_row(int pool) const {
    if (pool < 0 || pool >= p_.store.pool_slots) return -1;
    return static_cast<std::int64_t>(pool) * kBlock * t_.labels + lanes_.c;
  }

  // The messages of a block that was not done exactly.
  __device__ void store_logs(const BlockRecord<Real>& record, const BlockTailLogs& logs, double total,
                             bool cut, int pool) const {
    const Place& at = aside_.place;
    p_.store.content[this->store_row(s_) / kBlock * t_.labels + lanes_.c] = cut ? kNone : total - s_.rest;
    const std::int64_t row = pool_row(pool);
    if (row < 0) return;
    double base_rest;
    whole_nats<Semiring>(s_.base, &base_rest);
    const auto log_of = [&](Scaled<Real> x) {
      const double log = Semiring::kIsLog ? log_of_number(x.number) : static_cast<double>(x.number);
      return x.number > O::zero() ? log + x.units * Semiring::kUnit + base_rest : kNone;
    };
    const bool is_short = t_.duration < kBlock;
    for (int slot = at.first; slot < at.last; ++slot) {
      const std::int64_t to = row + (p_.backward ? kBlock - 1 - slot : slot) * t_.labels;
      const double left = slot > 0 ? record.content[slot - 1] : s_.rest;
      p_.store.alpha.pool[to] = log_of(record.alphas[slot]);
      p_.store.gamma.pool[to] =
          Semiring::kIsLog ? log_of(record.sources[slot]) : log_of(record.starts[slot]) + left;
      if (!t_.tail || p_.store.tail.pool == nullptr) continue;
      double tail = is_short ? logs.kept[slot * t_.labels] + base_rest : log_of(record.tails[slot]);
      if (record.first_cut >= 0 && slot >= record.first_cut) tail = kNone;
      p_.store.tail.pool[to] = tail + record.content[slot];
    }
  }

  __device__ void run_exact(int reference, int ring, const Real (&far)[kBlock], bool mine) {
    const Place& at = aside_.place;
    const std::int64_t row = this->row(s_), store_row = this->store_row(s_);
    const bool keeps = mine && at.storing;
    double nats_rest;
    whole_nats<Semiring>(s_.base, &nats_rest);
    const std::int64_t pool_at = pool_row(claim_pool(keeps));
    const bool has_room = keeps && pool_at >= 0;
    ExactBlock<Config> x;
    x.sequence = aside_.sequence;
    x.aside = &aside_;
    x.memory = this->exact();
    if (mine && lanes_.valid) {
      for (int i = 0; i < kBlock; ++i) x.memory.far[i * t_.labels] = static_cast<double>(far[i]);
    }
    x.gauge = s_.gauge;
    x.rest = s_.rest;
    x.head = s_.head;
    x.backward = p_.backward;
    x.block =
        (p_.backward ? aside_.rounded - 1 - (row + aside_.sequence->begin) : row + aside_.sequence->begin) /
        kBlock;
    x.first_slot = at.first;
    x.last_slot = at.last;
    x.active = mine;
    x.first_of_sequence = at.first_of_sequence;
    x.cut_start = at.cut_start;
    x.deep = is_far_below(ring) || aside_.far_above > 0;
    x.bound = (is_empty(reference) ? 0 : reference) * Semiring::kUnit + s_.rest;
    x.ring_bound = log_of_units<Semiring>(ring);
    x.base_rest = nats_rest;
    x.alpha = this->alpha_log(s_);
    x.tail = this->tail_log(s_);
    x.content_sum = 0;
    x.mass = 0;
    x.out_alpha = has_room ? p_.store.alpha.pool + pool_at : nullptr;
    x.out_gamma = has_room ? p_.store.gamma.pool + pool_at : nullptr;
    x.out_tail = has_room && p_.store.tail.pool != nullptr ? p_.store.tail.pool + pool_at : nullptr;
    x.shift = keeps && p_.store.shift != nullptr ? p_.store.shift + store_row : nullptr;
    ExactPath<Config>{t_, lanes_, x}.run();
    if (mine) aside_.tail_is_number = false;
    if (keeps && lanes_.valid) p_.store.content[store_row / kBlock * t_.labels + lanes_.c] = x.content_sum;
    finish_exact(x.alpha, x.content_sum, mine);
  }

  // After an exact block: alpha, its starts into the ring, everything moved to the block's last boundary.
  __device__ void finish_exact(double alpha, double content, bool mine) {
    const double base = s_.base;
    this->take_alpha(s_, alpha, mine);
    if (!mine) return;
    if (aside_.far_above > 0) --aside_.far_above;
    s_.logs_left = t_.ring_blocks;
    if (!lanes_.valid) return;
    const double shift = s_.base - base;
    const bool forbidden = !(content > kNone);
    const double sum = s_.rest + content;
    const double units = forbidden ? 0.0 : rint(sum * (1 / Semiring::kUnit));
    s_.rest = forbidden ? 0.0 : fma(-units, Semiring::kUnit, sum);
    const double gauge = s_.gauge + units - shift;
    if (forbidden || fabs(gauge) > kMostGauge) {
      request_move(gauge, forbidden);
    } else {
      s_.gauge = static_cast<int>(gauge);
    }
    const typename Config::Exact memory = this->exact();
    this->note_far_above(memory.keep_starts(s_.head, s_.gauge, s_.rest, [&](int slot) {
      return memory.near[slot * t_.labels] - shift * Semiring::kUnit;
    }));
    if (lanes_.c == 0) memory.has_log[s_.head] = kHasLogs;
  }

  // The ring on another gauge, but for the block that has just been put in; later where helpers read it.
  __device__ void request_move(double units, bool forbidden) {
    s_.gauge = 0;
    aside_.fresh = s_.head;
    aside_.move_units = units;
    aside_.move_forbidden = forbidden;
    if constexpr (Lanes::kTeam) {
      if (lanes_.has_helpers()) {
        aside_.move_wanted = true;
        this->regauge(parity_) = 1;
        return;
      }
    }
    this->note_far_above(move_ring(this->exact(), t_.ring_blocks, s_.head, units, forbidden));
  }

  RunState<Real>& s_;
  const int parity_;
};

template <class Config>
__device__ SEMICRF_NOINLINE void slow_block(const RunParameters<typename Config::Real>& p,
                                            typename Config::Lanes lanes, typename Config::Memory memory,
                                            RunAside& aside, RunState<typename Config::Real>& state,
                                            int parity) {
  SlowBlock<Config>(p, lanes, memory, aside, state, parity).run();
}

}  // namespace semicrf::cuda
