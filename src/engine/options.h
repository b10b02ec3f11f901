// How an engine is chosen and made.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace semicrf {

struct EngineOptions {
  enum class Backend { kAuto, kReference, kCpu, kCuda, kCudaPlain };
  Backend backend = Backend::kAuto;
  Precision precision = Precision::kFloat;
  int threads = 1;
  std::vector<int> devices;       // GPUs, as CUDA numbers them; empty: the first
  std::size_t device_memory = 0;  // bytes that may be used of a GPU; 0: the engine's choice
  bool spread_windows = false;    // over all the GPUs; else the engine is on the first of them
  std::string instruction_set;    // one of available_instruction_sets(); empty: the best of this processor

  // Whether a GPU is asked for, by name.
  bool is_cuda() const { return backend == Backend::kCuda || backend == Backend::kCudaPlain; }
};

// The only function that knows which engines exist. Throws DeviceError when a forced choice cannot run here.
std::unique_ptr<Engine> make_engine(const EngineOptions& options, ChainModel model);

std::vector<std::string> available_instruction_sets();

// Whether make_engine() takes models with cut edges (EngineInfo::cut_edges).
bool knows_cut_edges(const EngineOptions& options);

// Whether make_engine() takes a GPU. May start the driver.
bool takes_gpu(const EngineOptions& options);

// Starts the devices that make_engine() will take for a backend that is not kAuto, to be done beside other
// work; nothing where that is the host. Throws nothing: make_engine() says what is wrong.
void warm_up(const EngineOptions& options);

// Why no GPU can be used here, or empty when one can. Starts the driver, which takes its time.
std::string gpu_obstacle();

}  // namespace semicrf
