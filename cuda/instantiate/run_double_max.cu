#include "cuda/run_launch.cuh"

namespace semicrf::cuda {

template int resident_blocks<double, MaxSemiring>(const TileConfig&);
template void launch_runs<double, MaxSemiring>(const TileConfig&, int, const RunParameters<double>&,
                                               cudaStream_t);

}  // namespace semicrf::cuda
