// Anchors: at marked boundaries the states of both runs give the local log Z and the mass that crosses, in
// double (docs/algorithm.md, "The local log Z"). A block of threads per mark, a warp per label: segments
// [s, e) with s < b < e are a sum over K^2 / 2 pairs of numbers relative to the largest of each factor, each
// lane with some starts whose durations slide past the ends. Where that could lose something all labels are
// summed over logarithms.
#include "cuda/device/launch.h"
#include "cuda/posteriors/posterior_launch.h"
#include "cuda/tables/numbers.cuh"
#include "cuda/tables/warp_scan.cuh"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

constexpr int kThreads = kAnchorWarps * 32;
// Starts of a lane: many are few loads per product, few leave no lane idle.
constexpr int kFewStarts = 4;
constexpr int kManyStarts = 16;
constexpr std::size_t kMostShared = std::size_t(64) << 10;

// Starts, ends, and zeros behind these.
SEMICRF_BOTH constexpr int numbers_of_label(int duration) { return 2 * duration + kManyStarts; }

// One label at one mark, the lanes of a warp together. States are (K + 2, C): row d - 1 at distance d.
struct LabelAtMark {
  const AnchorParameters& p;
  const double *before, *after;
  int c, lane;

  __device__ double start(int distance) const {
    return before[static_cast<std::int64_t>(distance - 1) * p.tables.labels + c];
  }
  __device__ double end(int distance) const {
    return after[static_cast<std::int64_t>(distance - 1) * p.tables.labels + c];
  }

  // Log of the sum, relative to the scales of both states; `lost`: of what may have vanished.
  template <int kStarts>
  __device__ double crossing(double* starts, double* ends, double* lost) const {
    const int longest = p.tables.duration;
    double most_before = kNone, most_after = kNone;
    for (int d = 1 + lane; d <= longest; d += 32) {
      const double before_mark = start(d), after_mark = end(d);
      starts[d - 1] = before_mark;
      ends[d - 1] = after_mark;
      most_before = fmax(most_before, before_mark);
      most_after = fmax(most_after, after_mark);
    }
    most_before = warp_most(most_before);
    most_after = warp_most(most_after);
    const double scale = most_before + most_after + p.tables.largest_bias[c];
    *lost = kNone;
    if (!(scale > kNone)) return kNone;
    // A lane's own entries: nobody else has read them.
    for (int d = 1 + lane; d <= longest; d += 32) {
      starts[d - 1] = exp(starts[d - 1] - most_before);
      ends[d - 1] = exp(ends[d - 1] - most_after);
    }
    if (lane < kStarts) ends[longest + lane] = 0;
    __syncwarp();
    const std::int64_t rows = p.bias_rows;
    const double* const bias = p.bias_linear + static_cast<std::int64_t>(c) * kStarts * rows;
    double sum = 0;
    for (int left = 1 + kStarts * lane; left < longest; left += kStarts * 32) {
      // Starts left, left + 1, ... with the end at distance `right`: entries left + right - 1 and on, of
      // which the first is 1 more than a multiple of kStarts.
      const double* at = bias + left / kStarts;
      const auto bias_at = [&](int more) { return at[(1 + more) % kStarts * rows + (1 + more) / kStarts]; };
      double row[kStarts], window[kStarts];
#pragma unroll
      for (int i = 0; i < kStarts; ++i) {
        row[i] = 0;
        window[i] = bias_at(i);
      }
      for (int right = 1; left + right <= longest; right += kStarts, ++at) {
#pragma unroll
        for (int step = 0; step < kStarts; ++step) {
          const double value = ends[right + step - 1];
#pragma unroll
          for (int i = 0; i < kStarts; ++i) row[i] = fma(value, window[(i + step) % kStarts], row[i]);
          window[step] = bias_at(kStarts + step);
        }
      }
#pragma unroll
      for (int i = 0; i < kStarts; ++i) {
        if (left + i < longest) sum = fma(starts[left + i - 1], row[i], sum);
      }
    }
    sum = warp_sum(sum);
    *lost = scale - 690 + 2 * log(static_cast<double>(longest));
    return sum > 0 ? log(sum) + scale : kNone;
  }

  __device__ double crossing_in_logs() const {
    const auto term = [&](int left, int right) {
      return start(left) + end(right) +
             p.tables.bias[static_cast<std::int64_t>(left + right - 1) * p.tables.width + c];
    };
    double most = kNone;
    for (int left = 1 + lane; left < p.tables.duration; left += 32) {
      for (int right = 1; left + right <= p.tables.duration; ++right) most = fmax(most, term(left, right));
    }
    most = warp_most(most);
    if (most == kNone) return kNone;
    double sum = 0;
    for (int left = 1 + lane; left < p.tables.duration; left += 32) {
      for (int right = 1; left + right <= p.tables.duration; ++right) sum += exp(term(left, right) - most);
    }
    return most + log(warp_sum(sum));
  }

  // Segments longer than K that cross the boundary. A lane takes a stretch of distances; what the stretches
  // before it hand on comes from a scan over the lanes.
  __device__ double tail_crossing() const {
    const double log_q = p.tables.log_tail[c];
    if (log_q == kNone) return kNone;
    const double last = p.tables.last_bias[c];
    const double behind = after[static_cast<std::int64_t>(p.tables.duration + 1) * p.tables.labels + c];
    const int each = (p.tables.duration + 31) / 32;
    const int first = 1 + lane * each < p.tables.duration + 1 ? 1 + lane * each : p.tables.duration + 1;
    const int end_of = first + each < p.tables.duration + 1 ? first + each : p.tables.duration + 1;
    // Starts within K of the boundary whose segment is longer than K: tail_d = (tail_{d-1} + end) q.
    const auto next = [&](double tail, int d) {
      return log_add(tail, end(p.tables.duration - d + 1) + last) + log_q;
    };
    double mine = kNone;
    for (int d = first; d < end_of; ++d) mine = next(mine, d);
    double decay = (end_of - first) * log_q;
    scan_decaying(lane, &mine, &decay);
    double tail = __shfl_up_sync(kAllLanes, mine, 1);
    decay = __shfl_up_sync(kAllLanes, decay, 1);
    tail = lane == 0 ? behind : log_add(tail, behind + decay);
    double sum = kNone;
    for (int d = first; d < end_of; ++d) {
      tail = next(tail, d);
      sum = log_add(sum, start(d) + tail);
    }
    // Starts more than K before it: the forward tail, and any end beyond.
    double beyond = kNone;
    for (int d = first; d < end_of; ++d) beyond = log_add(beyond, end(d) + d * log_q);
    if (lane == 0 && behind > kNone) beyond = log_add(beyond, behind - last + p.tables.duration * log_q);
    beyond = warp_log_sum(beyond);
    const double open = before[static_cast<std::int64_t>(p.tables.duration + 1) * p.tables.labels + c];
    return log_add(warp_log_sum(sum), open + beyond);
  }
};

// Segments of `from` that end here: alpha x sum over c of T[from][c] delta(c). The lanes of a warp together.
__device__ inline double ending_of(const AnchorParameters& p, const AnchorTask& task, const double* alpha,
                                   const double* delta, int from, int lane) {
  if (task.at_sequence_end) return alpha[from];
  const double* row = p.tables.transition_log + static_cast<std::int64_t>(from) * p.tables.width;
  double most = kNone;
  for (int to = lane; to < p.tables.labels; to += 32) most = fmax(most, row[to] + delta[to]);
  most = warp_most(most);
  if (most == kNone) return kNone;
  double sum = 0;
  for (int to = lane; to < p.tables.labels; to += 32) sum += exp(row[to] + delta[to] - most);
  return alpha[from] + (most + log(warp_sum(sum)));
}
// Log of the sum of two rows (C). The lanes of a warp together.
__device__ inline double log_sum_of_rows(const double* a, const double* b, int labels, int lane) {
  double most = kNone;
  for (int c = lane; c < labels; c += 32) most = fmax(most, fmax(a[c], b[c]));
  most = warp_most(most);
  if (most == kNone) return kNone;
  double sum = 0;
  for (int c = lane; c < labels; c += 32) sum += exp(a[c] - most) + exp(b[c] - most);
  return most + log(warp_sum(sum));
}

__device__ inline void write_anchor(const AnchorParameters& p, const AnchorTask& task, int index,
                                    double log_z, int exact) {
  const RunReport& f = p.forward_reports[task.forward_run];
  const RunReport& b = p.backward_reports[task.backward_run];
  // Position shifts count in states, and not in stored messages: those of all tokens that either run saw are
  // subtracted. Those inside of the chunk are the same in both.
  double whole = p.forward.whole[task.forward_state];
  double offset = p.forward.offset[task.forward_state];
  double mass = f.mass_before + f.mass_inside;
  if (task.crossed) {
    whole += p.backward.whole[task.backward_state];
    offset += p.backward.offset[task.backward_state];
    mass += b.mass_before;
  }
  p.z.whole[index] = whole - mass;
  p.z.offset[index] = offset + log_z;
  p.z.log[index] = log_z;
  p.fallbacks[index] = exact;
}

// Shared memory: log Z and whether the sums may be trusted, what every label may have lost, segments that end
// here, and (kFewStarts) the numbers of every warp.
template <int kStarts>
__global__ void __launch_bounds__(kThreads, kStarts == kFewStarts ? 3 : 1)
    anchor_kernel(const __grid_constant__ AnchorParameters p) {
  double* const verdict = reinterpret_cast<double*>(shared_memory);
  double* const lost = verdict + 2;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  double* const endings = lost + p.tables.labels;
  double* numbers;
  if constexpr (kStarts == kFewStarts) {
    numbers = endings + p.tables.labels + warp * numbers_of_label(p.tables.duration);
  } else {
    numbers = p.numbers + (static_cast<std::int64_t>(blockIdx.x) * kAnchorWarps + warp) *
                              numbers_of_label(p.tables.duration);
  }
  for (int index = static_cast<int>(blockIdx.x); index < p.num_tasks; index += static_cast<int>(gridDim.x)) {
    const AnchorTask task = p.tasks[index];
    const double* before = p.forward.entries + task.forward_state * p.forward.stride;
    const double* after = p.backward.entries + task.backward_state * p.backward.stride;
    double* crossing = p.crossing + static_cast<std::int64_t>(index) * p.tables.labels;
    const std::int64_t messages = static_cast<std::int64_t>(p.tables.duration) * p.tables.labels;
    for (int attempt = 0; attempt < 2; ++attempt) {
      for (int c = warp; c < p.tables.labels; c += kAnchorWarps) {
        const LabelAtMark label{p, before, after, c, lane};
        double mine = kNone, lost_here = kNone;
        if (task.crossed) {
          mine = attempt == 0
                     ? label.template crossing<kStarts>(numbers, numbers + p.tables.duration, &lost_here)
                     : label.crossing_in_logs();
          if (p.tables.tail) mine = log_add(mine, label.tail_crossing());
        }
        if (lane == 0) {
          crossing[c] = mine;
          lost[c] = lost_here;
        }
        if (attempt > 0) continue;
        const double ending = ending_of(p, task, before + messages, after + messages, c, lane);
        if (lane == 0) endings[c] = ending;
      }
      __syncthreads();
      if (warp == 0) {
        const double log_z = log_sum_of_rows(crossing, endings, p.tables.labels, lane);
        double worst = kNone;
        for (int c = lane; c < p.tables.labels; c += 32) worst = fmax(worst, lost[c]);
        worst = warp_most(worst);
        if (lane == 0) {
          verdict[0] = log_z;
          verdict[1] = worst == kNone || worst < log_z - 40 ? 1 : 0;
          write_anchor(p, task, index, log_z, attempt);
        }
      }
      __syncthreads();
      if (verdict[1] != 0) break;
    }
    const double log_z = verdict[0];
    for (int c = static_cast<int>(threadIdx.x); c < p.tables.labels; c += kThreads) {
      crossing[c] = !task.crossed || log_z == kNone ? 0.0 : exp(crossing[c] - log_z);
    }
    __syncthreads();
  }
}

std::size_t numbers_of_block(int duration) {
  return static_cast<std::size_t>(kAnchorWarps) * static_cast<std::size_t>(numbers_of_label(duration));
}
bool fits_shared_memory(int duration) { return numbers_of_block(duration) * sizeof(double) <= kMostShared; }

}  // namespace

// The last entry that is read: two windows behind the last duration.
AnchorBias::AnchorBias(int duration)
    : columns(fits_shared_memory(duration) ? kFewStarts : kManyStarts), rows(duration / columns + 4) {}

std::size_t anchor_workspace(int duration) {
  return fits_shared_memory(duration) ? 0 : numbers_of_block(duration);
}

void find_anchors(const AnchorParameters& parameters, int blocks, cudaStream_t stream) {
  const int duration = parameters.tables.duration;
  const bool shared_numbers = fits_shared_memory(duration);
  const std::size_t shared = (2 + 2 * static_cast<std::size_t>(parameters.tables.labels) +
                              (shared_numbers ? numbers_of_block(duration) : 0)) *
                             sizeof(double);
  const auto kernel = shared_numbers ? anchor_kernel<kFewStarts> : anchor_kernel<kManyStarts>;
  SEMICRF_CUDA_CHECK(launch(kernel, {blocks, kThreads, shared}, stream, parameters));
}

}  // namespace semicrf::cuda
