// What the host hands to the kernels: plain structs of device pointers. Letters are those of
// docs/algorithm.md.
//
// Run coordinates r: forward r = t; backward r = R - t with R = T rounded up to whole blocks, so that the
// blocks of both directions cover the same positions. Run position r (between boundaries r and r+1) is token
// r, or R - 1 - r.
#pragma once

#include <cstdint>

#include "cuda/tables/limits.h"

namespace semicrf::cuda {

struct DeviceScores {  // (rows, C), at most one pointer set
  const float* f32;
  const double* f64;
};

// Scores of tokens [begin, begin + rows) of one sequence of `length`.
struct SequenceView {
  DeviceScores emissions, starts, ends;
  const double* baseline;  // (C) or null
  std::int64_t begin, rows, length;
  int subtract_position_max;
  std::int64_t first_row;  // row of token 0 among those that the sequences of a batch share; else 0
};

template <class Real>
struct TablesView {
  int labels, width, duration, offsets, ring_blocks, rows;
  int tail, initial_transition, near_vanished, transition_vanished, too_large;
  Real least_total, least_start;
  const Real *duration_table, *near_table, *transition, *tail_factor;
  const double *bias, *transition_log, *log_tail, *last_bias, *tail_correction, *first_scores, *last_scores,
      *transition_bound, *source_bound;
  const int *duration_bound, *transition_units, *source_units;
};

enum class StartKind : int { kEdge, kWarm, kState };

// One run over one chunk. All boundaries in run coordinates; begin and end are whole blocks unless they are
// the sequence's ends.
struct RunTask {
  std::int64_t from, begin, end;  // the run starts at `from` <= begin (warm-up), the chunk is [begin, end)
  std::int64_t mark;  // states are kept at boundaries that are multiples of this (and at the chunk's edges)
  int sequence;
  StartKind start;
  int start_state;  // slot of the state to start from
  int first_state;  // slot of the state at `begin`; those at the following marks and at `end` come after it
};

struct RunReport {
  double mass_before, mass_inside;  // whole numbers: position shifts of the run before the chunk, and in it
  std::int64_t fallbacks;
};

// States at boundaries, slot by slot: (K + 2, C) doubles: the ring, the message, the tail; see BoundaryState.
// The largest entry becomes 0 when normalize_states() was there.
struct StateStore {
  double* entries;
  double* whole;
  double* offset;
  std::int64_t stride;  // doubles per slot
};

// Messages of a window, by token: row = first_row of the sequence + token - first_token, which is a whole
// block. Values of a fast block are relative to its scales; those of an exact one lie in slot exact[block] -
// 1 of the pool, as logarithms. Forward: alpha of row t is alpha_{t+1}, start the sum over sources for a
// segment that starts at t (log semiring) or gamma with content up to the block's first boundary (max).
// Backward: alpha is delta_t, start is beta_{t+1}.
template <class Real>
struct MessageStore {
  Real *alpha, *start, *tail;         // (rows, C); null: nothing is kept; tail may be null by itself
  double *alpha_scale, *start_scale;  // (blocks, C)
  double* tail_scale;                 // (blocks, C); null where tail is
  double* content;                    // (blocks, C) sum of the block's centred emissions
  double* start_bound;                // (blocks, C) the largest start of a fast block, with its scale
  double *base, *mass;  // (blocks) whole numbers: what scales and logarithms are relative to; shifts so far
  double* shift;        // (rows) whole numbers taken out of all labels of a position; may be null
  int* exact;           // (blocks) 0: fast, else slot + 1
  double *pool_alpha, *pool_start,
      *pool_tail;  // (slots, 16, C); start: with start scores and not less content in max
  int* pool_used;
  int pool_slots;
  std::int64_t first_token;
};

template <class Real>
struct RunParameters {
  TablesView<Real> tables;
  const SequenceView* sequences;
  const RunTask* tasks;
  RunReport* reports;
  StateStore states;
  MessageStore<Real> store;
  int num_tasks;
  int backward;
  // Workspace of every team of lanes that works on one chunk.
  double* exact_logs;  // (teams, ring_blocks, 17, C): 16 starts, and a scale that is far below
  double* exact_rows;  // (teams, kExactRows, C): see ExactMemory
  int* ring_has_log;   // (teams, ring_blocks)
  Real* ring;          // (teams, ring_blocks, C, 16) where it is not in shared memory
  int* ring_scale;     // (teams, ring_blocks, C) likewise
  int teams;
  int panels, parts;  // team kernel: warps of labels, and parts of the ring that come to each
  int table_in_shared, ring_in_shared, transitions_in_shared;
};

}  // namespace semicrf::cuda
