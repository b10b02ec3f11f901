// Launches of the Viterbi traceback.
#pragma once

#include <cuda_runtime.h>

#include "cuda/recursion/run_types.h"
#include "cuda/viterbi/trace_shape.h"

namespace semicrf::cuda {

// Mirrors TraceCursor.
enum class TracePhase : int { kFindStart, kInTail, kFindSource, kDone };
struct TraceState {
  std::int64_t boundary, segment_end;
  TracePhase phase;
  int label;
};
struct TracePiece {
  std::int64_t left, right;  // the piece; it records what ends in (left, right]
  TraceState start;
  int guess;         // start.label is to be found: the best alpha at start.boundary
  int result;        // index of its result
  std::int64_t out;  // index of its first record
};
struct TraceResult {
  TraceState entry, exit;  // the first states at or left of `right` and of `left`
  int records;             // that were written
  int blocked;             // the path needs what lies left of the window
};
// What scales and logarithms of a block are relative to.
struct BlockOrigin {
  double whole, offset;
};
// How a block hangs on the one left of it.
struct BlockLink {
  double shift;  // puts values of that one on the scale of this one
  int exact;     // whether this block is exact: see MessageStore
  int before;    // positions of that one that may be part of the same path: kBlock, or 0
};

template <class Real>
struct TraceParameters {
  TablesView<Real> tables;
  SequenceView sequence;  // for a batch: its common rows, without a baseline
  // In a batch positions are rows: all sequences, and per block which of them it belongs to. Else
  // null.
  const SequenceView* batch;
  const int* sequence_of;
  MessageStore<Real> store;
  const double* left_state;  // entries of the state at range_begin, or null
  BlockOrigin left;          // what they are relative to
  const BlockOrigin* runs;   // per run of `run` positions: what its values are relative to
  BlockOrigin* blocks;       // (blocks) what values of a block are relative to, its base included
  BlockLink* links;          // (blocks)
  int* far_key;              // (blocks, C), see bound_kernel
  std::int64_t range_begin, range_end, run;
  TraceShape shape;
  const TracePiece* pieces;
  TraceRecord* records;
  TraceResult* results;
};

// Fills blocks, links and far_key; before the first trace_pieces. Asynchronous.
template <class Real>
void place_blocks(const TraceParameters<Real>& parameters, cudaStream_t stream);
// A warp per piece. Asynchronous.
template <class Real>
void trace_pieces(const TraceParameters<Real>& parameters, int first, int pieces, cudaStream_t stream);

// `count` records from `from` on to `to`.
struct GatherTask {
  std::int64_t from, to, count;
};
// A task per block of threads. Asynchronous.
void gather_records(const TraceRecord* from, const GatherTask* tasks, int count, TraceRecord* to,
                    cudaStream_t stream);

}  // namespace semicrf::cuda
