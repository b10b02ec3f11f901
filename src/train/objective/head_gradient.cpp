#include "train/objective/head_gradient.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "core/threads/parallel.h"
#include "model/scores/linear_heads.h"

#define SEMICRF_INLINE __attribute__((always_inline)) inline

namespace semicrf {
namespace {

// Positions per stretch: few enough stretches that their sums are small beside the features.
constexpr std::int64_t kStretch = 1 << 14;

// Positions per stretch of rows that occur again and again, whose sums are larger.
constexpr std::int64_t kPatternStretch = 1 << 16;

// Smaller derivatives of boundary scores are probabilities of nothing: all of them together change a sum by
// less than 1e-13 times the sum of the features.
constexpr double kNegligible = 1e-13;

SEMICRF_INLINE void add_row(double factor, const float* x, std::size_t count, double* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += factor * x[i];
}

// Where the true segments have a derivative of -1.
enum class Truth { kLabels, kStarts, kEnds };

// One head over positions [begin, end): weight sums (C, inputs) and bias sums (C).
struct HeadJob {
  const TrainingPiece* piece;
  const double* derivatives;  // (T, C); null: those of the true segments
  Truth truth;
  std::size_t labels, tracks;
  std::int64_t first, last;  // window of bins
  std::int64_t begin, end;
  double* weights;
  double* bias;
};

SEMICRF_INLINE SeenFeatures seen_by(const HeadJob& job, std::int64_t t) {
  return seen_at(t, job.first, job.last, job.piece->length, 0, job.tracks);
}

SEMICRF_INLINE void add_position(const HeadJob& job, const SeenFeatures& seen, std::size_t inputs,
                                 std::size_t c, double factor) {
  job.bias[c] += factor;
  if (job.weights != nullptr && seen.count > 0)
    add_row(factor, job.piece->features.data() + seen.from, seen.count, job.weights + c * inputs + seen.skip);
}

SEMICRF_INLINE void sum_derivatives(const HeadJob& job, std::size_t inputs) {
  for (std::int64_t t = job.begin; t < job.end; ++t) {
    const SeenFeatures seen = seen_by(job, t);
    const double* row = job.derivatives + t * job.labels;
    for (std::size_t c = 0; c < job.labels; ++c)
      if (!(std::fabs(row[c]) < kNegligible)) add_position(job, seen, inputs, c, row[c]);
  }
}

SEMICRF_INLINE void sum_truth(const HeadJob& job, std::size_t inputs) {
  const std::vector<Segment>& segments = job.piece->segments;
  auto segment = std::ranges::upper_bound(segments, job.begin, {}, &Segment::end);
  for (; segment != segments.end() && segment->begin < job.end; ++segment) {
    const std::size_t c = segment->label;
    const std::int64_t first = job.truth == Truth::kEnds ? segment->end - 1 : segment->begin;
    const std::int64_t last = job.truth == Truth::kStarts ? segment->begin : segment->end - 1;
    const bool hidden = (job.truth == Truth::kStarts && first == 0 && job.piece->cut.left) ||
                        (job.truth == Truth::kEnds && last == job.piece->length - 1 && job.piece->cut.right);
    if (hidden) continue;
    for (std::int64_t t = std::max(first, job.begin); t <= std::min(last, job.end - 1); ++t)
      add_position(job, seen_by(job, t), inputs, c, -1);
  }
}

SEMICRF_INLINE void sum_head(const HeadJob& job) {
  const std::size_t inputs = job.tracks * (job.last - job.first + 1);
  job.derivatives != nullptr ? sum_derivatives(job, inputs) : sum_truth(job, inputs);
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

// Rows of derivatives at positions [begin, end), added up by pattern into sums (patterns, C).
struct PatternJob {
  const double* derivatives;  // (T, C)
  const std::uint16_t* pattern_of;
  std::size_t labels;
  std::int64_t begin, end;
  double* sums;
};

SEMICRF_INLINE void add_rows(const PatternJob& job) {
  const double* row = job.derivatives + job.begin * job.labels;
  for (std::int64_t t = job.begin; t < job.end; ++t, row += job.labels) {
    double* sums = job.sums + job.pattern_of[t] * job.labels;
    for (std::size_t c = 0; c < job.labels; ++c) sums[c] += row[c];
  }
}

void add_rows_plain(const PatternJob& job) { add_rows(job); }

#ifdef __x86_64__
__attribute__((target("avx2"))) void add_rows_wide(const PatternJob& job) { add_rows(job); }
#endif

void add_rows_best(const PatternJob& job) {
#ifdef __x86_64__
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) return add_rows_wide(job);
#endif
  add_rows_plain(job);
}

// Sums of one head over the whole piece; `weights` or `bias` may be empty.
void add_head(HeadJob job, int threads, std::span<double> weights, std::span<double> bias) {
  const std::size_t inputs = job.tracks * (job.last - job.first + 1);
  const std::size_t size = job.labels * (inputs + 1);
  const std::size_t stretches = (job.piece->length + kStretch - 1) / kStretch;
  std::vector<double> sums(stretches * size, 0.0);
  parallel_for(threads, stretches, [&](std::int64_t i, int) {
    HeadJob part = job;
    part.begin = i * kStretch;
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

// Adds the sums of one piece by pattern of its features: posteriors are added up for each pattern and
// multiplied with it once.
void add_repeated(const HeadJob& job, int threads, std::span<double> weights, std::span<double> bias) {
  const TrainingPiece& piece = *job.piece;
  const std::size_t patterns = piece.patterns->count;
  const std::size_t labels = job.labels, size = patterns * labels;
  const std::size_t stretches = (piece.length + kPatternStretch - 1) / kPatternStretch;
  std::vector<double> sums(stretches * size, 0.0);
  parallel_for(threads, stretches, [&](std::int64_t i, int) {
    const std::int64_t begin = i * kPatternStretch;
    const std::int64_t end = std::min(begin + kPatternStretch, piece.length);
    add_rows_best({job.derivatives, piece.pattern_of.data(), labels, begin, end, sums.data() + i * size});
  });
  for (std::size_t i = 1; i < stretches; ++i)
    for (std::size_t j = 0; j < size; ++j) sums[j] += sums[i * size + j];
  for (std::size_t p = 0; p < patterns; ++p)
    for (std::size_t c = 0; c < labels; ++c) {
      const double sum = sums[p * labels + c];
      if (!bias.empty()) bias[c] += sum;
      if (!weights.empty())
        add_row(sum, piece.patterns->rows.data() + p * job.tracks, job.tracks,
                weights.data() + c * job.tracks);
    }
}

// By the bias of the emissions; under `mean` the bias cancels, and features are less their mean.
void add_emission_bias(const Parameters& parameters, std::span<const double> bias,
                       std::span<const double> feature_mean, ParameterGradient& gradient) {
  const std::size_t tracks = parameters.tracks.size();
  const bool centred = parameters.centering == Centering::kMean;
  for (std::size_t c = 0; c < bias.size(); ++c) {
    if (!centred) gradient.bias[c] += bias[c];
    for (std::size_t f = 0; centred && f < tracks; ++f)
      gradient.weights[c * tracks + f] -= bias[c] * feature_mean[f];
  }
}

// What to add up of each head; null derivatives: of the true segments.
void add_heads(const Parameters& parameters, const TrainingPiece& piece, const ScoreDerivatives& derivatives,
               const WantedHeads& wanted, int threads, ParameterGradient& gradient) {
  HeadJob job{};
  job.piece = &piece;
  job.labels = parameters.labels.size();
  job.tracks = parameters.tracks.size();
  if (wanted.emission) {
    job.derivatives = derivatives.emissions;
    job.truth = Truth::kLabels;
    std::vector<double> bias(job.labels, 0.0);
    if (job.derivatives != nullptr && piece.repeats()) {
      add_repeated(job, threads, gradient.weights, bias);
    } else {
      add_head(job, threads, gradient.weights, bias);
    }
    add_emission_bias(parameters, bias, piece.feature_mean, gradient);
  }
  if (!parameters.boundary) return;
  job.first = parameters.boundary->first;
  job.last = parameters.boundary->last;
  if (wanted.start) {
    job.derivatives = derivatives.starts;
    job.truth = Truth::kStarts;
    add_head(job, threads, gradient.start_weights, gradient.start_bias);
  }
  if (wanted.finish) {
    job.derivatives = derivatives.ends;
    job.truth = Truth::kEnds;
    add_head(job, threads, gradient.end_weights, gradient.end_bias);
  }
}

// From (inputs, C) to (C, inputs); nothing where the parameters have none.
void add_sums(const ExpectedFeatures::Head& sums, std::span<double> weights, std::span<double> bias) {
  const std::size_t labels = sums.bias.size();
  const std::size_t inputs = labels == 0 ? 0 : weights.size() / labels;
  for (std::size_t c = 0; c < labels; ++c)
    for (std::size_t j = 0; j < inputs; ++j) weights[c * inputs + j] += sums.weights[j * labels + c];
  for (std::size_t c = 0; c < bias.size() && labels > 0; ++c) bias[c] += sums.bias[c];
}

}  // namespace

void add_head_gradient(const Parameters& parameters, const TrainingPiece& piece,
                       const ScoreDerivatives& derivatives, int threads, ParameterGradient& gradient) {
  const WantedHeads wanted{derivatives.emissions != nullptr, derivatives.starts != nullptr,
                           derivatives.ends != nullptr};
  add_heads(parameters, piece, derivatives, wanted, threads, gradient);
}

void add_expected_features(const Parameters& parameters, const ExpectedFeatures& sums,
                           std::span<const double> feature_mean, ParameterGradient& gradient) {
  add_sums(sums.emission, gradient.weights, {});
  add_emission_bias(parameters, sums.emission.bias, feature_mean, gradient);
  add_sums(sums.start, gradient.start_weights, gradient.start_bias);
  add_sums(sums.finish, gradient.end_weights, gradient.end_bias);
}

void take_true_features(const Parameters& parameters, const TrainingPiece& piece, const WantedHeads& wanted,
                        int threads, ParameterGradient& gradient) {
  add_heads(parameters, piece, {}, wanted, threads, gradient);
}

}  // namespace semicrf
