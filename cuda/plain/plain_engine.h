// The plain CUDA engine: the recursion of docs/algorithm.md as a CUDA programmer would first write it, the
// rung between the reference and the fast CUDA engine (docs/cuda.md, "The plain engine").
//
// It treats a sequence as a whole, as the reference does: its grid is one chunk that covers anything, so that
// a window is always [0, T), `left` and `right` are null (std::logic_error otherwise) and nothing is warmed
// up. It always computes in double. All messages stay on the device: memory O(T C), time O(T (K + C)) steps.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/chain_model.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// `memory`: bytes of the device that a sequence may take.
std::unique_ptr<Engine> make_plain_engine(ChainModel model, int device, const std::string& device_name,
                                          std::size_t memory);

}  // namespace semicrf::cuda
