#include "core/sizes.h"
#include "cuda/device/launch.h"
#include "cuda/scores/projection_launch.h"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 256;

template <class Value>
__device__ Value* values_of(const DeviceScores& scores) {
  if constexpr (sizeof(Value) == sizeof(float)) {
    return const_cast<float*>(scores.f32);
  } else {
    return const_cast<double*>(scores.f64);
  }
}

// The score of position t of a sequence of `length`; the features of position p are row p - features_begin.
template <class Feature, class Score>
__device__ Score score_of(const Projection& p, std::int64_t t, std::int64_t length,
                          std::int64_t features_begin, int c) {
  double sum = p.head.bias[c];
  if (p.head.weights != nullptr) {
    const Feature* const rows = values_of<Feature>(p.features.rows);
    const int tracks = p.features.tracks;
    const double* weights = p.head.weights + c;
    for (int offset = p.head.first; offset <= p.head.last; ++offset) {
      const std::int64_t at = t + offset;
      if (at < 0 || at >= length) {
        weights += static_cast<std::int64_t>(tracks) * p.labels;
        continue;
      }
      const Feature* const x = rows + (at - features_begin) * tracks;
      for (int j = 0; j < tracks; ++j, weights += p.labels)
        sum = __dadd_rn(sum, __dmul_rn(static_cast<double>(x[j]), *weights));
    }
  }
  Score score = static_cast<Score>(sum);
  if (p.margin != 0 && p.features.true_labels[t - features_begin] == c) score -= static_cast<Score>(p.margin);
  return score;
}

// The last sequence that begins at `row` or before.
__device__ const SequenceView& sequence_at(const Projection& p, std::int64_t row) {
  int low = 0, high = p.num_sequences;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (p.sequences[middle].first_row <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return p.sequences[low];
}

// A thread per label and kRows rows, which are of one sequence: a whole block of a batch, where a sequence is
// looked for; one of a window. Labels of a row lie side by side, so that their threads share its features.
template <class Feature, class Score, int kRows>
__global__ void __launch_bounds__(kThreads) project_kernel(const __grid_constant__ Projection p) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t begin = p.first_row + index / p.labels * kRows;
  const int c = static_cast<int>(index % p.labels);
  if (begin >= p.last_row) return;
  const SequenceView& sequence = sequence_at(p, begin);
  const std::int64_t length = sequence.length;
  const std::int64_t rows_zero = sequence.begin - sequence.first_row;  // position of row 0
  const std::int64_t features_begin = p.features.begin - sequence.first_row;
  Score* const out = values_of<Score>(p.out);
  for (std::int64_t row = begin; row < begin + kRows && row < p.last_row; ++row) {
    const std::int64_t t = row + rows_zero;
    out[row * p.labels + c] =
        t < length ? score_of<Feature, Score>(p, t, length, features_begin, c) : Score(0);
  }
}

template <class Feature, class Score>
void project(const Projection& p, cudaStream_t stream) {
  const bool alone = p.num_sequences == 1;
  const std::int64_t rows = p.last_row - p.first_row;
  const std::int64_t threads = (alone ? rows : ceil_div<std::int64_t>(rows, kBlock)) * p.labels;
  const auto kernel = alone ? project_kernel<Feature, Score, 1> : project_kernel<Feature, Score, kBlock>;
  SEMICRF_CUDA_CHECK(launch(kernel, shape_for(threads, kThreads), stream, p));
}

}  // namespace

void project_features(const Projection& projection, cudaStream_t stream) {
  const bool single = projection.features.rows.f64 == nullptr;
  if (projection.out.f32 != nullptr) {
    single ? project<float, float>(projection, stream) : project<double, float>(projection, stream);
  } else {
    single ? project<float, double>(projection, stream) : project<double, double>(projection, stream);
  }
}

}  // namespace semicrf::cuda
