#include "cuda/cuda_check.h"
#include "cuda/projection_launch.h"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 256;

// A thread per position and label: labels of a position lie side by side, so that they share its features.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    project(const __grid_constant__ Projection p, const Value* rows, Value* out) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t t = p.begin + index / p.labels;
  const int c = static_cast<int>(index % p.labels);
  if (t >= p.end) return;
  double sum = p.head.bias[c];
  if (p.head.weights != nullptr) {
    const double* weights = p.head.weights + c;
    for (int offset = p.head.first; offset <= p.head.last; ++offset) {
      const std::int64_t at = t + offset;
      if (at < 0 || at >= p.length) {
        weights += static_cast<std::int64_t>(p.tracks) * p.labels;
        continue;
      }
      const Value* const x = rows + (at - p.rows_begin) * p.tracks;
      for (int j = 0; j < p.tracks; ++j, weights += p.labels)
        sum = __dadd_rn(sum, __dmul_rn(static_cast<double>(x[j]), *weights));
    }
  }
  out[(t - p.out_begin) * p.labels + c] = static_cast<Value>(sum);
}

}  // namespace

void project_features(const Projection& job, cudaStream_t stream) {
  const std::int64_t scores = (job.end - job.begin) * job.labels;
  if (scores <= 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((scores + kThreads - 1) / kThreads));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  if (job.out.f32 != nullptr) {
    SEMICRF_CUDA_CHECK(
        cudaLaunchKernelEx(&config, project<float>, job, job.rows.f32, const_cast<float*>(job.out.f32)));
  } else {
    SEMICRF_CUDA_CHECK(
        cudaLaunchKernelEx(&config, project<double>, job, job.rows.f64, const_cast<double*>(job.out.f64)));
  }
}

}  // namespace semicrf::cuda
