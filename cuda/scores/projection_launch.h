// Scores that linear heads make of features, on the device: the digits that the host would make
// (src/model/scores/linear_heads.h), as sums run in double, in the same order and without fused
// multiply-adds.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

struct HeadView {  // see HeadTable; null weights: no inputs
  const double *weights, *bias;
  int first, last;
};

// Features of a window, or of all sequences of a batch; and the labels from whose scores a margin is
// subtracted, see FeatureRows.
struct FeatureView {
  DeviceScores rows;       // (rows, tracks)
  const int* true_labels;  // (rows) or null
  int tracks;
  std::int64_t begin;  // position of the first row; of a batch 0: they lie as the scores do
};

// Rows [first_row, last_row) of the scores of one head. Rows between sequences become 0.
struct Projection {
  FeatureView features;
  HeadView head;
  int labels;
  double margin;                  // 0: true labels do not matter
  DeviceScores out;               // (rows, C), written
  const SequenceView* sequences;  // in the order of their rows
  int num_sequences;
  std::int64_t first_row, last_row;
};
// Asynchronous.
void project_features(const Projection& projection, cudaStream_t stream);

// Sums over positions of posteriors times features, on the device.
//
// Positions [begin, end) of a sequence of `length` that are added up by themselves.
struct Stretch {
  std::int64_t begin, end, length;
  std::int64_t row;            // row of position `begin` among the posteriors
  std::int64_t features_zero;  // row of position 0 among the features; negative where these begin later
};

// One head. Sums of stretch i lie in parts[i entries + at ..]: weights (inputs, C), then the bias (C).
template <class Real>
struct HeadSumsJob {
  const Stretch* stretches;
  FeatureView features;
  const Real* posteriors;  // (rows, C)
  double* parts;           // (stretches, entries)
  std::int64_t entries, at;
  int num_stretches, labels;
  int first, inputs;  // see HeadTable; inputs: 0: only the bias
};
// Asynchronous.
template <class Real>
void sum_head(const HeadSumsJob<Real>& job, cudaStream_t stream);
// The posteriors (C) of position 0, then those of the last one; 0 in stretches without it. Features are not
// read.
template <class Real>
void copy_ends(const HeadSumsJob<Real>& job, cudaStream_t stream);

}  // namespace semicrf::cuda
