// A block of any kind, from the beginning, out of line: by the fast path where it can do it, else by the
// exact one.
#pragma once

#include "cuda/recursion/block/block_parts.cuh"
#include "cuda/recursion/block/exact_block.cuh"

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
    const int ring = this->ring_bound(s_, parity_);

    BlockContent<Real, Semiring> content;
    const bool readable = at.running && at.scores != nullptr;
    content.begin(readable ? at.scores + this->row(s_) * t_.labels + label_.label : nullptr,
                  this->direction() * t_.labels, ExponentSum<Real>::of(-aside_.baseline), s_.rest);
    const bool moderate = readable && content.is_moderate();
    BlockFactors<Real> factors;
    content.factors = this->long_factors(t_, s_, at.running, at.running && !moderate, &factors);

    const int reference = this->template reference_of<AnyBlock>(s_, ring);
    Real far[kBlock], sums[kBlock];
    this->sum_far(s_, parity_, far, reference);
    for (int slot = 0; slot < kBlock; ++slot) sums[slot] = far[slot];
    BlockTail<Real> tail;
    BlockTailLogs logs{};
    BlockResult<Config> result{{m_, lanes_.has_memory()}, 0, 0, {}, {}, false};
    typename Parts::template Coming<true> coming;
    this->template ask_for<false>(content, coming);
    this->template recur<true, AnyBlock>(s_, this->store_row(s_), this->first_row(s_), coming, reference,
                                         content, &tail, &logs, sums, &result);
    // A first segment needs no transition; where there is none into its label, the scale says nothing of it.
    const bool lost = this->cut().bare && is_far_below(label_.into);
    // Beyond a cut only the exact path looks.
    const bool good = !lost && !aside_.place.cut_start &&
                      this->template certified<AnyBlock>(s_, ring, content, tail, result);
    const bool exact = lanes_.any(lanes_.valid && !good) && at.running;
    if (lanes_.any_team(exact)) {
      run_exact(reference, ring, far, exact);
      if (exact) ++aside_.fallbacks;
    }
    finish(content, tail, logs, result, at.running && !exact);
    lanes_.sync();
  }

 private:
  using Parts::aside_, Parts::label_, Parts::lanes_, Parts::m_, Parts::p_, Parts::t_;

  // What of the teams' blocks were fast moves on to the next boundary; all lanes together.
  __device__ void finish(const BlockContent<Real, Semiring>& content, BlockTail<Real>& tail,
                         const BlockTailLogs& logs, const BlockResult<Config>& result, bool mine) {
    const double total = content.total();
    const BlockMove<Real> move = this->move_of(s_, total, result);
    const bool moves = move.gauge > kMostGauge || move.gauge < -kMostGauge;
    const bool keep =
        Semiring::kIsLog && lanes_.any_team(mine && move.vanished) && lanes_.any(mine && move.vanished);
    if (!mine) return;
    if (lanes_.valid)
      this->template keep_starts_of<AnyBlock>(s_, this->store_row(s_), result, move,
                                              moves ? move.gauge - s_.gauge : -s_.gauge);
    if (keep || s_.logs_left > 0) this->keep_logs_of(s_, result, move, keep);
    if (aside_.place.storing)
      this->template store_scales<AnyBlock>(s_, this->store_row(s_), total, tail, logs, move);
    if (content.factors != nullptr) aside_.mass += content.factors->mass;
    this->template move_on<AnyBlock>(s_, total, tail, logs, result, move);
    if (lanes_.valid && moves) request_move(move.gauge, false);
  }

  __device__ void run_exact(int reference, int ring, const Real (&far)[kBlock], bool mine) {
    const Place& at = aside_.place;
    const std::int64_t row = this->row(s_), store_row = this->store_row(s_);
    int pool = -1;
    const bool keeps = mine && at.storing;
    double nats_rest;
    const double nats = whole_nats<Semiring>(s_.base, &nats_rest);
    if (keeps && lanes_.valid && lanes_.c == 0) {
      // A run that is done again has slots of its own already.
      int& exact = p_.store.exact[store_row / kBlock];
      const bool again = aside_.task->start == StartKind::kState && exact != 0;
      pool = again ? exact - 1 : atomicAdd(p_.store.pool_used, 1);
      exact = pool + 1;
      p_.store.base[store_row / kBlock] = nats;
      p_.store.mass[store_row / kBlock] = aside_.mass;
    }
    if (keeps && lanes_.valid) {
      // Not used, but copied with those of other blocks.
      const std::int64_t to = store_row / kBlock * t_.labels + lanes_.c;
      p_.store.alpha.scale[to] = p_.store.gamma.scale[to] = 0;
      if (p_.store.tail.numbers != nullptr) p_.store.tail.scale[to] = 0;
    }
    pool = lanes_.most(pool);
    const bool has_room = keeps && pool >= 0 && pool < p_.store.pool_slots;
    const std::int64_t pool_at = static_cast<std::int64_t>(pool) * kBlock * t_.labels + lanes_.c;
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
