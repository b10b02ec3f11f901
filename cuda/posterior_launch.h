// Launches of the kernels that turn messages into posteriors.
#pragma once

#include "cuda/posterior_types.h"

namespace semicrf::cuda {

// Asynchronous; `blocks` blocks of threads share the tasks and the workspace.
void find_anchors(const AnchorParameters& parameters, int blocks, cudaStream_t stream);
template <class Real>
void combine_messages(const CombineParameters<Real>& parameters, cudaStream_t stream);

}  // namespace semicrf::cuda
