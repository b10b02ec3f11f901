// What a run does rarely, out of line: states read and written, the ring moved to another gauge.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/recursion/team_memory.cuh"

namespace semicrf::cuda {

// How the next block is done: not at all, with scores as they lie there, with these and boundary scores, with
// factors made out of line, or out of line as a whole.
enum class BlockKind : int { kIdle, kPlain, kEdges, kLong, kSlow };

// The blocks of a stretch, all alike, of which positions first..last-1 belong to the run.
struct Place {
  int blocks;
  int first, last;
  bool running, whole, storing;
  bool first_here, last_here;           // the sequence's first and last position are in it
  bool first_of_sequence, plain_start;  // the run begins here; and segments begin here as elsewhere
  bool cut_start;                       // the run begins here at a cut
  bool edges;                           // there are boundary scores
  const float* scores;                  // scores of the window, if they may be read as they are
  const float *starts, *ends;           // boundary scores in the direction of the run, likewise; or null
  std::int64_t row;                     // row of the first block's first position in the scores
  std::int64_t store_row;               // row of its first token in the store
};

// What a run looks at rarely, or not in a hurry: it lies in memory, so that the recursion has the registers.
struct RunAside {
  int index, end;  // number of the run; end of the queue
  const RunTask* task;
  const SequenceView* sequence;
  std::int64_t rounded;    // the sequence's length in whole blocks
  std::int64_t position;   // where the stretch at hand ends
  std::int64_t next_mark;  // position of the next state that is kept inside the chunk
  Place place;
  double mass;  // whole nats taken out of the scores
  // What is open longer than K, at the boundary reached: its logarithm, or a number relative to whole units,
  // of which the rest of the gauge is no part.
  double tail_log;
  double tail_number;
  int tail_units;
  bool tail_is_number;
  // B[K] with its whole units apart; kEmpty: nothing enters the tail, or only the exact path knows it.
  double last_number;
  int last_units;
  double baseline;  // taken out of every score
  int fallbacks;
  int slow_ahead;     // blocks that go out of line at once, as those before them had to,
  int careful_ahead;  // and that are not tried as plain ones
  int far_above;      // blocks until the ring has none whose scale is beyond what the fast path knows
  bool active;
  // A move of the ring that waits for the helpers.
  bool move_wanted, move_forbidden;
  double move_units;
  int fresh;  // a block of the ring that is on the new gauge already
};

// So many of the next blocks are taken for such as need a longer way, after one that did, or did not.
__device__ inline int ahead_after(int ahead, bool needed) {
  constexpr int kMost = 8;
  return needed ? (ahead + 2 < kMost ? ahead + 2 : kMost) : (ahead > 0 ? ahead - 1 : 0);
}

// What every block reads and changes.
template <class Real>
struct RunState {
  int left;  // blocks of the stretch
  BlockKind kind;
  int head;       // head of the ring
  int logs_left;  // blocks until the ring has none whose logarithms are kept
  // alpha at the boundary reached: a number and a scale, relative to the base.
  int carry_scale;
  Real carry;
  int gauge;
  bool impossible;  // no label has an alpha
  bool storing;     // messages of the stretch are kept
  double rest;
  double base;  // units taken out of all scales
};

// The message and the tail of a state; its ring goes into the team's.
struct Messages {
  double alpha, tail;
};
template <class Real, class Semiring>
__device__ SEMICRF_NOINLINE Messages read_state(const RunParameters<Real>& p, ExactMemory<Real, Semiring> e,
                                                int slot, int c) {
  const TablesView<Real>& t = p.tables;
  const double* entries = p.states.entries + slot * p.states.stride + c;
  for (int distance = 1; distance <= t.ring_blocks; ++distance) {
    const int block = t.ring_blocks - distance;
    e.keep_starts(block, 0, 0.0, [&](int slot_at) {
      const int d = kBlock * distance - slot_at;
      return d <= t.duration ? entries[static_cast<std::int64_t>(d - 1) * t.labels] : kNone;
    });
    if (c == 0) e.has_log[block] = kHasLogs;
  }
  return {entries[static_cast<std::int64_t>(t.duration) * t.labels],
          t.tail ? entries[static_cast<std::int64_t>(t.duration + 1) * t.labels] : kNone};
}

struct Boundary {
  bool mine, with_ring;
  int slot, head, gauge;
  double alpha, tail, rest, whole, offset;
};
// Rows of the ring of a state, newest first: of every `step`th block, from the `first`th on. Returns whether
// one of them is possible. What it needs of memory is read before its stores, so that these delay nothing.
template <class Real, class Semiring>
__device__ inline bool write_ring(const TablesView<Real>& t, const ExactMemory<Real, Semiring>& e,
                                  const Boundary& at, double* out, int first, int step) {
  const int blocks = t.ring_blocks, duration = t.duration;
  const std::int64_t labels = t.labels;
  bool possible = false;
  for (int distance = first; distance < blocks; distance += step) {
    const int index = at.head - 1 - distance;
    const int block = index < 0 ? index + blocks : index;
    const double scale = at.with_ring ? e.log_scale(block, at.gauge, at.rest) : kNone;
    const int rows = smaller(kBlock, duration - kBlock * distance);
    double* to = out + kBlock * distance * labels;
    if (scale == kNone) {
      for (int i = 0; i < rows; ++i) to[i * labels] = kNone;
      continue;
    }
    double values[kBlock];  // oldest first
    e.rows_log(block, values);
#pragma unroll
    for (int i = 0; i < kBlock; ++i) {
      if (i >= rows) break;
      possible = possible || values[kBlock - 1 - i] > kNone;
      to[i * labels] = values[kBlock - 1 - i] + scale;
    }
  }
  return possible;
}
template <class Real, class Semiring, class Lanes>
__device__ SEMICRF_NOINLINE void write_state(const RunParameters<Real>& p, ExactMemory<Real, Semiring> e,
                                             Lanes lanes, Boundary at) {
  const TablesView<Real>& t = p.tables;
  lanes.sync();
  double* out = p.states.entries + at.slot * p.states.stride + lanes.c;
  // Where a label has several lanes of the warp, they share its rows.
  int first = 0, step = 1;
  bool writes = at.mine && lanes.valid;
  if constexpr (Lanes::kTeam) {
    if (lanes.group() < 32) {
      first = static_cast<int>(threadIdx.x % 32) / lanes.group();
      step = 32 / lanes.group();
      writes = at.mine && lanes.has_label;
      at.gauge = __shfl_sync(kAllLanes, at.gauge, lanes.c);
      at.rest = __shfl_sync(kAllLanes, at.rest, lanes.c);
    }
  }
  bool here = writes && write_ring(t, e, at, out, first, step);
  if (at.mine && lanes.valid) {
    out[static_cast<std::int64_t>(t.duration) * t.labels] = at.alpha;
    out[static_cast<std::int64_t>(t.duration + 1) * t.labels] = at.tail;
    here = here || at.alpha > kNone || at.tail > kNone;
  }
  const bool possible = lanes.any(here);
  if (!at.mine || !lanes.valid || lanes.c != 0) return;
  p.states.whole[at.slot] = possible ? at.whole : 0.0;
  p.states.offset[at.slot] = possible ? at.offset : 0.0;
}

// The ring of a state within a block, `beyond` positions into it, in place of none: where the sequence's end
// is a cut. After write_state().
template <class Real, class Semiring, class Lanes>
__device__ SEMICRF_NOINLINE void write_ring_within(const RunParameters<Real>& p,
                                                   ExactMemory<Real, Semiring> e, Lanes lanes, Boundary at,
                                                   int beyond) {
  const TablesView<Real>& t = p.tables;
  double* out = p.states.entries + at.slot * p.states.stride + lanes.c;
  bool here = false;
  if (at.mine && lanes.valid) {
    for (int row = 0; row < t.duration; ++row) {
      const int place = row + kBlock - beyond;  // from the end of the block on, newest first
      const int index = at.head - 1 - place / kBlock;
      const int block = index < 0 ? index + t.ring_blocks : index;
      const double value = e.start_log(block, kBlock - 1 - place % kBlock, at.gauge, at.rest);
      out[static_cast<std::int64_t>(row) * t.labels] = value;
      here = here || value > kNone;
    }
  }
  const bool possible = lanes.any(here);
  if (!at.mine || !lanes.valid || lanes.c != 0 || !possible) return;
  p.states.whole[at.slot] = at.whole;
  p.states.offset[at.slot] = at.offset;
}

// The ring of a run that begins at a cut: segments may have begun anywhere before it, one place as good as
// another. Returns whether a scale is now far above; `tail` becomes what is longer than K, the sum over k > 0
// of q^k e^{B[K]}.
template <class Real, class Semiring>
__device__ SEMICRF_NOINLINE bool open_ring(const TablesView<Real>& t, ExactMemory<Real, Semiring> e, int c,
                                           double* tail) {
  const double first_score = t.first_scores[c];
  if (first_score == kNone) return false;
  const Scaled<Real> start = Ops<Real, Semiring>::scaled_from_log(first_score);
  bool far_above = false;
  for (int block = 0; block < t.ring_blocks; ++block) {
    for (int part = 0; part < kBlock; part += 4)
      store4(e.ring.block(block) + part, start.number, start.number, start.number, start.number);
    far_above = e.set_units(block, start.units) || far_above;
  }
  if (t.tail && t.log_tail[c] != kNone) *tail = first_score + t.last_bias[c] - log(expm1(-t.log_tail[c]));
  return far_above;
}

// Moves the ring by whole units, all but the block `fresh`; or empties it. Returns whether a scale is now far
// above.
template <class Real, class Semiring>
__device__ SEMICRF_NOINLINE bool move_ring(ExactMemory<Real, Semiring> e, int blocks, int fresh, double units,
                                           bool forbidden) {
  bool far_above = false;
  for (int j = 0; j < blocks; ++j) {
    if (j == fresh || is_empty(e.ring.scale(j))) continue;
    if (forbidden) {
      e.ring.scale(j) = kEmpty;
    } else {
      far_above = e.set_units(j, e.units(j) + units) || far_above;
    }
  }
  return far_above;
}

}  // namespace semicrf::cuda
