// Stands in for the CUDA engine where the program was built without it.
#include "core/error.h"
#include "cuda/engine/cuda_engine.h"

namespace semicrf {

std::string cuda_obstacle() { return "this program was built without CUDA"; }

// NOLINTNEXTLINE(performance-unnecessary-value-param): the engine that this stands for keeps the model
std::unique_ptr<Engine> make_cuda_engine(ChainModel, Precision, const CudaOptions&) {
  throw DeviceError({"", "", cuda_obstacle(), "use --device auto or --device cpu"});
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the engine that this stands for keeps the model
std::unique_ptr<Engine> make_plain_cuda_engine(ChainModel, const CudaOptions&) {
  throw DeviceError({"", "", cuda_obstacle(), "use --device auto or --device cpu"});
}

void warm_up_device(const std::vector<int>&) {}

double cuda_copy_seconds(std::span<const unsigned char>, const CudaOptions&) {
  throw DeviceError({"", "", cuda_obstacle(), "use --device auto or --device cpu"});
}

}  // namespace semicrf
