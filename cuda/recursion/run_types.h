// What the host hands to the kernels: plain structs of device pointers. Letters are those of
// docs/algorithm.md, section 2.
//
// Run coordinates r: forward r = t; backward r = R - t with R = T rounded up to whole blocks, so that the
// blocks of both directions cover the same positions. Run position r (between boundaries r and r+1) is token
// r, or R - 1 - r.
#pragma once

#include <cstdint>

#include "cuda/tables/limits.h"
#include "cuda/tables/tables_view.h"
#include "cuda/tables/tile_config.h"

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

// kCutEdge: the sequence's edge, beyond which segments may have begun anywhere. kState: the state in
// `first_state`, so the run is done again. kGoesOn: the team has just done the run before.
enum class StartKind : int { kEdge, kCutEdge, kWarm, kState, kGoesOn };
SEMICRF_BOTH inline bool starts_at_edge(StartKind start) {
  return start == StartKind::kEdge || start == StartKind::kCutEdge;
}

// One run over one chunk. All boundaries in run coordinates; begin and end are whole blocks unless they are
// the sequence's ends.
struct RunTask {
  std::int64_t from, begin, end;  // the run starts at `from` <= begin (warm-up), the chunk is [begin, end)
  // States are kept at the boundaries of whole marks from the left edge of the chunk, and at its edges.
  std::int64_t mark;
  int sequence;
  StartKind start;
  int report;       // slot of the run's report
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

// One message of a window, by token: row = first_row of the sequence + token - first_token of the store. Of a
// block on the fast path: numbers, by the scale of their block; of an exact block: logarithms, in the block's
// slot of the pool. Both are relative to the block's base.
template <class Real>
struct MessageView {
  Real* numbers;  // (rows, C), or null: the message is not kept
  double* scale;  // (blocks, C) logarithms
  int* level;     // (rows) powers of two that are common to the labels; log semiring
  double* pool;   // (slots, 16, C) logarithms
};

// What a run leaves behind. A backward run is the forward recursion of the mirrored sequence, so that its
// messages at token t are what docs/algorithm.md calls
//
//   message   of a forward run                           of a backward run
//   alpha     alpha_{t+1}, with token t's end score      delta_t: all from t on, without t's start score
//   gamma     log: G_t, the sum over sources             beta_{t+1}: all right of t, after a segment's end
//             max: gamma_t, with the start score and the content up to the block's first boundary
//   tail      what of alpha_{t+1} is longer than K       not kept
//
// In an exact block gamma has the start score (max) but no content of the block taken out. The content of a
// fast block is without forbidden positions (max), over which no segment goes.
template <class Real>
struct MessageStore {
  MessageView<Real> alpha, gamma, tail;  // all null: nothing is kept
  double* content;                       // (blocks, C) sum of the block's centred emissions
  double* gamma_bound;                   // (blocks, C) logarithm of the largest gamma of a fast block
  std::uint16_t* cuts;  // (blocks, C) of a fast block, max semiring: a bit per forbidden position
  double *base, *mass;  // (blocks) whole numbers: what scales and logarithms are relative to; shifts so far
  double* shift;        // (rows) whole numbers taken out of all labels of a position; may be null
  int* exact;           // (blocks) 0: fast, else slot + 1
  int* pool_used;
  int pool_slots;
  int all_alphas;            // readers want those, too, that no other message would notice
  std::int64_t first_token;  // a whole block
};

template <class Real>
struct RunParameters {
  TablesView<Real> tables;
  const SequenceView* sequences;
  const RunTask* tasks;
  const int* queues;  // the first run of every queue, and the number of runs; null: queues of one run
  RunReport* reports;
  StateStore states;
  MessageStore<Real> store;
  int num_queues;
  int backward;
  // Workspace of every team of lanes that works on one chunk.
  double* exact_logs;  // (teams, ring_blocks, 17, C): 16 starts, and a scale that is far below
  double* exact_rows;  // (teams, kExactRows, C): see ExactMemory
  int* ring_has_log;   // (teams, ring_blocks)
  Real* ring;          // (teams, ring_blocks, C, 16) where it is not in shared memory
  int* ring_scale;     // (teams, ring_blocks, C) where the ring is not in shared memory
  int teams;
  WarpLayout layout;  // warp kernel
  int panels, parts;  // team kernel: warps of labels, and parts of the ring that come to each
  int table_in_shared, ring_in_shared, transitions_in_shared;
};

}  // namespace semicrf::cuda
