// What compute-sanitizer's racecheck says of a kernel without a race: the leading warps of a block of threads
// synchronise by a named barrier of their own any number of times, then write what helpers read; block
// barriers lie before and after the writes. This is how the recursion moves its ring (block_run.cuh,
// help_or_lead). measure.sh runs it beside the sanitizers: hazards that are reported here are not ours.
#include <cstdio>

namespace {

constexpr int kLeading = 64, kThreads = 128, kEntries = 192;

__device__ void leading_barrier() { asm volatile("bar.sync 1, 64;" ::: "memory"); }

__device__ __noinline__ void move(int* scales, int thread) {
  for (int i = thread; i < kEntries; i += kLeading) scales[i] += 1;
}

__global__ void recur(int* out, int boundaries, int more) {
  __shared__ int scales[kEntries];
  __shared__ int row[kLeading];
  __shared__ int wanted[2];
  const int thread = static_cast<int>(threadIdx.x);
  const bool leads = thread < kLeading;
  for (int i = thread; leads && i < kEntries; i += kLeading) scales[i] = thread;
  if (thread == 0) wanted[0] = wanted[1] = 0;
  __syncthreads();
  int sum = 0;
  for (int block = 0; block < 6; ++block) {
    int& moves = wanted[block % 2];
    for (bool again = false;; again = true) {
      if (!leads) {
        for (int i = 0; i < kEntries; ++i) sum += scales[i];
      } else if (!again) {
        for (int i = 0; i < boundaries + more * block; ++i) {
          row[thread] = i;
          leading_barrier();
          sum += row[kLeading - 1 - thread];
          leading_barrier();
        }
        if (thread == 5 && block % 2 == 1) moves = 1;
      }
      __syncthreads();
      if (moves == 0) break;
      __syncthreads();
      if (leads) move(scales, thread);
      __syncwarp();
      if (thread == 0) moves = 0;
      __syncwarp();
      __syncthreads();
    }
  }
  out[thread] = sum;
}

}  // namespace

int main() {
  int* out = nullptr;
  if (cudaMalloc(&out, kThreads * sizeof(int)) != cudaSuccess) return 1;
  for (int boundaries = 0; boundaries < 70; ++boundaries)
    for (int more = 0; more < 3; ++more) recur<<<1, kThreads>>>(out, boundaries, more);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
