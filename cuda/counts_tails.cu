// Expected counts of tails: segments longer than K where they end, and the positions by which they exceed K
// (docs/algorithm.md, "Expected counts"). A thread per label of an interval goes right to left with what
// follows when such a segment covers the position left of a boundary: it ends there or goes on.
#include "cuda/counts_messages.cuh"
#include "cuda/cuda_check.h"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 64;

template <class Real>
class TailCounter {
 public:
  __device__ TailCounter(const CountsParameters<Real>& p, int index, int c)
      : p_(p), interval_(p, index), index_(index), c_(c), log_q_(p.log_tail[c]), q_(exp(log_q_)) {}

  __device__ void run(double* last_duration, double* positions) {
    beyond_ = interval_.task.at_sequence_end ? kNone : beyond_mark();
    for (int block = interval_.blocks - 1; block >= 0; --block) {
      if (!interval_.is_plain(block) || !count_numbers(block)) count_logs(block);
    }
    *last_duration += ending_;
    *positions = open_;
  }

 private:
  // Relative to the block's left edge contents cancel: the stored tails lack them from there on.
  __device__ __forceinline__ bool count_numbers(int block) {
    constexpr double kWidest = 1e80;
    const std::int64_t row = interval_.first_row + static_cast<std::int64_t>(block) * kBlock;
    const std::int64_t at = row * p_.labels + c_;
    const std::int64_t scale_at = row / kBlock * p_.labels + c_;
    Real tails[kBlock], ends[kBlock], content[kBlock];
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      tails[slot] = p_.forward.tail[at + slot * p_.labels];
      ends[slot] = p_.backward.start[at + slot * p_.labels];
    }
    if (!content_numbers(interval_, row, c_, content)) return false;
    const double end_scale = p_.backward.start_scale[scale_at] + interval_.backward_level(row / kBlock);
    const double right = beyond_ + interval_.content_of(block, c_);
    const double scale = fmax(end_scale, right);
    const double tail_scale = p_.forward.alpha_scale[scale_at] + interval_.forward_level(row / kBlock);
    if (scale == kNone) return true;
    const double whole = tail_scale + scale;
    if (!(whole <= 300)) return false;
    const double by_ends = exp(end_scale - scale);
    double reach = exp(right - scale);
    double most = 0, ending = 0, open = 0;
#pragma unroll
    for (int slot = kBlock - 1; slot >= 0; --slot) {
      const double end = static_cast<double>(ends[slot]) * static_cast<double>(content[slot]) * by_ends;
      reach += end;
      const double tail = static_cast<double>(tails[slot]);
      ending = fma(tail, end, ending);
      open = fma(tail, reach, open);
      most = fmax(most, fmax(reach, tail));
      reach *= q_;
    }
    if (!(most <= kWidest) || !(reach >= 1 / kWidest)) return false;
    const double factor = whole > -690 ? exp(whole) : 0.0;
    ending_ = fma(ending, factor, ending_);
    open_ = fma(open, factor, open_);
    beyond_ = log(reach) + scale;
    return true;
  }

  __device__ SEMICRF_NOINLINE void count_logs(int block) {
    BlockLogs logs;
    read_logs(p_, index_, block, c_, &logs);
    const std::int64_t at = interval_.first_row / kBlock + block;
    const bool fast = p_.forward.exact[at] == 0;
    for (int slot = kBlock - 1; slot >= 0; --slot) {
      const std::int64_t i = static_cast<std::int64_t>(block) * kBlock + slot;
      if (i >= interval_.rows) continue;
      // The tail's share at the position's right boundary; a fast block's lacks the content since its first.
      double tail = interval_.stored(p_.forward, p_.forward.tail, p_.forward.alpha_scale,
                                     p_.forward.pool_tail, interval_.first_row + i, c_) +
                    interval_.forward_level(at);
      if (fast) tail += logs.content[slot];
      const double reach = log_add(logs.end[slot], beyond_);
      ending_ += exp(tail + logs.end[slot]);
      open_ += exp(tail + reach);
      beyond_ = interval_.score(interval_.first_row + i, c_) + log_q_ + reach;
    }
  }

  // Ends right of the interval's last boundary, as the stored backward messages are scaled.
  __device__ double beyond_mark() const {
    const double* after = interval_.after() + c_;
    const std::int64_t labels = p_.labels;
    double tail = after[(p_.duration + 1) * labels];
    if (tail > kNone) tail += p_.duration * log_q_ - p_.last_bias[c_];
    double most = tail;
    for (int d = 1; d <= p_.duration; ++d) most = fmax(most, after[(d - 1) * labels] + d * log_q_);
    if (most == kNone) return kNone;
    double sum = exp(tail - most);
    for (int d = 1; d <= p_.duration; ++d) sum += exp(after[(d - 1) * labels] + d * log_q_ - most);
    const AnchorTask& task = interval_.task;
    const RunReport& report = p_.backward_reports[task.backward_run];
    const std::int64_t block = (task.end - 1 - p_.forward.first_token) / kBlock;
    const double whole =
        p_.backward_states.whole[task.backward_state] - report.origin_whole - p_.backward.mass[block];
    return most + log(sum) + (p_.backward_states.offset[task.backward_state] - report.origin) + whole;
  }

  const CountsParameters<Real>& p_;
  const IntervalMessages<Real> interval_;
  const int index_, c_;
  const double log_q_, q_;
  double beyond_ = kNone;  // logarithm, at the boundary reached
  double ending_ = 0, open_ = 0;
};

template <class Real>
__global__ void __launch_bounds__(kThreads) tail_kernel(const __grid_constant__ CountsParameters<Real> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int c = static_cast<int>(i % p.labels);
  const int index = static_cast<int>(i / p.labels);
  if (index >= p.num_tasks) return;
  double* part = p.parts + index * p.entries;
  const std::int64_t transitions = static_cast<std::int64_t>(p.groups) * kBlock * p.labels;
  double* positions = part + transitions + static_cast<std::int64_t>(p.labels) * p.labels + c;
  *positions = 0;
  if (p.tail != 0 && p.log_tail[c] != kNone) {
    TailCounter<Real>(p, index, c)
        .run(part + static_cast<std::int64_t>(p.duration - 1) * p.labels + c, positions);
  }
}

}  // namespace

template <class Real>
void count_tails(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  const std::int64_t threads = static_cast<std::int64_t>(parameters.num_tasks) * parameters.labels;
  config.gridDim = dim3(static_cast<unsigned>((threads + kThreads - 1) / kThreads));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, tail_kernel<Real>, parameters));
}

template void count_tails<float>(const CountsParameters<float>&, cudaStream_t);
template void count_tails<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
