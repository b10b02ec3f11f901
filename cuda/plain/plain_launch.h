// Launches of the plain kernels; all are asynchronous. Grids and blocks are described beside the kernels.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/sizes.h"
#include "cuda/device/launch.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// The arrays of the plain CUDA engine: device memory, row-major, natural logarithms in double, -inf forbids.
// Letters are those of docs/algorithm.md, names those of src/reference.
//
// The room: plain/ is the recursion as a CUDA programmer would first write it, with an engine around it. It
// includes device/, core/ and engine/, and nothing of the fast engine.
//
// The chain and the scores of one sequence.
struct PlainSequence {
  std::int64_t length = 0;          // T
  int labels = 0;                   // C
  int max_duration = 0;             // K
  bool initial_transition = false;  // the first segment gets the sum over c' of T[c',c]
  double* transition = nullptr;     // (C, C), [from][to]
  double* duration = nullptr;       // (K, C), row k-1: B[k,c]
  double* log_tail = nullptr;       // (C): log q of the tail beyond K; null: no label has one
  double* emission = nullptr;       // (T, C): fbar, centred
  double* start = nullptr;          // (T, C): Ps, with pi_start in row 0
  double* end = nullptr;            // (T, C): Pe, with pi_end in row T-1
  double* typical_step = nullptr;   // (T): the largest emission of a position, a whole number
};

// Messages are relative to a whole number per boundary, their level, so that they keep their digits along a
// sequence: true message = level[t] + entry.
struct PlainForward {
  double* level = nullptr;    // (T+1)
  double* alpha = nullptr;    // (T+1, C): all segmentations of [0, t) whose last label is c
  double* gamma = nullptr;    // (T, C): all before a segment of c that starts at t, and its start score
  double* tail = nullptr;     // (T+1, C): open segments of c longer than K at t; null: there is no tail
  double* largest = nullptr;  // (C): the largest message of each label at the boundary at hand
};

struct PlainBackward {
  double* level = nullptr;  // (T+1)
  double* beta = nullptr;   // (T+1, C): all right of t, given that a segment of c ended there
  double* delta = nullptr;  // (T, C): a segment of c that starts at t without its start score, and all after
  double* tail = nullptr;  // (T+1, C): a segment of c longer than K that reaches t, and all after; null: none
  double* largest = nullptr;  // (C)
};

// A BoundaryState (engine/boundary_state.h) but for its offset, which is the boundary's level.
struct PlainState {
  double* ring = nullptr;     // (K, C)
  double* message = nullptr;  // (C)
  double* tail = nullptr;     // (C); null: there is no tail
};

// log Z = level + log_mass; `level` is a whole number.
struct PlainLogPartition {
  double level = 0;
  double log_mass = 0;
};

// One block with a thread per label, or with several labels per thread.
inline constexpr int kMostPlainThreads = 256;
inline LaunchShape thread_per_label(const PlainSequence& sequence) {
  return {1, std::min(kMostPlainThreads, round_up(sequence.labels, 32))};
}

// plain_recursion.cu. Fills all tables of `out`, in the log or in the max semiring.
template <bool is_log>
void run_forward(const PlainSequence& sequence, const PlainForward& out, cudaStream_t stream);
// Fills all tables of `out`, in the log semiring.
void run_backward(const PlainSequence& sequence, const PlainBackward& out, cudaStream_t stream);

// plain_recursion.cu. The forward state at T, in the semiring of the messages, and the backward state at 0.
void find_state(const PlainSequence& sequence, const PlainForward& messages, const PlainState& at_end,
                cudaStream_t stream);
void find_state(const PlainSequence& sequence, const PlainBackward& messages, const PlainState& at_begin,
                cudaStream_t stream);

// plain_traceback.cu. Part of a path, right to left.
struct PlainPath {
  static constexpr int kRoom = 1 << 16;
  TraceCursor cursor;  // where the path is followed from; afterwards where it was left
  int count = 0;       // segments that were found, at most kRoom; -1: no finite path passes the cursor
};
// Follows the best path through messages of the max semiring until the sequence's start or `segments` (kRoom)
// is full. Both pointers are to device memory.
void run_traceback(const PlainSequence& sequence, const PlainForward& messages, PlainPath* path,
                   Segment* segments, cudaStream_t stream);

// plain_posteriors.cu. (T, C) each, in place of null: probabilities that a segment of c starts at t, that one
// has its last position at t, and that t has the label c; not clamped to [0, 1]. All 0 where log Z is -inf.
struct PlainPosteriors {
  double* starts = nullptr;
  double* ends = nullptr;
  double* labels = nullptr;
};
void find_posteriors(const PlainSequence& sequence, const PlainForward& forward,
                     const PlainBackward& backward, const PlainLogPartition& log_partition,
                     const PlainPosteriors& out, cudaStream_t stream);

// plain_posteriors.cu. Expected counts (core/score_window.h) of a sequence whose log Z is finite.
struct PlainCounts {
  double* transition = nullptr;  // (C, C)
  double* duration = nullptr;    // (K+1, C); row K: segments in the tail
  double* tail = nullptr;        // (C); null: there is no tail
};
void find_counts(const PlainSequence& sequence, const PlainForward& forward, const PlainBackward& backward,
                 const PlainLogPartition& log_partition, const PlainCounts& out, cudaStream_t stream);

}  // namespace semicrf::cuda
