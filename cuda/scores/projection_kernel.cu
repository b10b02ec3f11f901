#include "cuda/device/cuda_check.h"
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

// Of position t of a sequence; row r of the features is that of position r + rows_begin.
template <class Feature, class Score>
__device__ Score score_of(const HeadJob& job, std::int64_t t, std::int64_t length, std::int64_t rows_begin,
                          int c) {
  double sum = job.head.bias[c];
  if (job.head.weights != nullptr) {
    const Feature* const rows = values_of<Feature>(job.features.rows);
    const int tracks = job.features.tracks;
    const double* weights = job.head.weights + c;
    for (int offset = job.head.first; offset <= job.head.last; ++offset) {
      const std::int64_t at = t + offset;
      if (at < 0 || at >= length) {
        weights += static_cast<std::int64_t>(tracks) * job.labels;
        continue;
      }
      const Feature* const x = rows + (at - rows_begin) * tracks;
      for (int j = 0; j < tracks; ++j, weights += job.labels)
        sum = __dadd_rn(sum, __dmul_rn(static_cast<double>(x[j]), *weights));
    }
  }
  Score score = static_cast<Score>(sum);
  if (job.margin != 0 && job.features.true_labels[t - rows_begin] == c)
    score -= static_cast<Score>(job.margin);
  return score;
}

// A thread per position and label: labels of a position lie side by side, so that they share its features.
template <class Feature, class Score>
__global__ void __launch_bounds__(kThreads) project_kernel(const __grid_constant__ Projection p) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t t = p.begin + index / p.job.labels;
  const int c = static_cast<int>(index % p.job.labels);
  if (t >= p.end) return;
  values_of<Score>(p.job.out)[(t - p.out_begin) * p.job.labels + c] =
      score_of<Feature, Score>(p.job, t, p.length, p.features_begin, c);
}

// The last sequence that begins at `row` or before.
__device__ const SequenceView& sequence_at(const BatchProjection& p, std::int64_t row) {
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

// A thread per block of 16 rows and label: sequences begin with a block.
template <class Feature, class Score>
__global__ void __launch_bounds__(kThreads) project_batch_kernel(const __grid_constant__ BatchProjection p) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t begin = index / p.job.labels * kBlock;
  const int c = static_cast<int>(index % p.job.labels);
  if (begin >= p.rows) return;
  const SequenceView& sequence = sequence_at(p, begin);
  const std::int64_t first = sequence.first_row, length = sequence.length;
  Score* const out = values_of<Score>(p.job.out);
  for (std::int64_t row = begin; row < begin + kBlock && row < p.rows; ++row) {
    const std::int64_t t = row - first;
    out[row * p.job.labels + c] =
        t < length ? score_of<Feature, Score>(p.job, t, length, -first, c) : Score(0);
  }
}

// `kernel`: given a feature and a score, the kernel for their types.
template <class Parameters, class Choose>
void launch(const Parameters& parameters, std::int64_t threads, Choose kernel, cudaStream_t stream) {
  if (threads <= 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((threads + kThreads - 1) / kThreads));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  const auto run = [&](auto chosen) { SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, chosen, parameters)); };
  const bool single = parameters.job.features.rows.f64 == nullptr;
  if (parameters.job.out.f32 != nullptr) {
    single ? run(kernel(float{}, float{})) : run(kernel(double{}, float{}));
  } else {
    single ? run(kernel(float{}, double{})) : run(kernel(double{}, double{}));
  }
}

}  // namespace

void project_features(const Projection& projection, cudaStream_t stream) {
  const auto kernel = []<class Feature, class Score>(Feature, Score) {
    return project_kernel<Feature, Score>;
  };
  launch(projection, (projection.end - projection.begin) * projection.job.labels, kernel, stream);
}

void project_batch(const BatchProjection& projection, cudaStream_t stream) {
  const auto kernel = []<class Feature, class Score>(Feature, Score) {
    return project_batch_kernel<Feature, Score>;
  };
  launch(projection, (projection.rows + kBlock - 1) / kBlock * projection.job.labels, kernel, stream);
}

}  // namespace semicrf::cuda
