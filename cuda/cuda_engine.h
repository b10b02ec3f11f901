// The CUDA engine: the recursions of the cpu engine in kernels, all chunks of a window at a time
// (docs/cuda.md). No CUDA type appears here; where the program was built without CUDA the functions exist and
// say so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace semicrf {

// Why no GPU can be used here, or empty when one can.
std::string cuda_obstacle();

// `devices`: numbers as CUDA counts them; empty: the first. DeviceError when one of them cannot run.
std::unique_ptr<Engine> make_cuda_engine(ChainModel model, Precision precision,
                                         const std::vector<int>& devices);

}  // namespace semicrf
