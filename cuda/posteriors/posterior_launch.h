// Launches of the kernels that turn messages into posteriors.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

// What the kernels of posteriors are given.
//
// Boundaries of one interval between marks, and where its right end's states are.
struct AnchorTask {
  std::int64_t begin, end;  // tokens of its sequence
  std::int64_t first_row;   // row of token `begin` in the stores
  int sequence;
  int forward_state, backward_state;
  int forward_run, backward_run;  // their reports
  int at_sequence_end;
  int crossed;  // segments may cross the right end: it is no end of the sequence, or a cut
};

// Log Z of every task, by the messages on both sides of its right end.
struct LocalLogZ {
  double *whole, *offset;  // (tasks) their sum is relative to the bases of both stores
  double* log;             // (tasks) relative to both states
};

struct AnchorParameters {
  LogTables tables;  // forward
  StateStore forward, backward;
  const RunReport *forward_reports, *backward_reports;
  const AnchorTask* tasks;
  const double* bias_linear;  // see AnchorBias: exp(B - the label's largest)
  int bias_rows;
  double* numbers;   // workspace (blocks, anchor_workspace(K)), or null
  double* crossing;  // (tasks, C) mass that crosses the right end, of log Z
  LocalLogZ z;
  int* fallbacks;  // (tasks)
  int num_tasks;
};

inline constexpr int kCombineBlocks = 64;  // blocks of 16 positions in a piece of an interval

template <class Real>
struct CombineParameters {
  MessageStore<Real> forward, backward;
  const AnchorTask* tasks;
  const double* crossing;
  LocalLogZ z;
  Real *boundary, *label_rows, *starts, *ends;  // (rows), (rows, C); null: not wanted
  double* norm_log;    // (blocks) log of the sum of the labels at a block's first position; null: not wanted
  double* piece_sums;  // (tasks, pieces, C) ends less starts; where there is more than one piece
  double* sums;        // (tasks, pieces, 4): entropy, boundary mass, boundary p ln p, worst error
  int labels, num_tasks, pieces;
};

inline constexpr int kAnchorWarps = 8;  // per block of threads
// AnchorParameters::bias_linear has `columns` columns of `rows` entries per label, and entry k - 1, of
// duration k, is in column (k - 1) % columns: a lane has as many starts one after the other, so that what the
// lanes of a warp read at a time lies side by side. Behind the last duration are zeros.
struct AnchorBias {
  int columns;
  int rows;

  explicit AnchorBias(int duration);
  std::size_t index(int label, int entry) const {
    const auto column = static_cast<std::size_t>(label) * static_cast<std::size_t>(columns) +
                        static_cast<std::size_t>(entry % columns);
    return column * static_cast<std::size_t>(rows) + static_cast<std::size_t>(entry / columns);
  }
  std::size_t size(int labels) const { return index(labels, 0); }
};
// Doubles that a block of threads needs in AnchorParameters::numbers; 0: they fit into shared memory.
std::size_t anchor_workspace(int duration);
// Asynchronous; `blocks` blocks of threads share the tasks and the workspace.
void find_anchors(const AnchorParameters& parameters, int blocks, cudaStream_t stream);
template <class Real>
void combine_messages(const CombineParameters<Real>& parameters, cudaStream_t stream);

}  // namespace semicrf::cuda
