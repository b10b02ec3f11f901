// What the kernels of posteriors are given.
#pragma once

#include <cuda_runtime.h>

#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

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

}  // namespace semicrf::cuda
