#include "cuda/recursion/run_kernel.cuh"

namespace semicrf::cuda {

template RunKernel<double> block_kernel<double, MaxSemiring>(const TileConfig&);

}  // namespace semicrf::cuda
