// What the optimisers minimise: the penalised mean negative log-likelihood as a function of coordinates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/options.h"
#include "train/data/training_data.h"
#include "train/fit/parameter_space.h"
#include "train/fit/penalties.h"
#include "train/objective/objective.h"

namespace semicrf {

class TrainingProblem {
 public:
  // Everything must outlive the problem. `validation` may be empty. With a margin (objective.h), every NLL
  // here is that of the softmax margin.
  TrainingProblem(const TrainingData& training, const TrainingData& validation, const ParameterSpace& space,
                  const Penalties& penalties, const EngineOptions& engine, double margin = 0);

  std::size_t size() const { return space_.size(); }
  std::int64_t positions() const { return positions_; }
  std::size_t num_pieces() const { return training_.pieces.size(); }
  std::int64_t piece_length(std::size_t i) const { return training_.pieces[i].length; }

  // (NLL + penalties) / positions over all training pieces, and its gradient. `nll` gets NLL / positions.
  double evaluate(std::span<const double> x, std::span<double> gradient, double& nll) const;
  // The same over some pieces: an estimate of the above; penalties count in full.
  double evaluate_pieces(std::span<const std::size_t> pieces, std::span<const double> x,
                         std::span<double> gradient, double& nll) const;
  // NLL per position of the validation data; nullopt when there is none.
  std::optional<double> validate(std::span<const double> x) const;

 private:
  const TrainingData& training_;
  const TrainingData& validation_;
  const ParameterSpace& space_;
  const Penalties& penalties_;
  EngineOptions engine_;
  ObjectiveOptions objective_;
  std::int64_t positions_;
  std::vector<std::size_t> all_, all_validation_;  // indices of the pieces
};

}  // namespace semicrf
