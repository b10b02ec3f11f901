// The CUDA engine: the recursions of the cpu engine in kernels, all chunks of a window at a time
// (docs/cuda.md); and the plain one that it is compared with. No CUDA type appears here; where the program
// was built without CUDA the functions exist and say so.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace semicrf {

// Why no GPU can be used here, or empty when one can.
std::string cuda_obstacle();

struct CudaOptions {
  std::vector<int> devices;  // as CUDA counts them; empty: the first. The engine runs on the first of them
  std::size_t memory = 0;    // bytes of it that may be used; 0: what is comfortable
  int threads = 1;           // threads of the host that bring scores up
  bool spread = false;       // one engine of all the devices, which share every window
};
// DeviceError when one of the devices cannot run.
std::unique_ptr<Engine> make_cuda_engine(ChainModel model, Precision precision, const CudaOptions& options);

// The plain engine (cuda/plain/plain_engine.h) on the first of the devices. It always computes in double, and
// takes neither `threads` nor `spread`. DeviceError when that device cannot run.
std::unique_ptr<Engine> make_plain_cuda_engine(ChainModel model, const CudaOptions& options);

// Starts the driver and a context on each of the devices, which takes two to three tenths of a second, so
// that engines made later need not. Throws nothing: what is wrong with a device is said when its engine is
// made.
void warm_up_device(const std::vector<int>& devices);

// Seconds to bring `bytes` to the first of the devices through pinned buffers.
double cuda_copy_seconds(std::span<const unsigned char> bytes, const CudaOptions& options);

}  // namespace semicrf
