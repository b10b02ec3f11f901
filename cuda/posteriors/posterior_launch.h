// Launches of the kernels that turn messages into posteriors.
#pragma once

#include <cstddef>

#include "cuda/posteriors/posterior_types.h"

namespace semicrf::cuda {

inline constexpr int kAnchorWarps = 8;  // per block of threads
// Doubles that a block of threads needs in AnchorParameters::numbers; 0: they fit into shared memory.
std::size_t anchor_workspace(int duration);
// Asynchronous; `blocks` blocks of threads share the tasks and the workspace.
void find_anchors(const AnchorParameters& parameters, int blocks, cudaStream_t stream);
template <class Real>
void combine_messages(const CombineParameters<Real>& parameters, cudaStream_t stream);

}  // namespace semicrf::cuda
