#include "cuda/recursion/run_kernel.cuh"

namespace semicrf::cuda {

template RunKernel<float> warp_kernel<float, LogSemiring, kFewThreads>(const TileConfig&);

}  // namespace semicrf::cuda
