// Posteriors from messages that were kept whole (docs/algorithm.md, section 3).
//
// start_end_kernel: a thread per (position, label), T C threads in blocks of 128. label_kernel: a thread per
// label, in blocks of 32, that walks along the sequence. No shared memory.
#include "cuda/plain/plain_launch.h"
#include "cuda/plain/plain_segments.cuh"

namespace semicrf::cuda {

namespace {

// p_start(t,c) = exp( gamma_t(c) + delta_t(c) - log Z ); p_end(t,c) = exp( alpha_{t+1}(c) + beta_{t+1}(c) -
// log Z ). Both messages are relative to the levels of their boundary, whose sum is exact.
__global__ void __launch_bounds__(128)
    start_end_kernel(PlainSequence x, PlainForward ahead, PlainBackward back, PlainLogPartition z,
                     PlainPosteriors out) {
  const std::int64_t entry = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, t = entry / x.labels;
  if (t >= x.length) return;
  const auto probability = [&](std::int64_t boundary, double mass) {
    const double level = ahead.level[boundary] + back.level[boundary] - z.level;
    return mass == kNegativeInfinity ? 0 : exp(level + mass - z.log_mass);
  };
  const std::int64_t right = entry + x.labels;
  out.starts[entry] = probability(t, ahead.gamma[entry] + back.delta[entry]);
  out.ends[entry] = probability(t + 1, ahead.alpha[right] + back.beta[right]);
}

// P(c|t) = P(c|t-1) - p_end(t-1,c) + p_start(t,c)
__global__ void __launch_bounds__(32) label_kernel(PlainSequence x, PlainPosteriors out) {
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (c >= x.labels) return;
  Content covered;
  for (std::int64_t t = 0, entry = c; t < x.length; ++t, entry += x.labels) {
    covered.add(out.starts[entry]);
    out.labels[entry] = covered.plus(0);
    covered.add(-out.ends[entry]);
  }
}

}  // namespace

void find_posteriors(const PlainSequence& sequence, const PlainForward& forward,
                     const PlainBackward& backward, const PlainLogPartition& log_partition,
                     const PlainPosteriors& out, cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(start_end_kernel, shape_for(sequence.length * sequence.labels, 128), stream,
                            sequence, forward, backward, log_partition, out));
  SEMICRF_CUDA_CHECK(launch(label_kernel, shape_for(sequence.labels, 32), stream, sequence, out));
}

// Expected counts from messages that were kept whole (docs/algorithm.md, section 3, "Expected counts"): a
// thread per transition, per duration and label, and per label, each of which walks along the sequence and
// adds up in the order of the positions, so that every run gives the same bytes.
//
// Blocks of 128 threads (tails: 32), C C, (K+1) C and C threads in all; no shared memory. O(T) per thread.

namespace {

// exp( alpha_t(from) + T[from,to] + Ps[t,to] + delta_t(to) - log Z )
__global__ void __launch_bounds__(128)
    transition_kernel(PlainSequence x, PlainForward ahead, PlainBackward back, PlainLogPartition z,
                      PlainCounts out) {
  const int entry = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (entry >= x.labels * x.labels) return;
  const int from = entry / x.labels, to = entry % x.labels;
  double sum = 0;
  for (std::int64_t t = x.initial_transition ? 0 : 1; t < x.length; ++t) {
    const double level = ahead.level[t] + back.level[t] - z.level;
    const double after = x.start[t * x.labels + to] + back.delta[t * x.labels + to];
    sum += exp(ahead.alpha[t * x.labels + from] + x.transition[entry] + after + (level - z.log_mass));
  }
  out.transition[entry] = sum;
}

// exp( gamma_s(c) + content of [s, s+k) + B[k,c] + Pe[s+k-1,c] + beta_{s+k}(c) - log Z ); k = K+1 is in the
// tail. The content slides along with the segment; the carried error keeps what large scores take from it.
__global__ void __launch_bounds__(128)
    duration_kernel(PlainSequence x, PlainForward ahead, PlainBackward back, PlainLogPartition z,
                    PlainCounts out) {
  const int entry = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int k = entry / x.labels + 1, c = entry % x.labels;
  if (k > x.max_duration + 1) return;
  Content content;
  int forbidden = 0;  // positions of the segment that c cannot have
  double sum = 0;
  for (std::int64_t e = 1; e <= x.length && k <= longest_duration(x); ++e) {  // the segment [e-k, e)
    const std::int64_t s = e - k, last = (e - 1) * x.labels + c, first = s * x.labels + c;
    const double entered = x.emission[last], left = s > 0 ? x.emission[first - x.labels] : 0;
    forbidden += (entered == kNegativeInfinity) - (left == kNegativeInfinity);
    if (entered > kNegativeInfinity) content.add(entered);
    if (left > kNegativeInfinity) content.add(-left);
    if (s < 0 || forbidden > 0) continue;
    const double after =
        k <= x.max_duration ? x.end[last] + back.beta[last + x.labels] : back.tail[last + x.labels];
    const double level = ahead.level[s] + back.level[e] - z.level;
    sum += exp(ahead.gamma[first] + content.plus(level) + duration_score(x, k, c) + after - z.log_mass);
  }
  out.duration[entry] = sum;
}

// exp( tail_{t+1}(c), open and from the right, - log Z ): segments that are longer than K at t.
__global__ void __launch_bounds__(32) tail_kernel(PlainSequence x, PlainForward ahead, PlainBackward back,
                                                  PlainLogPartition z, PlainCounts out) {
  const int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (c >= x.labels) return;
  double sum = 0;
  for (std::int64_t t = 1; t <= x.length; ++t) {
    const double level = ahead.level[t] + back.level[t] - z.level;
    sum += exp(ahead.tail[t * x.labels + c] + back.tail[t * x.labels + c] + (level - z.log_mass));
  }
  out.tail[c] = sum;
}

}  // namespace

void find_counts(const PlainSequence& sequence, const PlainForward& forward, const PlainBackward& backward,
                 const PlainLogPartition& log_partition, const PlainCounts& out, cudaStream_t stream) {
  const std::int64_t labels = sequence.labels;
  SEMICRF_CUDA_CHECK(launch(transition_kernel, shape_for(labels * labels, 128), stream, sequence, forward,
                            backward, log_partition, out));
  SEMICRF_CUDA_CHECK(launch(duration_kernel, shape_for((sequence.max_duration + 1) * labels, 128), stream,
                            sequence, forward, backward, log_partition, out));
  if (sequence.log_tail == nullptr) return;
  SEMICRF_CUDA_CHECK(
      launch(tail_kernel, shape_for(labels, 32), stream, sequence, forward, backward, log_partition, out));
}

}  // namespace semicrf::cuda
