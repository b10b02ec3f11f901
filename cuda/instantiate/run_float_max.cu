#include "cuda/run_launch.cuh"

namespace semicrf::cuda {

template int resident_blocks<float, MaxSemiring>(const TileConfig&);
template void launch_runs<float, MaxSemiring>(const TileConfig&, int, const RunParameters<float>&,
                                              cudaStream_t);

}  // namespace semicrf::cuda
