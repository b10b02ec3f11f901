#include "model/linear_heads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

// Into its caller always, so that the loops are compiled for the caller's instruction set.
#define SEMICRF_INLINE __attribute__((always_inline)) inline

namespace semicrf {
namespace {

// Labels per group: one AVX or two SSE registers of doubles. Rows share each load of a group's weights, so
// that the accumulators of kRows rows fill the registers and hide the latency of the additions.
constexpr std::size_t kLanes = 4;
constexpr std::size_t kRows = 4;

// out[row][c] for all labels c of Rows rows. `inputs` values per row lie at x[j * Rows + row], already in
// double; sums run in order of j.
template <std::size_t Rows, class Score>
SEMICRF_INLINE void project_rows(const double* x, std::size_t inputs, const double* weights,
                                 std::size_t group_stride, const double* bias, std::size_t labels,
                                 Score* out) {
  for (std::size_t c = 0; c < labels; c += kLanes, weights += group_stride) {
    double acc[Rows][kLanes];
    for (std::size_t row = 0; row < Rows; ++row) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) acc[row][lane] = bias[c + lane];
    }
    for (std::size_t j = 0; j < inputs; ++j) {
      for (std::size_t row = 0; row < Rows; ++row) {
        const double value = x[j * Rows + row];
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          acc[row][lane] += value * weights[j * kLanes + lane];
      }
    }
    const std::size_t used = std::min(kLanes, labels - c);
    for (std::size_t row = 0; row < Rows; ++row) {
      Score* target = out + row * labels + c;
      if (used == kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) target[lane] = static_cast<Score>(acc[row][lane]);
      } else {
        for (std::size_t lane = 0; lane < used; ++lane) target[lane] = static_cast<Score>(acc[row][lane]);
      }
    }
  }
}

// Rows of `inputs` values, `stride` apart, to double with the row index running fastest.
template <std::size_t Rows, class Feature>
SEMICRF_INLINE void gather_rows(const Feature* x, std::size_t stride, std::size_t inputs, double* gathered) {
  for (std::size_t j = 0; j < inputs; ++j) {
    for (std::size_t row = 0; row < Rows; ++row)
      gathered[j * Rows + row] = static_cast<double>(x[row * stride + j]);
  }
}

// The operands of Projection::apply.
template <class Feature, class Score>
struct ProjectionJob {
  const Feature* x;
  std::size_t stride, inputs, n, labels;
  const double* weights;
  const double* bias;
  Score* out;
};

template <class Feature, class Score>
SEMICRF_INLINE void project(const ProjectionJob<Feature, Score>& job, double* gathered) {
  const std::size_t group_stride = job.inputs * kLanes;
  std::size_t i = 0;
  for (; i + kRows <= job.n; i += kRows) {
    gather_rows<kRows>(job.x + i * job.stride, job.stride, job.inputs, gathered);
    project_rows<kRows>(gathered, job.inputs, job.weights, group_stride, job.bias, job.labels,
                        job.out + i * job.labels);
  }
  for (; i < job.n; ++i) {
    gather_rows<1>(job.x + i * job.stride, job.stride, job.inputs, gathered);
    project_rows<1>(gathered, job.inputs, job.weights, group_stride, job.bias, job.labels,
                    job.out + i * job.labels);
  }
}

#ifdef __x86_64__
// The same loops in wider registers. Without fused multiply-adds, so every processor gives the same bits.
template <class Feature, class Score>
__attribute__((target("avx2"))) void project_wide(const ProjectionJob<Feature, Score>& job,
                                                  double* gathered) {
  project(job, gathered);
}

bool has_wide_registers() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

}  // namespace

Projection::Projection(std::span<const double> weights, std::span<const double> bias, int num_labels,
                       std::size_t inputs)
    : num_labels_(num_labels), inputs_(weights.empty() ? 0 : inputs) {
  const auto labels = static_cast<std::size_t>(num_labels);
  if (weights.size() != labels * inputs_ || (!bias.empty() && bias.size() != labels)) {
    throw std::logic_error("a linear head has the wrong shape");
  }
  const std::size_t padded = (labels + kLanes - 1) / kLanes * kLanes;
  bias_.assign(padded, 0.0);
  std::copy(bias.begin(), bias.end(), bias_.begin());
  weights_.assign(padded * inputs_, 0.0);
  for (std::size_t c = 0; c < labels; ++c) {
    double* group = weights_.data() + c / kLanes * (inputs_ * kLanes);
    for (std::size_t j = 0; j < inputs_; ++j) group[j * kLanes + c % kLanes] = weights[c * inputs_ + j];
  }
}

template <class Feature, class Score>
void Projection::apply(const Feature* x, std::size_t stride, std::size_t n, Score* out) const {
  const ProjectionJob<Feature, Score> job{
      x, stride, inputs_, n, static_cast<std::size_t>(num_labels_), weights_.data(), bias_.data(), out};
  std::vector<double> gathered(kRows * inputs_);
#ifdef __x86_64__
  if (has_wide_registers()) {
    project_wide(job, gathered.data());
    return;
  }
#endif
  project(job, gathered.data());
}

template <class Feature, class Score>
void Projection::apply_part(const Feature* x, std::size_t from, std::size_t to, Score* out) const {
  std::vector<double> gathered(to - from);
  gather_rows<1>(x, 0, to - from, gathered.data());
  project_rows<1>(gathered.data(), to - from, weights_.data() + from * kLanes, inputs_ * kLanes, bias_.data(),
                  static_cast<std::size_t>(num_labels_), out);
}

LinearHeads::Head LinearHeads::make_head(std::span<const double> weights, std::span<const double> bias,
                                         int num_labels, int first, int last) const {
  const auto labels = static_cast<std::size_t>(num_labels);
  const std::size_t inputs =
      static_cast<std::size_t>(num_tracks_) * static_cast<std::size_t>(last - first + 1);
  Head head{Projection(weights, bias, num_labels, inputs),
            {std::vector<double>(weights.size()), {bias.begin(), bias.end()}, first, last}};
  head.table.bias.resize(labels, 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    head.table.weights[i % inputs * labels + i / inputs] = weights[i];
  return head;
}

LinearHeads::LinearHeads(const Parameters& parameters) : num_tracks_(parameters.num_tracks()) {
  if (!parameters.emission) throw std::logic_error("linear heads need an emission section");
  const int labels = parameters.num_labels();
  emission_ = make_head(parameters.emission->weights, parameters.emission->bias, labels, 0, 0);
  if (!parameters.boundary) return;
  const BoundaryHead& head = *parameters.boundary;
  first_ = head.first;
  last_ = head.last;
  if (!head.start_weights.empty() || !head.start_bias.empty()) {
    start_ = make_head(head.start_weights, head.start_bias, labels, head.first, head.last);
  }
  if (!head.end_weights.empty() || !head.end_bias.empty()) {
    end_ = make_head(head.end_weights, head.end_bias, labels, head.first, head.last);
  }
  if (!head.start_weights.empty() || !head.end_weights.empty()) {
    halo_before_ = std::max(0, -first_);
    halo_after_ = std::max(0, last_);
  }
}

template <class Feature, class Score>
void LinearHeads::emissions(const FeatureWindow<Feature>& features, std::int64_t begin, std::int64_t end,
                            Score* out) const {
  const auto tracks = static_cast<std::size_t>(num_tracks_);
  if (begin >= end) return;
  emission_.projection.apply(features.rows + static_cast<std::size_t>(begin - features.begin) * tracks,
                             tracks, static_cast<std::size_t>(end - begin), out);
}

template <class Feature, class Score>
void LinearHeads::boundary_scores(const Projection& head, const FeatureWindow<Feature>& features,
                                  std::int64_t begin, std::int64_t end, Score* out) const {
  const auto tracks = static_cast<std::size_t>(num_tracks_);
  const auto labels = static_cast<std::size_t>(num_labels());
  const auto row = [&](std::int64_t t) {
    return features.rows + static_cast<std::size_t>(t - features.begin) * tracks;
  };
  if (begin >= end) return;
  if (head.inputs() == 0) {
    head.apply(features.rows, 0, static_cast<std::size_t>(end - begin), out);
    return;
  }
  // Positions whose whole window lies inside the piece.
  const std::int64_t inner_begin = std::clamp<std::int64_t>(-first_, begin, end);
  const std::int64_t inner_end = std::clamp<std::int64_t>(features.length - last_, inner_begin, end);
  const auto clipped = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t t = from; t < to; ++t) {
      const std::int64_t lowest = std::max<std::int64_t>(t + first_, 0);
      const std::int64_t highest = std::min<std::int64_t>(t + last_, features.length - 1);
      Score* target = out + static_cast<std::size_t>(t - begin) * labels;
      if (lowest > highest) {
        head.apply_part(features.rows, 0, 0, target);
      } else {
        head.apply_part(row(lowest), static_cast<std::size_t>(lowest - t - first_) * tracks,
                        static_cast<std::size_t>(highest + 1 - t - first_) * tracks, target);
      }
    }
  };
  clipped(begin, inner_begin);
  if (inner_begin < inner_end) {
    head.apply(row(inner_begin + first_), tracks, static_cast<std::size_t>(inner_end - inner_begin),
               out + static_cast<std::size_t>(inner_begin - begin) * labels);
  }
  clipped(inner_end, end);
}

template <class Feature, class Score>
void LinearHeads::start_scores(const FeatureWindow<Feature>& features, std::int64_t begin, std::int64_t end,
                               Score* out) const {
  boundary_scores(start_.value().projection, features, begin, end, out);
}

template <class Feature, class Score>
void LinearHeads::end_scores(const FeatureWindow<Feature>& features, std::int64_t begin, std::int64_t end,
                             Score* out) const {
  boundary_scores(end_.value().projection, features, begin, end, out);
}

std::vector<double> LinearHeads::mean_emissions(std::span<const double> feature_mean) const {
  if (feature_mean.size() != static_cast<std::size_t>(num_tracks_)) {
    throw std::logic_error("the feature mean has the wrong length");
  }
  std::vector<double> mean(static_cast<std::size_t>(num_labels()));
  emission_.projection.apply(feature_mean.data(), feature_mean.size(), 1, mean.data());
  return mean;
}

#define SEMICRF_INSTANTIATE(Feature, Score)                                                                  \
  template void Projection::apply(const Feature*, std::size_t, std::size_t, Score*) const;                   \
  template void Projection::apply_part(const Feature*, std::size_t, std::size_t, Score*) const;              \
  template void LinearHeads::emissions(const FeatureWindow<Feature>&, std::int64_t, std::int64_t, Score*)    \
      const;                                                                                                 \
  template void LinearHeads::start_scores(const FeatureWindow<Feature>&, std::int64_t, std::int64_t, Score*) \
      const;                                                                                                 \
  template void LinearHeads::end_scores(const FeatureWindow<Feature>&, std::int64_t, std::int64_t, Score*)   \
      const;
SEMICRF_INSTANTIATE(float, float)
SEMICRF_INSTANTIATE(float, double)
SEMICRF_INSTANTIATE(double, float)
SEMICRF_INSTANTIATE(double, double)
#undef SEMICRF_INSTANTIATE
#undef SEMICRF_INLINE

namespace {

template <class Value>
std::optional<std::size_t> find_bad(std::span<const Value> scores, bool allow_negative_infinity) {
  constexpr Value infinity = std::numeric_limits<Value>::infinity();
  const auto good = [=](Value x) {
    return allow_negative_infinity ? x < infinity : x > -infinity && x < infinity;
  };
  // Most scores are good: count whole stretches with a loop that vectorises, then look closer.
  constexpr std::size_t kStretch = 1024;
  for (std::size_t begin = 0; begin < scores.size(); begin += kStretch) {
    const std::size_t end = std::min(scores.size(), begin + kStretch);
    int bad = 0;
    for (std::size_t i = begin; i < end; ++i) bad += good(scores[i]) ? 0 : 1;
    if (bad == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (!good(scores[i])) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> first_bad_score(std::span<const float> scores, bool allow_negative_infinity) {
  return find_bad(scores, allow_negative_infinity);
}

std::optional<std::size_t> first_bad_score(std::span<const double> scores, bool allow_negative_infinity) {
  return find_bad(scores, allow_negative_infinity);
}

}  // namespace semicrf
