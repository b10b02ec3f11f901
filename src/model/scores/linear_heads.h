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

#include "core/chain_model.h"
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
  return {(low - begin) * tracks, (high - low + 1) * tracks, (low - t - first) * tracks};
}
inline SeenFeatures seen_at(const FeatureRows& features, const HeadTable& head, std::int64_t t,
                            std::int64_t length) {
  if (head.weights.empty()) return {};
  return seen_at(t, head.first, head.last, length, features.begin, features.tracks);
}

// `value` in the precision of the scores.
inline double rounded_score(const FeatureRows& features, double value) {
  return features.wide ? value : static_cast<float>(value);
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
  for (std::size_t j = 0; j < seen.count; ++j) sum += rows[seen.from + j] * weights[j * kHeadLanes];
  return rounded_score(features, sum);
}

// Scores of all labels at positions [begin, end) of a sequence of `length`, (end-begin, C) row-major; the
// features cover what the head sees there. Score is float or double. Margins are not taken.
template <class Score>
void project_head(const FeatureRows& features, const HeadTable& head, std::int64_t begin, std::int64_t end,
                  std::int64_t length, Score* out);

// The scores of single positions as the engines see them: centred, with the scores of the sequence's ends,
// from the arrays of a window or by heads from its features.
// A view; model and window must outlive it. Positions are those of the sequence and covered by the window.
class CentredScores {
 private:
  std::size_t labels() const { return model_->num_labels; }
  std::size_t index(std::int64_t t, std::size_t c) const { return (t - window_->begin) * labels() + c; }

  // fbar of a label from f, which score_of(t, c) gives for any label.
  template <class ScoreOf>
  auto centred(std::size_t c, ScoreOf score_of) const {
    const double baseline = window_->baseline.empty() ? 0 : window_->baseline[c];
    return [this, c, baseline, score_of](std::int64_t t) {
      if (!window_->subtract_position_max) return score_of(t, c) - baseline;
      double largest = kNegativeInfinity;
      for (std::size_t other = 0; other < labels(); ++other) largest = std::max(largest, score_of(t, other));
      return score_of(t, c) - (baseline + (largest == kNegativeInfinity ? 0 : largest));
    };
  }
  template <class Score>
  auto stored(const Score* scores) const {
    return [this, scores](std::int64_t t, std::size_t c) -> double { return scores[index(t, c)]; };
  }
  template <class Feature>
  auto projected(const Feature* rows) const {
    return [this, rows](std::int64_t t, std::size_t c) {
      const FeatureRows& features = window_->features;
      const double score = head_score(features, rows, *features.emission, t, window_->length, c);
      const bool margin =
          features.true_labels != nullptr && features.true_labels[t - features.begin] == static_cast<int>(c);
      return margin ? rounded_score(features, score - rounded_score(features, features.margin)) : score;
    };
  }

 public:
  CentredScores(const ChainModel& model, const ScoreWindow& window) : model_(&model), window_(&window) {}

  // Calls use(score), where score(t) is fbar[t,c]: for loops over positions of one label. -inf forbids.
  template <class Use>
  decltype(auto) of_label(int c, const Use& use) const {
    const std::size_t label = c;
    const FeatureRows& features = window_->features;
    if (features.rows.f32 != nullptr) return use(centred(label, projected(features.rows.f32)));
    if (features.rows.f64 != nullptr) return use(centred(label, projected(features.rows.f64)));
    if (window_->emissions.f32 != nullptr) return use(centred(label, stored(window_->emissions.f32)));
    return use(centred(label, stored(window_->emissions.f64)));
  }
  // fbar[t,c]
  double emission(std::int64_t t, int c) const {
    return of_label(c, [t](const auto& score) { return score(t); });
  }

  // Ps[t,c] and Pe[t,c] of the window, 0 where it has none or a cut hides them.
  double start_score(std::int64_t t, int c) const {
    if (t == 0 && model_->cut.left) return 0;
    return boundary(window_->features.start, window_->start_scores, t, c);
  }
  double end_score(std::int64_t t, int c) const {
    if (t == window_->length - 1 && model_->cut.right) return 0;
    return boundary(window_->features.finish, window_->end_scores, t, c);
  }
  // Start and end scores with pi_start at the first position, and with pi_end at the last.
  double start(std::int64_t t, int c) const {
    const bool first = t == 0 && !model_->start_scores.empty();
    return start_score(t, c) + (first ? model_->start_scores[c] : 0);
  }
  double end(std::int64_t t, int c) const {
    const bool last = t == window_->length - 1 && !model_->end_scores.empty();
    return end_score(t, c) + (last ? model_->end_scores[c] : 0);
  }

 private:
  double boundary(const HeadTable* head, const ScoreArray& scores, std::int64_t t, int c) const {
    const std::size_t label = c;
    const FeatureRows& features = window_->features;
    if (head == nullptr) return scores.empty() ? 0 : scores.at(index(t, label));
    return features.rows.f32 != nullptr
               ? head_score(features, features.rows.f32, *head, t, window_->length, label)
               : head_score(features, features.rows.f64, *head, t, window_->length, label);
  }

  const ChainModel* model_;
  const ScoreWindow* window_;
};

}  // namespace semicrf
