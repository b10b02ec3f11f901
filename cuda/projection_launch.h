// Scores that linear heads make of features, on the device: the digits that the host would make
// (src/model/linear_heads.h), as sums run in double, in the same order and without fused multiply-adds.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/run_types.h"

namespace semicrf::cuda {

struct HeadView {  // see HeadTable; null weights: no inputs
  const double *weights, *bias;
  int first, last;
};

// Scores of positions [begin, end) of a sequence; `rows` begins with position `rows_begin`, `out` with row
// `out_begin`.
struct Projection {
  DeviceScores rows;  // features
  std::int64_t rows_begin;
  int tracks, labels;
  std::int64_t length, begin, end, out_begin;
  HeadView head;
  DeviceScores out;  // written
};
// Asynchronous.
void project_features(const Projection& job, cudaStream_t stream);

}  // namespace semicrf::cuda
