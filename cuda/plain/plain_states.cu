// What one side of a boundary must know of the other (engine/boundary_state.h), from messages that were kept
// whole. Grid 1; block: C threads rounded up to whole warps, at most 256; no shared memory. O(K) per label.
#include "cuda/plain/plain_launch.h"
#include "cuda/plain/plain_segments.cuh"

namespace semicrf::cuda {
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
