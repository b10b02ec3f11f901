// Launches of the plain kernels; all are asynchronous. Grids and blocks are described beside the kernels.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "core/sizes.h"
#include "cuda/device/launch.h"
#include "cuda/plain/plain_tables.h"
#include "engine/engine.h"

namespace semicrf::cuda {

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

// plain_states.cu. The forward state at T, in the semiring of the messages, and the backward state at 0.
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

// plain_counts.cu. Expected counts (core/score_window.h) of a sequence whose log Z is finite.
struct PlainCounts {
  double* transition = nullptr;  // (C, C)
  double* duration = nullptr;    // (K+1, C); row K: segments in the tail
  double* tail = nullptr;        // (C); null: there is no tail
};
void find_counts(const PlainSequence& sequence, const PlainForward& forward, const PlainBackward& backward,
                 const PlainLogPartition& log_partition, const PlainCounts& out, cudaStream_t stream);

}  // namespace semicrf::cuda
