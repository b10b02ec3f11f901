// Linear emission and boundary scores over track features.
//   f[t,c]  = bias[c] + sum_f weights[c][f] x[t][f]
//   Ps[t,c] = start_bias[c] + sum over offsets o in first..last and tracks f of start_weights[c][(o-first)F +
//   f] x[t+o][f] Pe likewise; bins outside the piece count as 0.
// Sums run in double in the order bias, then tracks (offsets first); a result depends on its own features
// only, never on the window it is computed in. Weights are kept label-minor and padded, so that the inner
// loops vectorise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/score_window.h"
#include "model/parameters.h"

namespace semicrf {

// Feature rows of positions [begin, end) of a piece of `length` positions; (end-begin, F) row-major, finite
// values.
template <class Feature>
struct FeatureWindow {
  const Feature* rows = nullptr;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t length = 0;
};

// One affine map from `inputs` contiguous numbers to C scores.
class Projection {
 public:
  Projection() = default;
  // `weights` (C, inputs) row-major, empty: all 0; `bias` (C), empty: 0.
  Projection(std::span<const double> weights, std::span<const double> bias, int num_labels,
             std::size_t inputs);

  int num_labels() const { return num_labels_; }
  std::size_t inputs() const { return inputs_; }

  // out[i*C + c] for i in 0..n-1 from inputs at x + i*stride. Feature and Score are float or double.
  template <class Feature, class Score>
  void apply(const Feature* x, std::size_t stride, std::size_t n, Score* out) const;
  // One row from inputs [from, to) only, at x; the others count as 0.
  template <class Feature, class Score>
  void apply_part(const Feature* x, std::size_t from, std::size_t to, Score* out) const;

 private:
  int num_labels_ = 0;
  std::size_t inputs_ = 0;

  std::vector<double> weights_;  // [group][input][lane]
  std::vector<double> bias_;     // (padded)
};

class LinearHeads {
 public:
  // `parameters.emission` is present.
  explicit LinearHeads(const Parameters& parameters);

  int num_labels() const { return emission_.projection.num_labels(); }
  int num_tracks() const { return num_tracks_; }
  bool has_start() const { return start_.has_value(); }
  bool has_end() const { return end_.has_value(); }
  // Feature rows wanted before and after a window for its boundary scores, as far as the piece has them. Both
  // >= 0.
  std::int64_t halo_before() const { return halo_before_; }
  std::int64_t halo_after() const { return halo_after_; }

  // Scores of positions [begin, end), (end-begin, C) row-major. The features cover these positions and, for
  // boundary scores, the halo on both sides clipped to [0, length). Feature and Score are float or double.
  template <class Feature, class Score>
  void emissions(const FeatureWindow<Feature>& features, std::int64_t begin, std::int64_t end,
                 Score* out) const;
  template <class Feature, class Score>
  void start_scores(const FeatureWindow<Feature>& features, std::int64_t begin, std::int64_t end,
                    Score* out) const;
  template <class Feature, class Score>
  void end_scores(const FeatureWindow<Feature>& features, std::int64_t begin, std::int64_t end,
                  Score* out) const;

  // The heads as data, for who applies them himself; null where there is none.
  const HeadTable* emission_table() const { return &emission_.table; }
  const HeadTable* start_table() const { return start_ ? &start_->table : nullptr; }
  const HeadTable* end_table() const { return end_ ? &end_->table : nullptr; }

  // (C) mean emission score of a sequence from the (F) mean of its features: the projection is linear.
  std::vector<double> mean_emissions(std::span<const double> feature_mean) const;

 private:
  template <class Feature, class Score>
  void boundary_scores(const Projection& head, const FeatureWindow<Feature>& features, std::int64_t begin,
                       std::int64_t end, Score* out) const;

  int num_tracks_ = 0;
  int first_ = 0;  // offset window of the boundary head
  int last_ = 0;
  std::int64_t halo_before_ = 0;
  std::int64_t halo_after_ = 0;
  struct Head {
    Projection projection;
    HeadTable table;
  };
  // `weights` (C, tracks of positions first..last) row-major, empty: all 0; `bias` (C), empty: 0.
  Head make_head(std::span<const double> weights, std::span<const double> bias, int num_labels, int first,
                 int last) const;

  Head emission_;
  std::optional<Head> start_, end_;
};

// Index of the first number that is NaN or +inf, or -inf unless allowed; nullopt when there is none.
std::optional<std::size_t> first_bad_score(std::span<const float> scores, bool allow_negative_infinity);
std::optional<std::size_t> first_bad_score(std::span<const double> scores, bool allow_negative_infinity);

}  // namespace semicrf
