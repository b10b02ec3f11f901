// Agreement of states (engine/engine.h, agreement()) on the device.
#pragma once

#include <cuda_runtime.h>

#include "cuda/recursion/run_types.h"

namespace semicrf::cuda {

struct Junction {
  int truth, warmed;  // slots
};
struct JunctionResult {
  double mean;  // mean difference, weighted by the true mass; 0 where nothing is finite
  int agree;
  int impossible;  // the true state has no finite entry: no segmentation leads there
};

// `count` slots from `first` on: the largest entry goes into the offset. Once or more often. Asynchronous.
void normalize_states(const StateStore& states, int first, int count, cudaStream_t stream);

// How states are judged; see agreement().
struct AgreementRule {
  double tolerance;
  double epsilon;     // epsilon of the precision the states were computed in
  double negligible;  // negligible_beside() that precision
  int duration, labels;
  const int* edge_twins;  // (labels), or null
};
// Asynchronous.
void compare_states(const StateStore& states, const Junction* junctions, int count, const AgreementRule& rule,
                    JunctionResult* results, cudaStream_t stream);

// The true state of each of the first `count` junctions to where the other one lies. A run that begins there
// has its values relative to the state. Asynchronous.
void copy_states(const StateStore& states, const Junction* junctions, int count, cudaStream_t stream);

// `count` slots from `first` on become states to which no segmentation leads. Asynchronous.
void forbid_states(const StateStore& states, int first, int count, cudaStream_t stream);

// The messages (alpha, C numbers) of `count` slots, one after the other. Asynchronous.
void gather_messages(const StateStore& states, int duration, int labels, const int* slots, int count,
                     double* messages, cudaStream_t stream);

}  // namespace semicrf::cuda
