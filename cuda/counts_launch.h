// Expected counts (the gradients by transition, durations and tail) from the messages of both directions.
#pragma once

#include "cuda/posterior_types.h"

namespace semicrf::cuda {

// Intervals between marks, as for posteriors. A segment is counted in the interval that holds it, or at the
// mark it crosses; marks are more than K apart. All terms are formed from logarithms, so nothing can vanish
// or overflow.
template <class Real>
struct CountsParameters {
  MessageStore<Real> forward, backward;
  StateStore forward_states, backward_states;
  const SequenceView* sequence;
  const RunReport* backward_reports;
  const AnchorTask* tasks;
  const double *z_whole, *z_offset, *z_log;                                                 // of the anchors
  const double *bias, *transition_log, *log_tail, *last_bias, *first_scores, *last_scores;  // forward tables
  // Workspace per task of the batch: (mark + 1, C) logarithms of starts, ends, alpha, delta and, with a
  // tail, of its share; forbidden positions so far.
  double *starts, *ends, *alpha, *delta, *tail_rows;
  int* forbidden;
  double *durations, *transitions, *tails;  // (batch, K C), (batch, C C), (batch, C)
  std::int64_t mark;
  int labels, width, duration, tail, uniform, first_task;
};

template <class Real>
void count_intervals(const CountsParameters<Real>& parameters, int batch, cudaStream_t stream);
// total[i] += partial[0][i] + partial[1][i] + ..., in this order.
void add_partials(const double* partial, int batch, std::int64_t entries, double* total, cudaStream_t stream);

}  // namespace semicrf::cuda
