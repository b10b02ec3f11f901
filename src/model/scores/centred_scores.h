// The scores of single positions as the engines see them: centred, with the scores of the sequence's ends,
// from the arrays of a window or by heads from its features.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "model/scores/linear_heads.h"

namespace semicrf {

// A view; model and window must outlive it. Positions are those of the sequence and covered by the window.
class CentredScores {
 private:
  std::size_t labels() const { return static_cast<std::size_t>(model_->num_labels); }
  std::size_t index(std::int64_t t, std::size_t c) const {
    return static_cast<std::size_t>(t - window_->begin) * labels() + c;
  }

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
    return [this, scores](std::int64_t t, std::size_t c) { return static_cast<double>(scores[index(t, c)]); };
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
    const auto label = static_cast<std::size_t>(c);
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
    return start_score(t, c) + (first ? model_->start_scores[static_cast<std::size_t>(c)] : 0);
  }
  double end(std::int64_t t, int c) const {
    const bool last = t == window_->length - 1 && !model_->end_scores.empty();
    return end_score(t, c) + (last ? model_->end_scores[static_cast<std::size_t>(c)] : 0);
  }

 private:
  double boundary(const HeadTable* head, const ScoreArray& scores, std::int64_t t, int c) const {
    const auto label = static_cast<std::size_t>(c);
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
