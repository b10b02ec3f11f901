// Expected counts (the gradients by transition, durations and tail) from the messages of both directions.
#pragma once

#include "cuda/posteriors/posterior_launch.h"

namespace semicrf::cuda {

// Numbers of blocks of 16 positions relative to a power of two per block and label, in vectors of four:
// (tasks, blocks, 4, C) vectors. `forbidden` counts blocks that no segment crosses, up
// to where the numbers are seen from: a start and an end belong together when it is the same for both.
struct BlockScale {
  long long power;
  int forbidden;
  int unused;
};
template <class Real>
struct BlockNumbers {
  Real* numbers;
  BlockScale* scale;  // (tasks, blocks, C)
  int blocks;         // room per task
};

// Segments of one label that are longer than K, in a piece of an interval. What follows one that covers the
// position left of a boundary goes from right to left, as a logarithm: of x at the piece's right edge becomes
// log(exp(adds) + exp(decay + x)) at its left edge, and open + exp(factor + x) positions beyond K are counted
// in between.
struct TailPiece {
  double adds = kNone, decay = 0, factor = kNone;  // logarithms
  double ending = 0;                               // such segments that end in the piece
  double open = 0;
};

// Intervals between marks, as for posteriors. A segment is counted in the interval that holds it, or at the
// mark it crosses; marks are more than K apart.
template <class Real>
struct CountsParameters {
  LogTables tables;  // forward
  MessageStore<Real> forward, backward;
  StateStore forward_states, backward_states;
  const SequenceView* sequences;
  const AnchorTask* tasks;  // tasks of the batch
  LocalLogZ z;              // local log Z at their anchors
  const double* norm_log;   // (blocks) log of what the labels of a block sum to
  const double* level;      // (rows) what is subtracted from all labels of a position
  const int* bias_power;    // (groups, C) power of two below the largest bias of 16 durations, or kNoPower
  const double* weight;     // (16 groups, C) exp(bias) over that power
  // Workspace: starts and ends of the intervals; those near the marks at their right ends.
  BlockNumbers<Real> starts, ends, before, after;
  double* within;    // (tasks, pieces, 16, C) segments inside of one block
  TailPiece* tails;  // (tasks, pieces, C), in models with tails
  double* parts;     // (tasks, entries): durations (16 groups, C), transitions (C, C), tails (C)
  std::int64_t entries;
  int num_tasks, pieces, groups;
};

inline constexpr int kNoPower = -1 << 30;
inline constexpr int kPieceBlocks = 8;  // blocks of an interval that belong to one thread

// level[i] = shift[i] + the largest score of row i of the store, in all tasks; intervals are `mark` long at
// most.
template <class Real>
void find_levels(const CountsParameters<Real>& parameters, std::int64_t mark, double* level,
                 cudaStream_t stream);
// Fills the numbers of blocks of all tasks, and the counts within them.
template <class Real>
void prepare_blocks(const CountsParameters<Real>& parameters, cudaStream_t stream);
// Fill the parts of all tasks, in this order; count_durations from the numbers of blocks.
template <class Real>
void count_durations(const CountsParameters<Real>& parameters, cudaStream_t stream);
template <class Real>
void count_transitions(const CountsParameters<Real>& parameters, cudaStream_t stream);
template <class Real>
void count_tails(const CountsParameters<Real>& parameters, cudaStream_t stream);

// Rows [begins[g], begins[g + 1]) are added to sums[g], in this order, rows and sums of `entries` numbers.
// `rows` are those from `first` on, `count` of them; they belong to sums [first_sum, first_sum + sums).
struct RowGroups {
  const std::int64_t* begins;
  std::int64_t first, count;
  std::int64_t first_sum, sums;
};
void add_rows(const RowGroups& groups, const double* rows, std::int64_t entries, double* sums,
              cudaStream_t stream);

}  // namespace semicrf::cuda
