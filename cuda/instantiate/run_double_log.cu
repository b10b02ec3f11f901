#include "cuda/run_launch.cuh"

namespace semicrf::cuda {

template int resident_blocks<double, LogSemiring>(const TileConfig&);
template void launch_runs<double, LogSemiring>(const TileConfig&, int, const RunParameters<double>&,
                                               cudaStream_t);

}  // namespace semicrf::cuda
