#include "model/scores/linear_heads.h"

#include <stdexcept>

#include "core/sizes.h"

// Into its caller always, so that the loops are compiled for the caller's instruction set.
#define SEMICRF_INLINE __attribute__((always_inline)) inline

namespace semicrf {
namespace {

// Rows share each load of a group's weights, so that the accumulators of kRows rows fill the registers and
// hide the latency of the additions.
constexpr std::size_t kLanes = kHeadLanes;
constexpr std::size_t kRows = 4;

// What one head makes of `n` rows of `count` inputs each, `stride` apart.
template <class Feature, class Score>
struct ProjectionJob {
  const Feature* x;
  std::size_t stride, count, n, labels;
  const double* bias;     // biases of the first group of labels
  const double* weights;  // weights of the first group, for the first of the inputs
  std::size_t group_stride;
  Score* out;  // (n, labels)
};

// Scores of Rows rows from row i on. `gathered`: their inputs in double, the row index running fastest.
template <std::size_t Rows, class Feature, class Score>
SEMICRF_INLINE void project_rows(const ProjectionJob<Feature, Score>& job, std::size_t i, double* gathered) {
  const Feature* x = job.x + i * job.stride;
  for (std::size_t j = 0; j < job.count; ++j) {
    for (std::size_t row = 0; row < Rows; ++row) gathered[j * Rows + row] = x[row * job.stride + j];
  }
  const double* bias = job.bias;
  const double* weights = job.weights;
  for (std::size_t c = 0; c < job.labels;
       c += kLanes, bias += job.group_stride, weights += job.group_stride) {
    double acc[Rows][kLanes];
    for (std::size_t row = 0; row < Rows; ++row) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) acc[row][lane] = bias[lane];
    }
    for (std::size_t j = 0; j < job.count; ++j) {
      for (std::size_t row = 0; row < Rows; ++row) {
        const double value = gathered[j * Rows + row];
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          acc[row][lane] += value * weights[j * kLanes + lane];
      }
    }
    const std::size_t used = std::min(kLanes, job.labels - c);
    for (std::size_t row = 0; row < Rows; ++row) {
      Score* target = job.out + (i + row) * job.labels + c;
      if (used == kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) target[lane] = static_cast<Score>(acc[row][lane]);
      } else {
        for (std::size_t lane = 0; lane < used; ++lane) target[lane] = static_cast<Score>(acc[row][lane]);
      }
    }
  }
}

template <class Feature, class Score>
SEMICRF_INLINE void project(const ProjectionJob<Feature, Score>& job, double* gathered) {
  std::size_t i = 0;
  for (; i + kRows <= job.n; i += kRows) project_rows<kRows>(job, i, gathered);
  for (; i < job.n; ++i) project_rows<1>(job, i, gathered);
}

#ifdef __x86_64__
// The same loops in wider registers. Without fused multiply-adds, so every processor gives the same bits.
template <class Feature, class Score>
__attribute__((target("avx2"))) void project_wide(const ProjectionJob<Feature, Score>& job,
                                                  double* gathered) {
  project(job, gathered);
}
#endif

template <class Feature, class Score>
void project_best(const ProjectionJob<Feature, Score>& job) {
  std::vector<double> gathered(kRows * job.count);
#ifdef __x86_64__
  static const bool has_wide_registers = __builtin_cpu_supports("avx2") != 0;
  if (has_wide_registers) return project_wide(job, gathered.data());
#endif
  project(job, gathered.data());
}

template <class Feature, class Score>
void project_rows_of(const FeatureRows& features, const Feature* rows, const HeadTable& head,
                     std::int64_t begin, std::int64_t end, std::int64_t length, Score* out) {
  const std::size_t labels = head.bias.size();
  const std::size_t inputs = head.weights.size() / labels;
  // Positions that see as much as the first of them.
  const auto apply = [&](std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    const SeenFeatures seen = seen_at(features, head, from, length);
    project_best(ProjectionJob<Feature, Score>{rows + seen.from, wide(features.tracks), seen.count,
                                               wide(to - from), labels, head.grouped.data(),
                                               head.grouped.data() + (1 + seen.skip) * kLanes,
                                               (1 + inputs) * kLanes, out + (from - begin) * labels});
  };
  // Positions whose whole window lies inside the sequence; a bias alone sees nothing anywhere.
  const std::int64_t inner_begin = inputs == 0 ? begin : std::clamp<std::int64_t>(-head.first, begin, end);
  const std::int64_t inner_end =
      inputs == 0 ? end : std::clamp<std::int64_t>(length - head.last, inner_begin, end);
  for (std::int64_t t = begin; t < inner_begin; ++t) apply(t, t + 1);
  apply(inner_begin, inner_end);
  for (std::int64_t t = inner_end; t < end; ++t) apply(t, t + 1);
}

}  // namespace

HeadTable make_head_table(std::span<const double> weights, std::span<const double> bias, int num_labels,
                          int num_tracks, int first, int last) {
  const std::size_t labels = num_labels;
  const std::size_t inputs = weights.empty() ? 0 : wide(num_tracks) * (last - first + 1);
  if (weights.size() != labels * inputs || (!bias.empty() && bias.size() != labels))
    throw std::logic_error("a linear head has the wrong shape");
  HeadTable table{std::vector<double>(weights.size()), {bias.begin(), bias.end()}, first, last, {}};
  table.bias.resize(labels, 0.0);
  table.grouped.resize((labels + kLanes - 1) / kLanes * (1 + inputs) * kLanes, 0.0);
  for (std::size_t c = 0; c < labels; ++c) {
    double* group = table.grouped.data() + c / kLanes * (1 + inputs) * kLanes + c % kLanes;
    *group = table.bias[c];
    for (std::size_t j = 0; j < inputs; ++j)
      table.weights[j * labels + c] = group[(1 + j) * kLanes] = weights[c * inputs + j];
  }
  return table;
}

LinearHeads::LinearHeads(const Parameters& parameters) : num_tracks_(parameters.num_tracks()) {
  if (!parameters.emission) throw std::logic_error("linear heads need an emission section");
  const auto make = [&](const std::vector<double>& weights, const std::vector<double>& bias, int first,
                        int last) {
    return make_head_table(weights, bias, parameters.num_labels(), num_tracks_, first, last);
  };
  emission_ = make(parameters.emission->weights, parameters.emission->bias, 0, 0);
  if (!parameters.boundary) return;
  const BoundaryHead& head = *parameters.boundary;
  const auto has = [](const std::vector<double>& weights, const std::vector<double>& bias) {
    return !weights.empty() || !bias.empty();
  };
  if (has(head.start_weights, head.start_bias))
    start_ = make(head.start_weights, head.start_bias, head.first, head.last);
  if (has(head.end_weights, head.end_bias))
    end_ = make(head.end_weights, head.end_bias, head.first, head.last);
  if (head.start_weights.empty() && head.end_weights.empty()) return;
  halo_before_ = std::max(0, -head.first);
  halo_after_ = std::max(0, head.last);
}

FeatureRows LinearHeads::rows_for(std::int64_t begin, std::int64_t end, std::int64_t length) const {
  FeatureRows features;
  features.begin = std::max<std::int64_t>(0, begin - halo_before_);
  features.end = std::min(length, end + halo_after_);
  features.tracks = num_tracks_;
  features.emission = &emission_;
  features.start = start_ ? &*start_ : nullptr;
  features.finish = end_ ? &*end_ : nullptr;
  return features;
}

std::vector<double> LinearHeads::mean_emissions(std::span<const double> feature_mean) const {
  if (std::ssize(feature_mean) != num_tracks_)
    throw std::logic_error("the feature mean has the wrong length");
  std::vector<double> mean(emission_.bias.size());
  FeatureRows features = rows_for(0, 1, 1);
  features.rows.f64 = feature_mean.data();
  project_head(features, emission_, 0, 1, 1, mean.data());
  return mean;
}

template <class Score>
void project_head(const FeatureRows& features, const HeadTable& head, std::int64_t begin, std::int64_t end,
                  std::int64_t length, Score* out) {
  if (features.rows.f32 != nullptr)
    return project_rows_of(features, features.rows.f32, head, begin, end, length, out);
  project_rows_of(features, features.rows.f64, head, begin, end, length, out);
}

template void project_head(const FeatureRows&, const HeadTable&, std::int64_t, std::int64_t, std::int64_t,
                           float*);
template void project_head(const FeatureRows&, const HeadTable&, std::int64_t, std::int64_t, std::int64_t,
                           double*);

}  // namespace semicrf
