// Posteriors from messages that were kept whole (docs/algorithm.md, section 3).
//
// start_end_kernel: a thread per (position, label), T C threads in blocks of 128. label_kernel: a thread per
// label, in blocks of 32, that walks along the sequence. No shared memory.
#include "cuda/plain/log_sums.cuh"
#include "cuda/plain/plain_launch.h"

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

}  // namespace semicrf::cuda
