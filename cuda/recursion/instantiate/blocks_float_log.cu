#include "cuda/recursion/run_kernel.cuh"

namespace semicrf::cuda {

template RunKernel<float> block_kernel<float, LogSemiring>(const TileConfig&);

}  // namespace semicrf::cuda
