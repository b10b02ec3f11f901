// One block of threads per state, or per junction of two; sums in a fixed order.
#include "cuda/device/launch.h"
#include "cuda/passes/agreement.h"
#include "cuda/tables/warp_scan.cuh"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__global__ void __launch_bounds__(kThreads) normalize(const StateStore states, int first) {
  double* const parts = reinterpret_cast<double*>(shared_memory);
  const int slot = first + static_cast<int>(blockIdx.x);
  double* const entries = states.entries + slot * states.stride;
  const auto begin = static_cast<std::int64_t>(threadIdx.x);
  double largest = kNone;
  for (std::int64_t i = begin; i < states.stride; i += kThreads) largest = fmax(largest, entries[i]);
  largest = warp_most(largest);
  parts[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int i = 0; i < kWarps; ++i) largest = fmax(largest, parts[i]);
  if (largest == kNone || largest == 0) return;
  for (std::int64_t i = begin; i < states.stride; i += kThreads) entries[i] -= largest;
  if (threadIdx.x == 0) states.offset[slot] += largest;
}

// Whether entry i of a state, the message or the tail of a label, is nothing beside its twin's.
__device__ bool is_nothing(const double* entries, std::int64_t i, std::int64_t twin, double negligible) {
  return entries[i] <= entries[twin] - negligible;
}

__global__ void __launch_bounds__(kThreads) compare(const StateStore states, const Junction* junctions,
                                                    JunctionResult* results, const AgreementRule rule) {
  double* const parts = reinterpret_cast<double*>(shared_memory);
  const Junction at = junctions[blockIdx.x];
  const double* truth = states.entries + at.truth * states.stride;
  const double* warmed = states.entries + at.warmed * states.stride;
  const std::int64_t messages = static_cast<std::int64_t>(rule.duration) * rule.labels;
  double low = -kNone, high = kNone, most_true = kNone, largest = 0, weight = 0, weighted = 0;
  for (std::int64_t i = static_cast<std::int64_t>(threadIdx.x); i < states.stride; i += kThreads) {
    const double a = truth[i];
    const double b = warmed[i];
    most_true = fmax(most_true, a);
    if (a == kNone && b == kNone) continue;
    if (i >= messages && rule.edge_twins != nullptr) {
      const std::int64_t label = (i - messages) % rule.labels;
      const int twin = rule.edge_twins[label];
      const std::int64_t at = i - label + twin;
      if (twin >= 0 && is_nothing(truth, i, at, rule.negligible) &&
          is_nothing(warmed, i, at, rule.negligible))
        continue;
    }
    if (a == kNone || b == kNone) {
      largest = -kNone;  // +inf: no agreement
      continue;
    }
    const double difference = a - b;
    low = fmin(low, difference);
    high = fmax(high, difference);
    largest = fmax(largest, fmax(fabs(a), fabs(b)));
    const double mass = exp(a);
    weight += mass;
    weighted += mass * difference;
  }
  low = -warp_most(-low);
  high = warp_most(high);
  most_true = warp_most(most_true);
  largest = warp_most(largest);
  weight = warp_sum(weight);
  weighted = warp_sum(weighted);
  if (threadIdx.x % 32 == 0) {
    double* mine = parts + threadIdx.x / 32;
    mine[0] = low;
    mine[kWarps] = high;
    mine[2 * kWarps] = largest;
    mine[3 * kWarps] = weight;
    mine[4 * kWarps] = weighted;
    mine[5 * kWarps] = most_true;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kWarps; ++i) {
    low = fmin(low, parts[i]);
    high = fmax(high, parts[kWarps + i]);
    largest = fmax(largest, parts[2 * kWarps + i]);
    weight += parts[3 * kWarps + i];
    weighted += parts[4 * kWarps + i];
    most_true = fmax(most_true, parts[5 * kWarps + i]);
  }
  JunctionResult result{0, 1, most_true == kNone ? 1 : 0};
  if (largest == -kNone) {
    result.agree = 0;
  } else if (low <= high) {
    result.agree = high - low <= rule.tolerance + 4 * rule.epsilon * largest ? 1 : 0;
    result.mean = weight > 0 ? weighted / weight : high;
  }
  results[blockIdx.x] = result;
}

__global__ void __launch_bounds__(kThreads) copy(const StateStore states, const Junction* junctions) {
  const Junction at = junctions[blockIdx.x];
  const double* const from = states.entries + at.truth * states.stride;
  double* const to = states.entries + at.warmed * states.stride;
  for (std::int64_t i = static_cast<std::int64_t>(threadIdx.x); i < states.stride; i += kThreads)
    to[i] = from[i];
  if (threadIdx.x == 0) states.whole[at.warmed] = states.offset[at.warmed] = 0;
}

__global__ void __launch_bounds__(kThreads) forbid(const StateStore states, int first) {
  const int slot = first + static_cast<int>(blockIdx.x);
  double* const entries = states.entries + slot * states.stride;
  for (std::int64_t i = static_cast<std::int64_t>(threadIdx.x); i < states.stride; i += kThreads)
    entries[i] = kNone;
  if (threadIdx.x == 0) states.whole[slot] = states.offset[slot] = 0;
}

__global__ void __launch_bounds__(kThreads)
    gather(const StateStore states, int duration, int labels, const int* slots, int count, double* messages) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= static_cast<std::int64_t>(count) * labels) return;
  const std::int64_t row = static_cast<std::int64_t>(duration) * labels;
  messages[i] = states.entries[slots[i / labels] * states.stride + row + i % labels];
}

}  // namespace

void normalize_states(const StateStore& states, int first, int count, cudaStream_t stream) {
  const std::size_t shared = kWarps * sizeof(double);
  SEMICRF_CUDA_CHECK(launch(normalize, {count, kThreads, shared}, stream, states, first));
}

void compare_states(const StateStore& states, const Junction* junctions, int count, const AgreementRule& rule,
                    JunctionResult* results, cudaStream_t stream) {
  const std::size_t shared = 6 * kWarps * sizeof(double);
  SEMICRF_CUDA_CHECK(launch(compare, {count, kThreads, shared}, stream, states, junctions, results, rule));
}

void copy_states(const StateStore& states, const Junction* junctions, int count, cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(copy, {count, kThreads, 0}, stream, states, junctions));
}

void forbid_states(const StateStore& states, int first, int count, cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(forbid, {count, kThreads, 0}, stream, states, first));
}

void gather_messages(const StateStore& states, int duration, int labels, const int* slots, int count,
                     double* messages, cudaStream_t stream) {
  const LaunchShape shape = shape_for(static_cast<std::int64_t>(count) * labels, kThreads);
  SEMICRF_CUDA_CHECK(launch(gather, shape, stream, states, duration, labels, slots, count, messages));
}

}  // namespace semicrf::cuda
