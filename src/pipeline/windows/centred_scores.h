// The scores of single positions as the engines see them: centred, with the scores of the sequence's ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/chain_model.h"
#include "core/score_window.h"

namespace semicrf {

// A view; model and scores must outlive it. Positions are those of the sequence and covered by the scores.
class CentredScores {
 public:
  CentredScores(const ChainModel& model, const ScoreWindow& scores) : model_(&model), scores_(&scores) {}

  // fbar[t,c]; -inf forbids.
  double emission(std::int64_t t, int c) const {
    const std::size_t row = row_of(t);
    double score = scores_->emissions.at(row * labels() + static_cast<std::size_t>(c));
    if (!scores_->baseline.empty()) score -= scores_->baseline[static_cast<std::size_t>(c)];
    if (scores_->subtract_position_max)
      score -= position_maximum(scores_->emissions, row * labels(), labels());
    return score;
  }
  // Pe[t,c], pi_end included at the last position.
  double end(std::int64_t t, int c) const {
    const auto label = static_cast<std::size_t>(c);
    double score = scores_->end_scores.empty() ? 0 : scores_->end_scores.at(row_of(t) * labels() + label);
    if (t == scores_->length - 1 && !model_->end_scores.empty()) score += model_->end_scores[label];
    return score;
  }

 private:
  std::size_t labels() const { return static_cast<std::size_t>(model_->num_labels); }
  std::size_t row_of(std::int64_t t) const { return static_cast<std::size_t>(t - scores_->begin); }

  const ChainModel* model_;
  const ScoreWindow* scores_;
};

}  // namespace semicrf
