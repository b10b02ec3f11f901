// A product of matrices over the positions of a stretch: posteriors (n, C) and what the head sees of the
// features (n, inputs). A thread has two labels and four inputs of one stretch in registers and walks along
// it; what the threads of a stretch read is the same few lines at a time, which the first cache holds. In
// double: a float times a float is exact in it.
#include "cuda/device/launch.h"
#include "cuda/scores/projection_launch.h"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kInputs = 4;
constexpr std::int64_t kNowhere = std::int64_t{1} << 60;  // an offset that leads out of every sequence

// How a stretch is shared out: labels c and c + pairs, and four inputs, to a thread.
struct Shares {
  int pairs, slots, threads, blocks;  // blocks of so many threads per stretch
};
__host__ __device__ inline Shares shares_of(int labels, int inputs) {
  Shares shares{};
  shares.pairs = (labels + 1) / 2;
  const int groups = inputs > kInputs ? (inputs + kInputs - 1) / kInputs : 1;
  shares.slots = shares.pairs * groups;
  shares.threads = shares.slots < kThreads ? (shares.slots + 31) / 32 * 32 : kThreads;
  shares.blocks = (shares.slots + shares.threads - 1) / shares.threads;
  return shares;
}

template <class Real, class Feature>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const __grid_constant__ HeadSumsJob<Real> job, const Feature* features) {
  const Shares shares = shares_of(job.labels, job.inputs);
  const int part = static_cast<int>(blockIdx.x) / shares.blocks;
  const int slot =
      static_cast<int>(blockIdx.x) % shares.blocks * shares.threads + static_cast<int>(threadIdx.x);
  if (slot >= shares.slots) return;
  const Stretch stretch = job.stretches[part];
  const int c = slot % shares.pairs, other = c + shares.pairs;
  const bool two = other < job.labels;
  const int input = slot / shares.pairs * kInputs;
  const int tracks = job.features.tracks;
  std::int64_t offset[kInputs];
  for (int i = 0; i < kInputs; ++i)
    offset[i] = input + i < job.inputs ? job.first + (input + i) / tracks : kNowhere;
  const auto inside = [&](std::int64_t t) { return t >= 0 && t < stretch.length; };
  double sum[kInputs] = {}, other_sum[kInputs] = {};
  double bias = 0, other_bias = 0;
  const Real* p = job.posteriors + stretch.row * job.labels;
  const Feature* x = features + (stretch.features_zero + stretch.begin + job.first) * tracks + input;
#pragma unroll 4
  for (std::int64_t t = stretch.begin; t < stretch.end; ++t, p += job.labels, x += tracks) {
    const double here = static_cast<double>(p[c]);
    const double there = two ? static_cast<double>(p[other]) : 0;
    bias += here;
    other_bias += there;
#pragma unroll
    for (int i = 0; i < kInputs; ++i) {
      const double value = inside(t + offset[i]) ? static_cast<double>(x[i]) : 0;
      sum[i] += here * value;
      other_sum[i] += there * value;
    }
  }
  double* const out = job.parts + part * job.entries + job.at;
  for (int i = 0; i < kInputs && input + i < job.inputs; ++i) {
    double* const row = out + static_cast<std::int64_t>(input + i) * job.labels;
    row[c] = sum[i];
    if (two) row[other] = other_sum[i];
  }
  if (input > 0) return;
  double* const row = out + static_cast<std::int64_t>(job.inputs) * job.labels;
  row[c] = bias;
  if (two) row[other] = other_bias;
}

// A thread per stretch and label.
template <class Real>
__global__ void __launch_bounds__(kThreads) ends_kernel(const __grid_constant__ HeadSumsJob<Real> job) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t part = index / job.labels, c = index % job.labels;
  if (part >= job.num_stretches) return;
  const Stretch stretch = job.stretches[part];
  const auto posterior = [&](std::int64_t t) {
    return static_cast<double>(job.posteriors[(stretch.row + t - stretch.begin) * job.labels + c]);
  };
  double* const out = job.parts + part * job.entries + job.at;
  out[c] = stretch.begin == 0 ? posterior(0) : 0;
  out[job.labels + c] = stretch.end == stretch.length ? posterior(stretch.length - 1) : 0;
}

}  // namespace

template <class Real>
void sum_head(const HeadSumsJob<Real>& job, cudaStream_t stream) {
  const Shares shares = shares_of(job.labels, job.inputs);
  const LaunchShape shape{static_cast<std::int64_t>(job.num_stretches) * shares.blocks, shares.threads};
  const DeviceScores rows = job.features.rows;
  if (rows.f64 == nullptr) {
    SEMICRF_CUDA_CHECK(launch(sum_kernel<Real, float>, shape, stream, job, rows.f32));
  } else {
    SEMICRF_CUDA_CHECK(launch(sum_kernel<Real, double>, shape, stream, job, rows.f64));
  }
}

template <class Real>
void copy_ends(const HeadSumsJob<Real>& job, cudaStream_t stream) {
  const LaunchShape shape = shape_for(static_cast<std::int64_t>(job.num_stretches) * job.labels, kThreads);
  SEMICRF_CUDA_CHECK(launch(ends_kernel<Real>, shape, stream, job));
}

template void sum_head<float>(const HeadSumsJob<float>&, cudaStream_t);
template void sum_head<double>(const HeadSumsJob<double>&, cudaStream_t);
template void copy_ends<float>(const HeadSumsJob<float>&, cudaStream_t);
template void copy_ends<double>(const HeadSumsJob<double>&, cudaStream_t);

}  // namespace semicrf::cuda
