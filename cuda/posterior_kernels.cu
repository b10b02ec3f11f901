// Posteriors from the messages of both directions (docs/algorithm.md, "Posteriors" and "The local log Z").
//
// From an anchor leftwards p_start and p_end are products of stored numbers, and the crossing mass follows.
#include "cuda/cuda_check.h"
#include "cuda/numbers.cuh"
#include "cuda/posterior_launch.h"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

inline constexpr int kCombineWarps = 4;

__device__ __forceinline__ double warp_sum(double x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
__device__ __forceinline__ float logarithm(float x) { return logf(x); }
__device__ __forceinline__ double logarithm(double x) { return log(x); }

// exp(x) as (number in [0.7, 1.5), rounded once, times a power of two) and a power of two: neither leaves the
// range.
template <class Real>
__device__ __forceinline__ void split_factor(double x, Real* first, Real* rest) {
  if (!(x > -1e8)) {
    *first = *rest = Real(0);
    return;
  }
  const int n = near_int(x * (1 / kLog2));
  const int half = n >> 1;
  *first = static_cast<Real>(exp(fma(static_cast<double>(-n), kLog2, x))) * power_of_two(half, Real());
  *rest = power_of_two(n - half, Real());
}

template <class Real>
__device__ __forceinline__ double stored_log(const MessageStore<Real>& store, const Real* numbers,
                                             const double* scale, const double* pool, std::int64_t row,
                                             int slot, int c, int labels) {
  const std::int64_t block = row / kBlock;
  const int exact = store.exact[block];
  if (exact != 0) return pool[(static_cast<std::int64_t>(exact - 1) * kBlock + slot) * labels + c];
  return to_log<Real, LogSemiring>(numbers[row * labels + c]) + scale[block * labels + c];
}

// A warp per interval, lane = label (and label + 32, ...), right to left.
template <class Real>
__global__ void __launch_bounds__(kCombineWarps * 32)
    combine_kernel(const __grid_constant__ CombineParameters<Real> p) {
  Real* const combine_memory = reinterpret_cast<Real*>(shared_memory);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int panels = (p.labels + 31) / 32;
  Real* crossing = combine_memory + static_cast<std::int64_t>(warp) * panels * 32 * 7 + lane;
  // Per panel: crossing mass, then four factors of the block, then start and label of the position.
  const auto at = [&](int row, int panel) -> Real& { return crossing[(row * panels + panel) * 32]; };
  const int index = static_cast<int>(blockIdx.x) * kCombineWarps + warp;
  if (index >= p.num_tasks) return;
  const AnchorTask task = p.tasks[index];
  const std::int64_t labels = p.labels;
  for (int panel = 0; panel < panels; ++panel) {
    const int c = panel * 32 + lane;
    at(0, panel) = c < p.labels ? static_cast<Real>(p.crossing[index * labels + c]) : Real(0);
  }
  double entropy = 0, mass = 0, plogp = 0, worst = 0;
  const std::int64_t first_row = task.begin - p.forward.first_token;
  for (std::int64_t block = (task.end - 1 - p.forward.first_token) / kBlock; block * kBlock >= first_row;
       --block) {
    const double log_z =
        p.z_offset[index] + (p.z_whole[index] - (p.forward.base[block] + p.backward.base[block]));
    const bool exact = p.forward.exact[block] != 0 || p.backward.exact[block] != 0;
    for (int panel = 0; panel < panels && !exact; ++panel) {
      const int c = panel * 32 + lane;
      if (c >= p.labels) continue;
      const std::int64_t i = block * labels + c;
      split_factor(p.forward.start_scale[i] + p.backward.alpha_scale[i] - log_z, &at(1, panel),
                   &at(2, panel));
      split_factor(p.forward.alpha_scale[i] + p.backward.start_scale[i] - log_z, &at(3, panel),
                   &at(4, panel));
    }
    const std::int64_t last = task.end - 1 - p.forward.first_token;
    const int top = last / kBlock == block ? static_cast<int>(last % kBlock) : kBlock - 1;
    for (int slot = top; slot >= 0; --slot) {
      const std::int64_t row = block * kBlock + slot;
      Real total = 0, begun = 0, information = 0;
      for (int panel = 0; panel < panels; ++panel) {
        const int c = panel * 32 + lane;
        Real start = 0, end = 0;
        if (c < p.labels) {
          const std::int64_t i = row * labels + c;
          if (exact) {
            const auto forward = [&](const Real* numbers, const double* scale, const double* pool) {
              return stored_log(p.forward, numbers, scale, pool, row, slot, c, p.labels);
            };
            const auto backward = [&](const Real* numbers, const double* scale, const double* pool) {
              return stored_log(p.backward, numbers, scale, pool, row, slot, c, p.labels);
            };
            start = static_cast<Real>(
                exp(forward(p.forward.start, p.forward.start_scale, p.forward.pool_start) +
                    backward(p.backward.alpha, p.backward.alpha_scale, p.backward.pool_alpha) - log_z));
            end = static_cast<Real>(
                exp(forward(p.forward.alpha, p.forward.alpha_scale, p.forward.pool_alpha) +
                    backward(p.backward.start, p.backward.start_scale, p.backward.pool_start) - log_z));
          } else {
            start = (p.forward.start[i] * at(1, panel)) * (p.backward.alpha[i] * at(2, panel));
            end = (p.forward.alpha[i] * at(3, panel)) * (p.backward.start[i] * at(4, panel));
          }
        }
        const Real label = at(0, panel) + end;
        at(0, panel) = label - start;
        const Real clamped = larger(label, Real(0));
        at(5, panel) = start;
        at(6, panel) = clamped;
        total += label;
        begun += start;
        information = fused(clamped, logarithm(larger(clamped, static_cast<Real>(1e-30))), information);
        if (p.ends != nullptr && c < p.labels) p.ends[row * labels + c] = end;
      }
      total = warp_sum(total);
      begun = warp_sum(begun);
      information = warp_sum(information);
      const double norm = static_cast<double>(total);
      const Real by = static_cast<Real>(1.0 / norm);
      for (int panel = 0; panel < panels; ++panel) {
        const int c = panel * 32 + lane;
        if (c >= p.labels) continue;
        const std::int64_t i = row * labels + c;
        if (p.label_rows != nullptr) p.label_rows[i] = smaller(Real(1), at(6, panel) * by);
        if (p.starts != nullptr) p.starts[i] = smaller(Real(1), at(5, panel) * by);
        if (p.ends != nullptr) p.ends[i] = smaller(Real(1), p.ends[i] * by);
      }
      double boundary = static_cast<double>(begun) / norm;
      boundary = boundary < 0 ? 0.0 : (boundary > 1 ? 1.0 : boundary);
      if (lane == 0) {
        if (p.boundary != nullptr) p.boundary[row] = static_cast<Real>(boundary);
        const double error = fabs(norm - 1.0);
        worst = error <= worst ? worst : error;
        entropy += log(norm) - static_cast<double>(information) / norm;
        mass += boundary;
        if (boundary > 0) plogp += boundary * log(boundary);
      }
    }
  }
  if (lane == 0) {
    double* sums = p.sums + static_cast<std::int64_t>(index) * 4;
    sums[0] = entropy;
    sums[1] = mass;
    sums[2] = plogp;
    sums[3] = worst;
  }
}

}  // namespace

template <class Real>
void combine_messages(const CombineParameters<Real>& parameters, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((parameters.num_tasks + kCombineWarps - 1) / kCombineWarps));
  config.blockDim = dim3(kCombineWarps * 32);
  config.dynamicSmemBytes =
      static_cast<std::size_t>((parameters.labels + 31) / 32) * 32 * 7 * kCombineWarps * sizeof(Real);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(combine_kernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(config.dynamicSmemBytes)));
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, combine_kernel<Real>, parameters));
}

template void combine_messages<float>(const CombineParameters<float>&, cudaStream_t);
template void combine_messages<double>(const CombineParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
