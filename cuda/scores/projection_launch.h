// Scores that linear heads make of features, on the device: the digits that the host would make
// (src/model/linear_heads.h), as sums run in double, in the same order and without fused multiply-adds.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

struct HeadView {  // see HeadTable; null weights: no inputs
  const double *weights, *bias;
  int first, last;
};

// Features of a sequence, or of all sequences of a batch; and what is taken from the score of the label that
// a row has (null: nothing), as FeatureRows says it.
struct FeatureView {
  DeviceScores rows;  // (rows, tracks)
  const int* true_labels;
  int tracks;
};

struct HeadJob {
  FeatureView features;
  HeadView head;
  int labels;
  double margin;     // 0: true labels do not matter
  DeviceScores out;  // (rows, C), written
};

// Scores of positions [begin, end) of a sequence; features begin with position `features_begin`, `out` with
// position `out_begin`.
struct Projection {
  HeadJob job;
  std::int64_t length, begin, end, features_begin, out_begin;
};
// Asynchronous.
void project_features(const Projection& projection, cudaStream_t stream);

// Scores of whole sequences, features and scores on the rows they share. Rows between sequences become 0.
struct BatchProjection {
  HeadJob job;
  const SequenceView* sequences;  // in the order of their rows
  int num_sequences;
  std::int64_t rows;
};
void project_batch(const BatchProjection& projection, cudaStream_t stream);

}  // namespace semicrf::cuda
