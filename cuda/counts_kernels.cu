#include "cuda/counts_launch.h"
#include "cuda/cuda_check.h"
#include "cuda/numbers.cuh"

namespace semicrf::cuda {
namespace {

constexpr int kCountThreads = 256;
constexpr int kStrip = 4;  // durations that a thread counts at a time

// exp in the engine's precision: a count is a sum of many such terms, none above 1.
template <class Real>
__device__ __forceinline__ double term(double x) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return static_cast<double>(expf(static_cast<float>(x)));
  } else {
    return exp(x);
  }
}

template <class Real>
class IntervalCounts {
 public:
  __device__ IntervalCounts(const CountsParameters<Real>& p, int slot)
      : p_(p),
        task_(p.tasks[p.first_task + slot]),
        labels_(p.labels),
        positions_(task_.end - task_.begin),
        first_row_(task_.begin - p.forward.first_token) {
    const std::int64_t room = slot * (p.mark + 1) * labels_;
    starts_ = p.starts + room;
    ends_ = p.ends + room;
    alpha_ = p.alpha + room;
    delta_ = p.delta + room;
    forbidden_ = p.forbidden + room;
    tail_rows_ = p.tail ? p.tail_rows + room : nullptr;
    durations_ = p.durations + slot * static_cast<std::int64_t>(p.duration) * labels_;
    transitions_ = p.transitions + slot * labels_ * labels_;
    tails_ = p.tails + slot * labels_;
    const int index = p.first_task + slot;
    z_whole_ = p.z_whole[index];
    z_offset_ = p.z_offset[index];
    z_log_ = p.z_log[index];
    before_ = p.forward_states.entries + task_.forward_state * p.forward_states.stride;
    after_ = p.backward_states.entries + task_.backward_state * p.backward_states.stride;
  }

  __device__ void run() {
    for (int c = static_cast<int>(threadIdx.x); c < p_.labels; c += kCountThreads) load(c);
    __syncthreads();
    const std::int64_t strips = (p_.duration + kStrip - 1) / kStrip;
    for (std::int64_t i = threadIdx.x; i < strips * labels_; i += kCountThreads) {
      count_strip(static_cast<int>(i / labels_) * kStrip + 1, static_cast<int>(i % labels_));
    }
    for (std::int64_t i = threadIdx.x; i < labels_ * labels_; i += kCountThreads) {
      transitions_[i] = count_transition(static_cast<int>(i / labels_), static_cast<int>(i % labels_));
    }
    __syncthreads();
    for (int c = static_cast<int>(threadIdx.x); c < p_.labels; c += kCountThreads) {
      tails_[c] = 0;
      if (p_.tail && p_.log_tail[c] != kNone) count_tail(c);
    }
  }

 private:
  __device__ double stored(const MessageStore<Real>& store, const Real* numbers, const double* scale,
                           const double* pool, std::int64_t row, int c) const {
    const std::int64_t block = row / kBlock;
    const int exact = store.exact[block];
    if (exact != 0)
      return pool[((exact - 1) * static_cast<std::int64_t>(kBlock) + row % kBlock) * labels_ + c];
    return to_log<Real, LogSemiring>(numbers[row * labels_ + c]) + scale[block * labels_ + c];
  }
  __device__ double score(std::int64_t token, int c) const {
    const SequenceView& s = *p_.sequence;
    const std::int64_t at = (token - s.begin) * labels_;
    const auto value = [&](int label) {
      return s.emissions.f32 != nullptr ? static_cast<double>(s.emissions.f32[at + label])
                                        : s.emissions.f64[at + label];
    };
    double x = value(c);
    if (s.subtract_position_max) {
      double most = kNone;
      for (int other = 0; other < p_.labels; ++other) most = fmax(most, value(other));
      if (most != kNone) x -= most;
    }
    if (s.baseline != nullptr) x -= s.baseline[c];
    return x - p_.forward.shift[token - p_.forward.first_token];
  }
  __device__ double boundary_score(const DeviceScores& scores, std::int64_t token, int c) const {
    const std::int64_t at = (token - p_.sequence->begin) * labels_ + c;
    if (scores.f32 != nullptr) return static_cast<double>(scores.f32[at]);
    return scores.f64 != nullptr ? scores.f64[at] : 0.0;
  }

  // Logarithms of one label: starts less the content up to them, ends with it, both without log Z where they
  // meet (the starts lack it). Content is summed from the interval's first boundary; forbidden positions are
  // counted apart.
  __device__ void load(int c) {
    double sum = 0;
    double block_content = 0;
    int forbidden = 0;
    for (std::int64_t i = 0; i < positions_; ++i) {
      const std::int64_t row = first_row_ + i;
      const std::int64_t token = task_.begin + i;
      const std::int64_t at = i * labels_ + c;
      const double forward = p_.forward.base[row / kBlock] - z_whole_;
      const double backward = p_.backward.base[row / kBlock];
      forbidden_[at] = forbidden;
      double start =
          stored(p_.forward, p_.forward.start, p_.forward.start_scale, p_.forward.pool_start, row, c) +
          boundary_score(p_.sequence->starts, token, c);
      if (token == 0) start += p_.first_scores[c];
      starts_[at] = start - sum - z_offset_ + forward;
      const double content = score(token, c);
      if (content == kNone) {
        ++forbidden;
      } else {
        sum += content;
      }
      ends_[at] = end_of(i, c) + sum;
      alpha_[at] =
          stored(p_.forward, p_.forward.alpha, p_.forward.alpha_scale, p_.forward.pool_alpha, row, c) -
          z_offset_ + forward;
      delta_[at] =
          stored(p_.backward, p_.backward.alpha, p_.backward.alpha_scale, p_.backward.pool_alpha, row, c) +
          backward;
      if (p_.tail) {
        // The tail's share at the position's right boundary; a fast block's lacks the content since its first
        // one.
        double tail =
            stored(p_.forward, p_.forward.tail, p_.forward.alpha_scale, p_.forward.pool_tail, row, c);
        block_content = row % kBlock == 0 ? content : block_content + content;
        if (p_.forward.exact[row / kBlock] == 0) tail += block_content;
        tail_rows_[at] = tail - z_offset_ + forward;
      }
    }
    forbidden_[positions_ * labels_ + c] = forbidden;
  }

  // Durations first..first+3 of one label: a start meets the ends of four durations, which slide past in
  // registers.
  __device__ void count_strip(int first, int c) {
    const int last = first + kStrip - 1 < p_.duration ? first + kStrip - 1 : p_.duration;
    if (forbidden_[positions_ * labels_ + c] != 0) {
      for (int k = first; k <= last; ++k) {
        durations_[(k - 1) * labels_ + c] = count_within(k, c) + count_crossing(k, c);
      }
      return;
    }
    double bias[kStrip], ends[kStrip], sums[kStrip];
    Real parts[kStrip];
    const auto end_at = [&](std::int64_t i) { return i < positions_ ? ends_[i * labels_ + c] : kNone; };
#pragma unroll
    for (int j = 0; j < kStrip; ++j) {
      bias[j] = first + j <= last ? p_.bias[static_cast<std::int64_t>(first + j - 1) * p_.width + c] : kNone;
      ends[j] = end_at(first - 1 + j);
      sums[j] = 0;
      parts[j] = 0;
    }
    // Partial sums of a few dozen terms in Real, their sum in double.
    for (std::int64_t i = 0; i + first <= positions_; ++i) {
      const double start = starts_[i * labels_ + c];
#pragma unroll
      for (int j = 0; j < kStrip; ++j) parts[j] += exponential(static_cast<Real>(start + bias[j] + ends[j]));
#pragma unroll
      for (int j = 0; j + 1 < kStrip; ++j) ends[j] = ends[j + 1];
      ends[kStrip - 1] = end_at(i + first - 1 + kStrip);
      if (i % 32 == 31) {
#pragma unroll
        for (int j = 0; j < kStrip; ++j) {
          sums[j] += static_cast<double>(parts[j]);
          parts[j] = 0;
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kStrip; ++j) {
      if (first + j > last) continue;
      durations_[(first + j - 1) * labels_ + c] =
          sums[j] + static_cast<double>(parts[j]) + count_crossing(first + j, c);
    }
  }

  // Segments of duration k within the interval, none over a forbidden position.
  __device__ double count_within(int k, int c) const {
    const double bias = p_.bias[static_cast<std::int64_t>(k - 1) * p_.width + c];
    if (bias == kNone) return 0;
    double sum = 0;
    for (std::int64_t i = 0; i + k <= positions_; ++i) {
      const std::int64_t start = i * labels_ + c;
      const std::int64_t end = (i + k) * labels_ + c;
      if (forbidden_[start] != forbidden_[end]) continue;
      sum += term<Real>(starts_[start] + bias + ends_[end - labels_]);
    }
    return sum;
  }
  // Those that cross its right end.
  __device__ double count_crossing(int k, int c) const {
    const double bias = p_.bias[static_cast<std::int64_t>(k - 1) * p_.width + c];
    if (task_.at_sequence_end || bias == kNone) return 0;
    double sum = 0;
    for (int left = 1; left < k; ++left) {
      sum += term<Real>(before_[(left - 1) * labels_ + c] + after_[(k - left - 1) * labels_ + c] + bias -
                        z_log_);
    }
    return sum;
  }

  // Boundaries in (begin, end], and 0 where the first segment gets a transition.
  __device__ double count_transition(int from, int to) const {
    const double score = p_.transition_log[static_cast<std::int64_t>(from) * p_.width + to];
    if (score == kNone) return 0;
    double sum = 0;
    if (task_.begin == 0 && p_.uniform) sum += term<Real>(score + delta_[to] - z_whole_ - z_offset_);
    for (std::int64_t i = 1; i < positions_; ++i) {
      sum += term<Real>(alpha_[(i - 1) * labels_ + from] + score + delta_[i * labels_ + to]);
    }
    if (!task_.at_sequence_end) {
      sum += term<Real>(before_[p_.duration * labels_ + from] + score + after_[p_.duration * labels_ + to] -
                        z_log_);
    }
    return sum;
  }

  // Segments longer than K. Right to left: `beyond` is what follows when such a segment covers the position
  // left of a boundary: it ends there or goes on. Each that ends counts as one of duration K, and each
  // boundary it reaches as a position beyond K.
  __device__ void count_tail(int c) {
    const double log_q = p_.log_tail[c];
    double next = task_.at_sequence_end ? kNone : beyond_mark(c);
    double ending = 0;
    double open = 0;
    for (std::int64_t i = positions_ - 1; i >= 0; --i) {
      const double tail = tail_rows_[i * labels_ + c];
      const double end = end_of(i, c);
      const double beyond = log_add(end, next);
      ending += term<Real>(tail + end);
      open += term<Real>(tail + beyond);
      next = score(task_.begin + i, c) + log_q + beyond;
    }
    durations_[static_cast<std::int64_t>(p_.duration - 1) * labels_ + c] += ending;
    tails_[c] = open;
  }
  // Ends right of the interval's last boundary, as the stored backward messages are scaled.
  __device__ double beyond_mark(int c) const {
    const double log_q = p_.log_tail[c];
    double sum = after_[(p_.duration + 1) * labels_ + c] - p_.last_bias[c] + p_.duration * log_q;
    for (int d = 1; d <= p_.duration; ++d) sum = log_add(sum, after_[(d - 1) * labels_ + c] + d * log_q);
    const RunReport& report = p_.backward_reports[task_.backward_run];
    const std::int64_t block = (task_.end - 1 - p_.forward.first_token) / kBlock;
    const double whole =
        p_.backward_states.whole[task_.backward_state] - report.origin_whole - p_.backward.mass[block];
    return sum + (p_.backward_states.offset[task_.backward_state] - report.origin) + whole;
  }

  // What follows a segment whose last position is the interval's i-th.
  __device__ double end_of(std::int64_t i, int c) const {
    const std::int64_t row = first_row_ + i;
    const std::int64_t token = task_.begin + i;
    double end =
        stored(p_.backward, p_.backward.start, p_.backward.start_scale, p_.backward.pool_start, row, c) +
        boundary_score(p_.sequence->ends, token, c);
    if (token + 1 == p_.sequence->length) end += p_.last_scores[c];
    return end + p_.backward.base[row / kBlock];
  }

  const CountsParameters<Real>& p_;
  const AnchorTask task_;
  const std::int64_t labels_, positions_, first_row_;
  double *starts_, *ends_, *alpha_, *delta_, *tail_rows_;
  int* forbidden_;
  double *durations_, *transitions_, *tails_;
  const double *before_, *after_;
  double z_whole_, z_offset_, z_log_;
};

template <class Real>
__global__ void __launch_bounds__(kCountThreads)
    count_kernel(const __grid_constant__ CountsParameters<Real> p) {
  IntervalCounts<Real>(p, static_cast<int>(blockIdx.x)).run();
}

__global__ void add_kernel(const double* partial, int batch, std::int64_t entries, double* total) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= entries) return;
  double sum = total[i];
  for (int n = 0; n < batch; ++n) sum += partial[n * entries + i];
  total[i] = sum;
}

}  // namespace

template <class Real>
void count_intervals(const CountsParameters<Real>& parameters, int batch, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(batch));
  config.blockDim = dim3(kCountThreads);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, count_kernel<Real>, parameters));
}
template void count_intervals<float>(const CountsParameters<float>&, int, cudaStream_t);
template void count_intervals<double>(const CountsParameters<double>&, int, cudaStream_t);

void add_partials(const double* partial, int batch, std::int64_t entries, double* total,
                  cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((entries + kCountThreads - 1) / kCountThreads));
  config.blockDim = dim3(kCountThreads);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, add_kernel, partial, batch, entries, total));
}

}  // namespace semicrf::cuda
