// Posteriors from the messages of both directions (docs/algorithm.md, "Posteriors" and "The local log Z").
//
// Anchors: at marked boundaries the states of both runs give the local log Z and the mass that crosses, in
// double. Combining: from an anchor leftwards, p_start and p_end are products of stored numbers, and the
// crossing mass follows.
#include "cuda/cuda_check.h"
#include "cuda/numbers.cuh"
#include "cuda/posterior_launch.h"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

inline constexpr int kAnchorThreads = 256;

// Sum over the block's threads, in a fixed order.
__device__ inline double block_total(double value, double* parts) {
  __syncthreads();
  parts[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = kAnchorThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  return parts[0];
}
__device__ inline double block_most(double value, double* parts) {
  __syncthreads();
  parts[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = kAnchorThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] = fmax(parts[threadIdx.x], parts[threadIdx.x + step]);
    __syncthreads();
  }
  return parts[0];
}

// Segments longer than K that cross the boundary.
__device__ inline double tail_crossing(const AnchorParameters& p, const double* before, const double* after,
                                       int c) {
  const std::int64_t labels = p.labels;
  const double log_q = p.log_tail[c];
  if (log_q == kNone) return kNone;
  const double last = p.last_bias[c];
  const double tail_behind = after[(p.duration + 1) * labels + c];
  // Starts within K of the boundary whose segment is longer than K.
  double tail = tail_behind;
  double sum = kNone;
  for (int d = 1; d <= p.duration; ++d) {
    tail = log_add(tail, after[(p.duration - d) * labels + c] + last) + log_q;
    sum = log_add(sum, before[(d - 1) * labels + c] + tail);
  }
  // Starts more than K before it: the forward tail, and any end beyond.
  double beyond = tail_behind == kNone ? kNone : tail_behind - last + p.duration * log_q;
  for (int d = 1; d <= p.duration; ++d) beyond = log_add(beyond, after[(d - 1) * labels + c] + d * log_q);
  return log_add(sum, before[(p.duration + 1) * labels + c] + beyond);
}

// Segments [s, e) with s < b < e of one label: log of the sum, relative to the scales of both states. The sum
// is taken over numbers relative to the largest of each factor; when that could lose something, over
// logarithms.
__device__ inline double crossing_of(const AnchorParameters& p, const double* before, const double* after,
                                     int c, double* parts, double* lost) {
  const std::int64_t labels = p.labels;
  const int longest = p.duration;
  double most_before = kNone, most_after = kNone;
  for (int d = static_cast<int>(threadIdx.x); d < longest; d += kAnchorThreads) {
    most_before = fmax(most_before, before[d * labels + c]);
    most_after = fmax(most_after, after[d * labels + c]);
  }
  most_before = block_most(most_before, parts);
  most_after = block_most(most_after, parts);
  const double scale = most_before + most_after + p.largest_bias[c];
  *lost = kNone;
  if (!(scale > kNone)) return kNone;
  double* starts = p.starts + static_cast<std::int64_t>(blockIdx.x) * longest;
  double* ends = p.ends + static_cast<std::int64_t>(blockIdx.x) * longest;
  for (int d = static_cast<int>(threadIdx.x); d < longest; d += kAnchorThreads) {
    starts[d] = exp(before[d * labels + c] - most_before);
    ends[d] = exp(after[d * labels + c] - most_after);
  }
  __syncthreads();
  double sum = 0;
  for (int left = 1 + static_cast<int>(threadIdx.x); left < longest; left += kAnchorThreads) {
    double row = 0;
    const double* bias = p.bias_linear + static_cast<std::int64_t>(c) * longest + left;  // duration left + 1
    for (int right = 1; left + right <= longest; ++right) row = fma(ends[right - 1], bias[right - 1], row);
    sum += starts[left - 1] * row;
  }
  sum = block_total(sum, parts);
  *lost = scale - 690 + 2 * log(static_cast<double>(longest));
  return sum > 0 ? log(sum) + scale : kNone;
}
__device__ inline double crossing_in_logs(const AnchorParameters& p, const double* before,
                                          const double* after, int c, double* parts) {
  const std::int64_t labels = p.labels;
  double most = kNone;
  for (int left = 1 + static_cast<int>(threadIdx.x); left < p.duration; left += kAnchorThreads) {
    for (int right = 1; left + right <= p.duration; ++right) {
      most = fmax(most, before[(left - 1) * labels + c] + after[(right - 1) * labels + c] +
                            p.bias[static_cast<std::int64_t>(left + right - 1) * p.width + c]);
    }
  }
  most = block_most(most, parts);
  if (most == kNone) return kNone;
  double sum = 0;
  for (int left = 1 + static_cast<int>(threadIdx.x); left < p.duration; left += kAnchorThreads) {
    for (int right = 1; left + right <= p.duration; ++right) {
      sum += exp(before[(left - 1) * labels + c] + after[(right - 1) * labels + c] +
                 p.bias[static_cast<std::int64_t>(left + right - 1) * p.width + c] - most);
    }
  }
  return most + log(block_total(sum, parts));
}

__global__ void __launch_bounds__(kAnchorThreads) anchor_kernel(const __grid_constant__ AnchorParameters p) {
  double* const parts = reinterpret_cast<double*>(shared_memory);
  for (int index = static_cast<int>(blockIdx.x); index < p.num_tasks; index += static_cast<int>(gridDim.x)) {
    const AnchorTask task = p.tasks[index];
    const std::int64_t labels = p.labels;
    const double* before = p.forward.entries + task.forward_state * p.forward.stride;
    const double* after = p.backward.entries + task.backward_state * p.backward.stride;
    const double* alpha = before + p.duration * labels;
    const double* delta = after + p.duration * labels;
    double* crossing = p.crossing + index * labels;
    // Segments that end here: alpha(c') x sum over c of T[c'][c] delta(c).
    double ending = kNone;
    for (int from = static_cast<int>(threadIdx.x); from < p.labels; from += kAnchorThreads) {
      double beta = task.at_sequence_end ? 0.0 : kNone;
      if (!task.at_sequence_end) {
        double most = kNone;
        const double* row = p.transition_log + static_cast<std::int64_t>(from) * p.width;
        for (int to = 0; to < p.labels; ++to) most = fmax(most, row[to] + delta[to]);
        if (most > kNone) {
          double sum = 0;
          for (int to = 0; to < p.labels; ++to) sum += exp(row[to] + delta[to] - most);
          beta = most + log(sum);
        }
      }
      ending = log_add(ending, alpha[from] + beta);
    }
    const double most_ending = block_most(ending, parts);
    const double ending_sum = block_total(most_ending > kNone ? exp(ending - most_ending) : 0.0, parts);
    ending = most_ending > kNone ? most_ending + log(ending_sum) : kNone;
    double log_z = ending;
    double lost = kNone;
    int exact = 0;
    if (!task.at_sequence_end) {
      for (int attempt = 0; attempt < 2; ++attempt) {
        log_z = ending;
        lost = kNone;
        for (int c = 0; c < p.labels; ++c) {
          double mine = kNone;
          double lost_here = kNone;
          mine = attempt == 0 ? crossing_of(p, before, after, c, parts, &lost_here)
                              : crossing_in_logs(p, before, after, c, parts);
          if (p.tail) mine = log_add(mine, tail_crossing(p, before, after, c));
          lost = fmax(lost, lost_here);
          log_z = log_add(log_z, mine);
          if (threadIdx.x == 0) crossing[c] = mine;
          __syncthreads();
        }
        exact = attempt;
        if (lost == kNone || lost < log_z - 40) break;
      }
    }
    __syncthreads();
    for (int c = static_cast<int>(threadIdx.x); c < p.labels; c += kAnchorThreads) {
      crossing[c] = task.at_sequence_end || log_z == kNone ? 0.0 : exp(crossing[c] - log_z);
    }
    if (threadIdx.x == 0) {
      const RunReport& f = p.forward_reports[task.forward_run];
      const RunReport& b = p.backward_reports[task.backward_run];
      // States count position shifts and what their run began from; stored messages do not.
      const double forward_whole = p.forward.whole[task.forward_state] - f.origin_whole;
      const double forward_offset = p.forward.offset[task.forward_state] - f.origin;
      double backward_whole = 0, backward_offset = 0;
      if (!task.at_sequence_end) {
        backward_whole = p.backward.whole[task.backward_state] - b.origin_whole;
        backward_offset = p.backward.offset[task.backward_state] - b.origin;
      }
      // Shifts of all tokens that either run saw; those inside of the chunk are the same in both.
      double mass = f.mass_before + f.mass_inside;
      if (!task.at_sequence_end) mass += b.mass_before;
      p.z_whole[index] = forward_whole + backward_whole - mass;
      p.z_offset[index] = forward_offset + backward_offset + log_z;
      p.z_log[index] = log_z;
      p.fallbacks[index] = exact;
    }
    __syncthreads();
  }
}

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

void find_anchors(const AnchorParameters& parameters, int blocks, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kAnchorThreads);
  config.dynamicSmemBytes = kAnchorThreads * sizeof(double);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, anchor_kernel, parameters));
}

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
