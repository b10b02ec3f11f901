// A pass over scores that have just arrived. Both kernels read every score once and are limited by the
// device's memory: a few per cent of the time that the copy took.
#include <algorithm>
#include <type_traits>

#include "core/compensated_sum.h"
#include "cuda/device/launch.h"
#include "cuda/scores/score_checks.h"
#include "cuda/tables/numbers.cuh"

namespace semicrf::cuda {
namespace {

inline constexpr int kThreads = 256;
inline constexpr std::int64_t kPerThread = 64;  // entries that a thread checks

// Finite or, for scores, -inf: false for NaN.
template <class Value, SoundValues kSound>
__device__ __forceinline__ bool is_sound(Value x) {
  constexpr auto kInfinity = -static_cast<Value>(kNone);
  return x < kInfinity && (kSound == SoundValues::kScores || x > -kInfinity);
}

template <class Value, SoundValues kSound>
__global__ void __launch_bounds__(kThreads)
    check(const Value* scores, std::int64_t first, std::int64_t last, int* bad) {
  const std::int64_t begin =
      first + static_cast<std::int64_t>(blockIdx.x) * (kThreads * kPerThread) + threadIdx.x;
  const std::int64_t end = begin + kThreads * kPerThread < last ? begin + kThreads * kPerThread : last;
  int wrong = 0;
#pragma unroll 8
  for (std::int64_t i = begin; i < end; i += kThreads) wrong += is_sound<Value, kSound>(scores[i]) ? 0 : 1;
  if (wrong > 0) atomicAdd(bad, 1);
}

// A thread per block and column: the additions of a block depend on each other, but there are many blocks.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    sum(const Value* scores, std::int64_t rows, int columns, std::int64_t first, std::int64_t count,
        Value mask, const BlockSumsView out) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= count) return;
  const std::int64_t block = first + index / columns;
  const int column = static_cast<int>(index % columns);
  const std::int64_t begin = block * BlockSums::kPositions;
  const std::int64_t end = begin + BlockSums::kPositions < rows ? begin + BlockSums::kPositions : rows;
  const Value none = static_cast<Value>(kNone);
  double total = 0;
  int masked = 0, forbidden = 0;
#pragma unroll 8
  for (std::int64_t row = begin; row < end; ++row) {
    const Value value = scores[row * columns + column];
    masked += value <= mask ? 1 : 0;
    forbidden += value == none ? 1 : 0;
    total += value == none ? 0.0 : static_cast<double>(value);
  }
  out.sums[block * columns + column] = total;
  out.masked[block * columns + column] = masked;
  out.forbidden[block * columns + column] = forbidden;
}

}  // namespace

void check_scores(const DeviceScores& scores, SoundValues sound, std::int64_t first, std::int64_t last,
                  int* bad, cudaStream_t stream) {
  constexpr std::int64_t kPerBlock = kThreads * kPerThread;
  const LaunchShape shape{(last - first + kPerBlock - 1) / kPerBlock, kThreads};
  const auto check_all = [&](const auto* values) {
    using Value = std::remove_cvref_t<decltype(*values)>;
    if (values == nullptr) return;
    const auto kernel = sound == SoundValues::kScores ? check<Value, SoundValues::kScores>
                                                      : check<Value, SoundValues::kFeatures>;
    SEMICRF_CUDA_CHECK(launch(kernel, shape, stream, values, first, last, bad));
  };
  check_all(scores.f32);
  check_all(scores.f64);
}

void sum_blocks(const DeviceScores& scores, std::int64_t rows, int columns, std::int64_t first,
                std::int64_t last, double mask, const BlockSumsView& out, cudaStream_t stream) {
  const std::int64_t count = (last - first) * columns;
  const LaunchShape shape = shape_for(count, kThreads);
  if (scores.f32 != nullptr)
    SEMICRF_CUDA_CHECK(launch(sum<float>, shape, stream, scores.f32, rows, columns, first, count,
                              static_cast<float>(mask), out));
  if (scores.f64 != nullptr)
    SEMICRF_CUDA_CHECK(
        launch(sum<double>, shape, stream, scores.f64, rows, columns, first, count, mask, out));
}

}  // namespace semicrf::cuda
