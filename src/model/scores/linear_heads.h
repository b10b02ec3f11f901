// Linear emission and boundary scores over track features, on the host.
//   f[t,c]  = bias[c] + sum_f weights[c][f] x[t][f]
//   Ps[t,c] = start_bias[c] + sum over offsets o in first..last and tracks f of
//             start_weights[c][(o-first)F + f] x[t+o][f]; Pe the same with the end weights
// Bins outside the piece count as 0. Sums run in double in the order bias, then tracks (offsets first); a
// score depends on its own features only, never on the window it is computed in, nor on how many are computed
// together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/score_window.h"
#include "model/parameters.h"

namespace semicrf {

// Labels per group of HeadTable::grouped: one AVX or two SSE registers of doubles. A group holds a row of
// biases, then a row of weights per input, kHeadLanes numbers each; missing labels of the last group are 0.
inline constexpr std::size_t kHeadLanes = 4;

// `weights` (C, inputs) row-major, empty: all 0; `bias` (C), empty: 0; inputs: `tracks` of positions
// first..last.
HeadTable make_head_table(std::span<const double> weights, std::span<const double> bias, int num_labels,
                          int num_tracks, int first, int last);

// The heads of a parameter file. FeatureRows point at them.
class LinearHeads {
 public:
  // `parameters.emission` is present.
  explicit LinearHeads(const Parameters& parameters);

  int num_labels() const { return static_cast<int>(emission_.bias.size()); }
  int num_tracks() const { return num_tracks_; }
  bool has_start() const { return start_.has_value(); }
  bool has_end() const { return end_.has_value(); }

  // What makes the scores of positions [begin, end) of a sequence of `length`, all but the features
  // themselves: those of positions [FeatureRows::begin, end), which include what boundary scores see around
  // the window.
  FeatureRows rows_for(std::int64_t begin, std::int64_t end, std::int64_t length) const;

  // (C) mean emission score of a sequence from the (F) mean of its features: the projection is linear.
  std::vector<double> mean_emissions(std::span<const double> feature_mean) const;

 private:
  int num_tracks_ = 0;
  std::int64_t halo_before_ = 0;  // feature rows wanted around a window for its boundary scores
  std::int64_t halo_after_ = 0;
  HeadTable emission_;
  std::optional<HeadTable> start_, end_;
};

// What a head over positions t + first .. t + last sees at position t of a sequence of `length`: `count`
// numbers, which are its inputs from `skip` on. `begin`: position of the first row of `tracks` features.
struct SeenFeatures {
  std::size_t from = 0;  // index of the first number in the rows
  std::size_t count = 0, skip = 0;
};
inline SeenFeatures seen_at(std::int64_t t, std::int64_t first, std::int64_t last, std::int64_t length,
                            std::int64_t begin, std::size_t tracks) {
  const std::int64_t low = std::max<std::int64_t>(t + first, 0);
  const std::int64_t high = std::min<std::int64_t>(t + last, length - 1);
  if (high < low) return {};
  return {static_cast<std::size_t>(low - begin) * tracks, static_cast<std::size_t>(high - low + 1) * tracks,
          static_cast<std::size_t>(low - t - first) * tracks};
}
inline SeenFeatures seen_at(const FeatureRows& features, const HeadTable& head, std::int64_t t,
                            std::int64_t length) {
  if (head.weights.empty()) return {};
  return seen_at(t, head.first, head.last, length, features.begin, static_cast<std::size_t>(features.tracks));
}

// `value` in the precision of the scores.
inline double rounded_score(const FeatureRows& features, double value) {
  return features.wide ? value : static_cast<double>(static_cast<float>(value));
}

// The score of label c at position t, a number of project_head(). `rows`: FeatureRows::rows in its type.
template <class Feature>
double head_score(const FeatureRows& features, const Feature* rows, const HeadTable& head, std::int64_t t,
                  std::int64_t length, std::size_t c) {
  const std::size_t inputs = head.weights.size() / head.bias.size();
  const SeenFeatures seen = seen_at(features, head, t, length);
  const double* group = head.grouped.data() + c / kHeadLanes * (1 + inputs) * kHeadLanes + c % kHeadLanes;
  const double* weights = group + (1 + seen.skip) * kHeadLanes;
  double sum = *group;
  for (std::size_t j = 0; j < seen.count; ++j)
    sum += static_cast<double>(rows[seen.from + j]) * weights[j * kHeadLanes];
  return rounded_score(features, sum);
}

// Scores of all labels at positions [begin, end) of a sequence of `length`, (end-begin, C) row-major; the
// features cover what the head sees there. Score is float or double. Margins are not taken.
template <class Score>
void project_head(const FeatureRows& features, const HeadTable& head, std::int64_t begin, std::int64_t end,
                  std::int64_t length, Score* out);

}  // namespace semicrf
