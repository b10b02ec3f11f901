#include "train/head_gradient.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "pipeline/parallel_for.h"

#define SEMICRF_INLINE __attribute__((always_inline)) inline

namespace semicrf {
namespace {

// Positions per stretch: few enough stretches that their sums are small beside the features.
constexpr std::int64_t kStretch = 1 << 14;

// Smaller derivatives of boundary scores are probabilities of nothing: all of them together change a sum by
// less than 1e-13 times the sum of the features.
constexpr double kNegligible = 1e-13;

SEMICRF_INLINE void add_row(double factor, const float* x, std::size_t count, double* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += factor * static_cast<double>(x[i]);
}

// One head over positions [begin, end): weight sums (C, inputs) and bias sums (C).
struct HeadJob {
  const TrainingPiece* piece;
  const double* derivatives;  // (T, C)
  std::size_t labels, tracks;
  std::int64_t first, last;  // window of bins
  std::int64_t begin, end;
  double* weights;
  double* bias;
};

SEMICRF_INLINE void sum_head(const HeadJob& job) {
  const std::size_t inputs = job.tracks * static_cast<std::size_t>(job.last - job.first + 1);
  for (std::int64_t t = job.begin; t < job.end; ++t) {
    const std::int64_t low = std::max<std::int64_t>(t + job.first, 0);
    const std::int64_t high = std::min<std::int64_t>(t + job.last, job.piece->length - 1);
    const double* row = job.derivatives + static_cast<std::size_t>(t) * job.labels;
    const std::size_t skip =
        static_cast<std::size_t>(std::max<std::int64_t>(0, low - t - job.first)) * job.tracks;
    const std::size_t count = high < low ? 0 : static_cast<std::size_t>(high - low + 1) * job.tracks;
    const float* x =
        job.piece->features.data() + static_cast<std::size_t>(std::max<std::int64_t>(0, low)) * job.tracks;
    for (std::size_t c = 0; c < job.labels; ++c) {
      if (std::fabs(row[c]) < kNegligible) continue;
      job.bias[c] += row[c];
      if (job.weights != nullptr && count > 0) add_row(row[c], x, count, job.weights + c * inputs + skip);
    }
  }
}

void sum_head_plain(const HeadJob& job) { sum_head(job); }

#ifdef __x86_64__
// The same loop in wider registers; no fused multiply-adds, so every processor gives the same bits.
__attribute__((target("avx2"))) void sum_head_wide(const HeadJob& job) { sum_head(job); }
#endif

void sum_head_best(const HeadJob& job) {
#ifdef __x86_64__
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) return sum_head_wide(job);
#endif
  sum_head_plain(job);
}

// Sums of one head over the whole piece; `weights` or `bias` may be empty.
void add_head(HeadJob job, int threads, std::span<double> weights, std::span<double> bias) {
  const std::size_t inputs = job.tracks * static_cast<std::size_t>(job.last - job.first + 1);
  const std::size_t size = job.labels * (inputs + 1);
  const auto stretches = static_cast<std::size_t>((job.piece->length + kStretch - 1) / kStretch);
  std::vector<double> sums(stretches * size, 0.0);
  parallel_for(threads, stretches, [&](std::size_t i, int) {
    HeadJob part = job;
    part.begin = static_cast<std::int64_t>(i) * kStretch;
    part.end = std::min(part.begin + kStretch, job.piece->length);
    part.bias = sums.data() + i * size;
    part.weights = weights.empty() ? nullptr : part.bias + job.labels;
    sum_head_best(part);
  });
  for (std::size_t i = 0; i < stretches; ++i) {
    const double* part = sums.data() + i * size;
    for (std::size_t c = 0; c < bias.size(); ++c) bias[c] += part[c];
    for (std::size_t j = 0; j < weights.size(); ++j) weights[j] += part[job.labels + j];
  }
}

}  // namespace

void add_head_gradient(const Parameters& parameters, const TrainingPiece& piece,
                       const ScoreDerivatives& derivatives, int threads, ParameterGradient& gradient) {
  HeadJob job{};
  job.piece = &piece;
  job.labels = parameters.labels.size();
  job.tracks = parameters.tracks.size();
  if (derivatives.emissions != nullptr) {
    job.derivatives = derivatives.emissions;
    std::vector<double> bias(job.labels, 0.0);
    add_head(job, threads, gradient.weights, bias);
    const bool centred = parameters.centering == Centering::kMean;
    for (std::size_t c = 0; c < job.labels; ++c) {
      if (!centred) gradient.bias[c] += bias[c];  // under `mean` the bias cancels
      for (std::size_t f = 0; centred && f < job.tracks; ++f)
        gradient.weights[c * job.tracks + f] -= bias[c] * piece.feature_mean[f];
    }
  }
  if (!parameters.boundary) return;
  job.first = parameters.boundary->first;
  job.last = parameters.boundary->last;
  if (derivatives.starts != nullptr) {
    job.derivatives = derivatives.starts;
    add_head(job, threads, gradient.start_weights, gradient.start_bias);
  }
  if (derivatives.ends != nullptr) {
    job.derivatives = derivatives.ends;
    add_head(job, threads, gradient.end_weights, gradient.end_bias);
  }
}

}  // namespace semicrf
