// Sums over positions of posteriors times features, on the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/scores/projection_launch.h"

namespace semicrf::cuda {

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
