// Launches of the kernels that turn messages into posteriors.
#pragma once

#include <cstddef>

#include "cuda/posteriors/posterior_types.h"

namespace semicrf::cuda {

inline constexpr int kAnchorWarps = 8;  // per block of threads
// AnchorParameters::bias_linear has `columns` columns of `rows` entries per label, and entry k - 1, of
// duration k, is in column (k - 1) % columns: a lane has as many starts one after the other, so that what the
// lanes of a warp read at a time lies side by side. Behind the last duration are zeros.
struct AnchorBias {
  int columns;
  int rows;

  explicit AnchorBias(int duration);
  std::size_t index(int label, int entry) const {
    const auto column = static_cast<std::size_t>(label) * static_cast<std::size_t>(columns) +
                        static_cast<std::size_t>(entry % columns);
    return column * static_cast<std::size_t>(rows) + static_cast<std::size_t>(entry / columns);
  }
  std::size_t size(int labels) const { return index(labels, 0); }
};
// Doubles that a block of threads needs in AnchorParameters::numbers; 0: they fit into shared memory.
std::size_t anchor_workspace(int duration);
// Asynchronous; `blocks` blocks of threads share the tasks and the workspace.
void find_anchors(const AnchorParameters& parameters, int blocks, cudaStream_t stream);
template <class Real>
void combine_messages(const CombineParameters<Real>& parameters, cudaStream_t stream);

}  // namespace semicrf::cuda
