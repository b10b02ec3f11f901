#include "cuda/recursion/run_kernel.cuh"

namespace semicrf::cuda {

template RunKernel<double> block_kernel<double, LogSemiring>(const TileConfig&);

}  // namespace semicrf::cuda
