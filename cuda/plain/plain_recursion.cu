// Forward and backward recursion of docs/algorithm.md, sections 2 and 8, with nothing but the recursion: one
// sequence, log domain, double, any C and K. It is src/reference with a thread per label.
//
// Both kernels are one block of threads, because every boundary waits for the one before it:
//   grid 1; block: C threads rounded up to whole warps, at most 256 (then a thread has several labels); no
//   shared memory. Threads meet at __syncthreads() where a label needs the messages of the others.
// Time O(T (K + C)) steps of C threads. Shapes: emission, start and end scores (T, C), durations (K, C),
// transitions (C, C), messages (T+1, C); see plain_launch.h.
#include "cuda/plain/plain_launch.h"
#include "cuda/plain/plain_segments.cuh"

namespace semicrf::cuda {

namespace {

// A whole number near the largest message of the boundary, which is taken out of all of them.
__device__ double rise_of(const double* largest, int labels) {
  double most = kNegativeInfinity;
  for (int c = 0; c < labels; ++c) most = fmax(most, largest[c]);
  return most == kNegativeInfinity ? 0 : rint(most);
}

// gamma_t(c) = Ps[t,c] + sum over c' of alpha_t(c') + T[c',c]; the first segment may have no transition.
template <bool is_log>
__device__ void start_segments_at(const PlainSequence& x, const PlainForward& m, std::int64_t t) {
  for (int c = static_cast<int>(threadIdx.x); c < x.labels; c += static_cast<int>(blockDim.x)) {
    Alternatives<is_log> sources;
    for (int from = 0; from < x.labels; ++from)
      sources.add(m.alpha[t * x.labels + from] + x.transition[from * x.labels + c]);
    const bool none = t == 0 && !x.initial_transition;
    m.gamma[t * x.labels + c] = (none ? 0 : sources.value()) + x.start[t * x.labels + c];
  }
}

// alpha_t(c) = Pe[t-1,c] + sum over k of gamma_{t-k}(c) + content of [t-k, t) + B[k,c]; the tail is one term.
template <bool is_log>
__device__ void end_segments_at(const PlainSequence& x, const PlainForward& m, std::int64_t t) {
  const double level = m.level[t - 1] + x.typical_step[t - 1];
  for (int c = static_cast<int>(threadIdx.x); c < x.labels; c += static_cast<int>(blockDim.x)) {
    const std::int64_t entry = t * x.labels + c;
    Alternatives<is_log> segments;
    double largest = kNegativeInfinity, opened = kNegativeInfinity;
    for_each_open_segment(x, m, t, c, longest_duration(x), level, [&](int k, double open) {
      largest = fmax(largest, open);
      if (k <= x.max_duration)
        segments.add(open + duration_score(x, k, c));
      else
        opened = open;
    });
    if (x.log_tail != nullptr) {
      const TailEntries entries = tail_entries(x, m, t, c, opened, level);
      Alternatives<is_log> tail;
      tail.add(entries.entering);
      tail.add(entries.continuing);
      m.tail[entry] = tail.value();
      segments.add(m.tail[entry]);
      largest = fmax(largest, m.tail[entry]);
    }
    m.alpha[entry] = segments.value() + x.end[entry - x.labels];
    m.largest[c] = fmax(largest, m.alpha[entry]);
  }
  __syncthreads();
  const double rise = rise_of(m.largest, x.labels);
  for (int c = static_cast<int>(threadIdx.x); c < x.labels; c += static_cast<int>(blockDim.x)) {
    m.alpha[t * x.labels + c] -= rise;
    if (x.log_tail != nullptr) m.tail[t * x.labels + c] -= rise;
  }
  if (threadIdx.x == 0) m.level[t] = level + rise;
  __syncthreads();
}

template <bool is_log>
__global__ void __launch_bounds__(kMostPlainThreads) forward_kernel(PlainSequence x, PlainForward m) {
  for (int c = static_cast<int>(threadIdx.x); c < x.labels; c += static_cast<int>(blockDim.x)) {
    m.alpha[c] = 0;
    if (x.log_tail != nullptr) m.tail[c] = kNegativeInfinity;
  }
  if (threadIdx.x == 0) m.level[0] = 0;
  __syncthreads();
  for (std::int64_t t = 0; t < x.length; ++t) {
    start_segments_at<is_log>(x, m, t);
    end_segments_at<is_log>(x, m, t + 1);
  }
}

// delta_t(c) = sum over k of B[k,c] + content of [t, t+k) + Pe[t+k-1,c] + beta_{t+k}(c)
// beta_t(c') = sum over c of T[c',c] + Ps[t,c] + delta_t(c)
// tail_t(c)  = Pe[t-1,c] + beta_t(c), or fbar[t,c] + log q + tail_{t+1}(c)
__global__ void __launch_bounds__(kMostPlainThreads) backward_kernel(PlainSequence x, PlainBackward m) {
  const int first = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t last_row = x.length * x.labels;
  for (int c = first; c < x.labels; c += threads) {
    m.beta[last_row + c] = 0;
    if (x.log_tail != nullptr) m.tail[last_row + c] = x.end[last_row - x.labels + c];
  }
  if (first == 0) m.level[x.length] = 0;
  __syncthreads();
  for (std::int64_t t = x.length - 1; t >= 0; --t) {
    const double level = m.level[t + 1] + x.typical_step[t];
    const std::int64_t row = t * x.labels;
    for (int c = first; c < x.labels; c += threads) {
      Alternatives<true> segments;
      double largest = kNegativeInfinity;
      for_each_extension(x, m, t, c, level, [&](int k, double open) {
        segments.add(open + duration_score(x, k, c));
        largest = fmax(largest, open);
      });
      m.delta[row + c] = segments.value();
      m.largest[c] = largest;
    }
    __syncthreads();
    for (int from = first; from < x.labels; from += threads) {
      Alternatives<true> targets;
      for (int c = 0; c < x.labels; ++c)
        targets.add(x.transition[from * x.labels + c] + x.start[row + c] + m.delta[row + c]);
      m.beta[row + from] = targets.value();
      m.largest[from] = fmax(m.largest[from], m.beta[row + from]);
    }
    __syncthreads();
    const double rise = rise_of(m.largest, x.labels);
    for (int c = first; c < x.labels; c += threads) {
      if (x.log_tail != nullptr) {
        Alternatives<true> tail;
        if (t > 0) tail.add(x.end[row - x.labels + c] + m.beta[row + c]);
        tail.add(x.emission[row + c] + (m.level[t + 1] - level) + x.log_tail[c] + m.tail[row + x.labels + c]);
        m.tail[row + c] = tail.value() - rise;
      }
      m.delta[row + c] -= rise;
      m.beta[row + c] -= rise;
    }
    if (first == 0) m.level[t] = level + rise;
    __syncthreads();
  }
}

}  // namespace

template <bool is_log>
void run_forward(const PlainSequence& sequence, const PlainForward& out, cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(forward_kernel<is_log>, thread_per_label(sequence), stream, sequence, out));
}
template void run_forward<true>(const PlainSequence&, const PlainForward&, cudaStream_t);
template void run_forward<false>(const PlainSequence&, const PlainForward&, cudaStream_t);

void run_backward(const PlainSequence& sequence, const PlainBackward& out, cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(backward_kernel, thread_per_label(sequence), stream, sequence, out));
}

// What one side of a boundary must know of the other (engine/boundary_state.h), from messages that were kept
// whole. Grid 1; block: C threads rounded up to whole warps, at most 256; no shared memory. O(K) per label.

namespace {

__global__ void forward_state_kernel(PlainSequence x, PlainForward m, PlainState out) {
  for (int c = static_cast<int>(threadIdx.x); c < x.labels; c += static_cast<int>(blockDim.x)) {
    for (std::int64_t k = 0; k < x.max_duration; ++k) out.ring[k * x.labels + c] = kNegativeInfinity;
    for_each_open_segment(x, m, x.length, c, x.max_duration, m.level[x.length],
                          [&](int k, double open) { out.ring[std::int64_t{k - 1} * x.labels + c] = open; });
    out.message[c] = m.alpha[x.length * x.labels + c];
    if (out.tail != nullptr) out.tail[c] = m.tail[x.length * x.labels + c];
  }
}

__global__ void backward_state_kernel(PlainSequence x, PlainBackward m, PlainState out) {
  for (int c = static_cast<int>(threadIdx.x); c < x.labels; c += static_cast<int>(blockDim.x)) {
    for (std::int64_t k = 0; k < x.max_duration; ++k) out.ring[k * x.labels + c] = kNegativeInfinity;
    if (out.tail != nullptr) out.tail[c] = kNegativeInfinity;
    for_each_extension(x, m, 0, c, m.level[0], [&](int k, double open) {
      if (k <= x.max_duration)
        out.ring[std::int64_t{k - 1} * x.labels + c] = open;
      else if (out.tail != nullptr)
        out.tail[c] = open + duration_score(x, k, c);
    });
    out.message[c] = m.beta[c];
  }
}

}  // namespace

void find_state(const PlainSequence& sequence, const PlainForward& messages, const PlainState& at_end,
                cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(
      launch(forward_state_kernel, thread_per_label(sequence), stream, sequence, messages, at_end));
}
void find_state(const PlainSequence& sequence, const PlainBackward& messages, const PlainState& at_begin,
                cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(
      launch(backward_state_kernel, thread_per_label(sequence), stream, sequence, messages, at_begin));
}

}  // namespace semicrf::cuda
