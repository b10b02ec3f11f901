// Expected counts of tails: segments longer than K where they end, and the positions by which they exceed K
// (docs/algorithm.md, "Expected counts"). Right to left goes what follows when such a segment covers the
// position left of a boundary: it ends there or goes on. A warp per label of an interval, a lane per block:
// every lane finds what its block adds, a scan over the lanes what reaches it from the right, and then it
// counts.
#include "cuda/counts/counts_messages.cuh"
#include "cuda/device/launch.h"
#include "cuda/tables/warp_scan.cuh"

namespace semicrf::cuda {
namespace {

constexpr int kWarps = 4;

template <class Real>
class TailCounter {
 public:
  __device__ TailCounter(const CountsParameters<Real>& p, int index, int c)
      : p_(p), interval_(p, index), index_(index), c_(c), log_q_(p.tables.log_tail[c]), q_(exp(log_q_)) {}

  // The warp together.
  __device__ void run(double* last_duration, double* positions) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    double right = interval_.task.crossed ? beyond_mark(lane) : kNone;
    for (int last = interval_.blocks - 1; last >= 0; last -= 32) {
      const int block = last - lane;
      // Left edge = what the block adds, or what reaches its right edge with the block's decay.
      double adds = kNone, decay = 0;
      if (block >= 0) {
        adds = count(block, kNone, false);
        decay = block_decay(block);
      }
      double mine = adds;
      double whole = decay;
      scan_decaying(lane, &mine, &whole);
      const double reached = log_add(mine, right + whole);
      const double from_right = __shfl_up_sync(kAllLanes, reached, 1);
      if (block >= 0) count(block, lane == 0 ? right : from_right, true);
      right = __shfl_sync(kAllLanes, reached, 31);
    }
    ending_ = warp_sum(ending_);
    open_ = warp_sum(open_);
    if (lane != 0) return;
    *last_duration += ending_;
    *positions = open_;
  }

 private:
  __device__ double block_decay(int block) const {
    const std::int64_t left = interval_.rows - static_cast<std::int64_t>(block) * kBlock;
    return static_cast<double>(left < kBlock ? left : kBlock) * log_q_ + interval_.content_of(block, c_);
  }
  // Counts a block that `right` reaches, if asked to; returns what reaches its left edge.
  __device__ double count(int block, double right, bool counts) {
    beyond_ = right;
    counts_ = counts ? 1 : 0;
    if (!interval_.is_plain(block) || !count_numbers(block)) count_logs(block);
    return beyond_;
  }

  // Relative to the block's left edge contents cancel: the stored tails lack them from there on.
  __device__ __forceinline__ bool count_numbers(int block) {
    constexpr double kWidest = 1e80;
    const std::int64_t row = interval_.first_row + static_cast<std::int64_t>(block) * kBlock;
    const std::int64_t at = row * p_.tables.labels + c_;
    const std::int64_t scale_at = row / kBlock * p_.tables.labels + c_;
    Real tails[kBlock], ends[kBlock], content[kBlock];
    int power[kBlock], content_power[kBlock];
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      tails[slot] = p_.forward.tail.numbers[at + slot * p_.tables.labels];
      ends[slot] = p_.backward.gamma.numbers[at + slot * p_.tables.labels];
    }
    if (!content_numbers(interval_, row, c_, content, content_power)) return false;
    block_levels(p_.backward.gamma.level, row, power);
    int most_end = kEmpty;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      ends[slot] *= content[slot];
      power[slot] += content_power[slot];
      if (ends[slot] > Real(0)) most_end = larger(most_end, power[slot] + exponent_of(ends[slot]));
    }
    const double end_scale = p_.backward.gamma.scale[scale_at] + interval_.backward_level(row / kBlock) +
                             (is_empty(most_end) ? 0.0 : most_end * kLog2);
    const double right = beyond_ + interval_.content_of(block, c_);
    const double scale = fmax(end_scale, right);
    const double tail_scale = p_.forward.tail.scale[scale_at] + interval_.forward_level(row / kBlock);
    if (scale == kNone) return true;
    const double whole = tail_scale + scale;
    if (!(whole <= 300)) return false;
    const double by_ends = exp(end_scale - scale);
    double reach = exp(right - scale);
    double most = 0, ending = 0, open = 0;
#pragma unroll
    for (int slot = kBlock - 1; slot >= 0; --slot) {
      const double end =
          static_cast<double>(ends[slot]) * power_of_two(power[slot] - most_end, double()) * by_ends;
      reach += end;
      const double tail = static_cast<double>(tails[slot]);
      ending = fma(tail, end, ending);
      open = fma(tail, reach, open);
      most = fmax(most, fmax(reach, tail));
      reach *= q_;
    }
    if (!(most <= kWidest) || !(reach >= 1 / kWidest)) return false;
    const double factor = whole > -690 ? counts_ * exp(whole) : 0.0;
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
      double tail = interval_.stored(p_.forward, p_.forward.tail, interval_.first_row + i, c_) +
                    interval_.forward_level(at);
      if (fast) tail += logs.content[slot];
      const double reach = log_add(logs.end[slot], beyond_);
      ending_ += counts_ * exp(tail + logs.end[slot]);
      open_ += counts_ * exp(tail + reach);
      beyond_ = interval_.score(interval_.first_row + i, c_) + log_q_ + reach;
    }
  }

  // Ends right of the interval's last boundary, as the stored backward messages are scaled.
  __device__ double beyond_mark(int lane) const {
    const double* after = interval_.after() + c_;
    const std::int64_t labels = p_.tables.labels;
    double tail = after[(p_.tables.duration + 1) * labels];
    if (tail > kNone) tail += p_.tables.duration * log_q_ - p_.tables.last_bias[c_];
    double most = tail;
    for (int d = 1 + lane; d <= p_.tables.duration; d += 32)
      most = fmax(most, after[(d - 1) * labels] + d * log_q_);
    most = warp_most(most);
    if (most == kNone) return kNone;
    double sum = lane == 0 ? exp(tail - most) : 0.0;
    for (int d = 1 + lane; d <= p_.tables.duration; d += 32)
      sum += exp(after[(d - 1) * labels] + d * log_q_ - most);
    sum = warp_sum(sum);
    const AnchorTask& task = interval_.task;
    const std::int64_t block = (interval_.first_row + interval_.rows - 1) / kBlock;
    const double whole = p_.backward_states.whole[task.backward_state] - p_.backward.mass[block];
    return most + log(sum) + p_.backward_states.offset[task.backward_state] + whole;
  }

  const CountsParameters<Real>& p_;
  const IntervalMessages<Real> interval_;
  const int index_, c_;
  const double log_q_, q_;
  double beyond_ = kNone;  // logarithm, at the boundary reached
  double counts_ = 0;      // 1: the block is counted
  double ending_ = 0, open_ = 0;
};

template <class Real>
__global__ void __launch_bounds__(kWarps * 32) tail_kernel(const __grid_constant__ CountsParameters<Real> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int c = static_cast<int>(i % p.tables.labels);
  const int index = static_cast<int>(i / p.tables.labels);
  if (index >= p.num_tasks) return;
  double* part = p.parts + index * p.entries;
  const std::int64_t transitions = static_cast<std::int64_t>(p.groups) * kBlock * p.tables.labels;
  double* positions = part + transitions + static_cast<std::int64_t>(p.tables.labels) * p.tables.labels + c;
  if (p.tables.tail != 0 && p.tables.log_tail[c] != kNone && p.z.log[index] > kNone) {
    TailCounter<Real>(p, index, c)
        .run(part + static_cast<std::int64_t>(p.tables.duration - 1) * p.tables.labels + c, positions);
  } else if (threadIdx.x % 32 == 0) {
    *positions = 0;
  }
}

}  // namespace

template <class Real>
void count_tails(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  const std::int64_t warps = static_cast<std::int64_t>(parameters.num_tasks) * parameters.tables.labels;
  SEMICRF_CUDA_CHECK(launch(tail_kernel<Real>, shape_for(32 * warps, 32 * kWarps), stream, parameters));
}

template void count_tails<float>(const CountsParameters<float>&, cudaStream_t);
template void count_tails<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
