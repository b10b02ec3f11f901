#include "cuda/recursion/run_kernel.cuh"

namespace semicrf::cuda {

template RunKernel<float> block_kernel<float, MaxSemiring>(const TileConfig&);

}  // namespace semicrf::cuda
