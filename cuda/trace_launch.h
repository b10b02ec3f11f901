// Launches of the Viterbi traceback.
#pragma once

#include <cuda_runtime.h>

#include "cuda/run_types.h"

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
  std::int64_t out;  // index of its first record
};
struct TraceRecord {
  int begin;  // less the window's first position
  int label;
};
struct TraceResult {
  TraceState entry, exit;  // the first states at or left of `right` and of `left`
  int records;
  int blocked;  // the path needs what lies left of the window
};

template <class Real>
struct TraceParameters {
  TablesView<Real> tables;
  SequenceView sequence;
  MessageStore<Real> store;
  const double* left_state;  // entries of the state at range_begin, or null
  double left_whole, left_offset;
  const double *run_whole, *run_offset;  // per run of `run` positions: what its values are relative to
  const double* largest_bias;            // (C)
  std::int64_t range_begin, range_end, run;
  const TracePiece* pieces;
  TraceRecord* records;
  TraceResult* results;
};

// A warp per piece. Asynchronous.
template <class Real>
void trace_pieces(const TraceParameters<Real>& parameters, int pieces, cudaStream_t stream);
// counts[i] records from from[first[i]] to to[offsets[i]]. Asynchronous.
void gather_records(const TraceRecord* from, const std::int64_t* first, const std::int64_t* offsets,
                    const int* counts, int pieces, TraceRecord* to, cudaStream_t stream);

}  // namespace semicrf::cuda
