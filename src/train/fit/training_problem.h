// What the optimisers minimise: the penalised mean negative log-likelihood as a function of coordinates.
#pragma once

#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "engine/options.h"
#include "train/data/training_data.h"
#include "train/fit/parameter_space.h"
#include "train/fit/penalties.h"
#include "train/objective/piece_sums.h"

namespace semicrf {

class TrainingProblem {
 public:
  // Everything must outlive the problem. `validation` may be empty. With a margin (objective.h), every NLL
  // here is that of the softmax margin. The problem is that of rank 0, if there are several.
  TrainingProblem(const TrainingData& training, const TrainingData& validation, const ParameterSpace& space,
                  const Penalties& penalties, const EngineOptions& engine, double margin = 0,
                  Ranks* ranks = nullptr);

  std::size_t size() const { return space_.size(); }
  std::int64_t positions() const { return positions_; }
  std::size_t num_pieces() const { return training_.pieces.size(); }
  std::int64_t piece_length(std::size_t i) const { return training_.pieces[i].length; }

  // (NLL + penalties) / positions over all training pieces, and its gradient. `nll` gets NLL / positions.
  double evaluate(std::span<const double> x, std::span<double> gradient, double& nll) const;
  // The objective over some pieces, all where empty: an estimate of evaluate(); penalties count in full.
  double evaluate_pieces(std::span<const std::size_t> pieces, std::span<const double> x,
                         std::span<double> gradient, double& nll) const;
  // NLL per position of the validation data; nullopt when there is none. Not from several threads.
  std::optional<double> validate(std::span<const double> x) const;

 private:
  double validation_nll(std::span<const double> x) const;
  void validate_beside(std::span<const double> x) const;

  const TrainingData& training_;
  const TrainingData& validation_;
  const ParameterSpace& space_;
  const Penalties& penalties_;
  PieceSums sums_;
  ObjectiveOptions objective_;
  std::int64_t positions_;
  // Data that leave most of a GPU idle are validated beside the evaluation at the same coordinates, which an
  // optimiser most often keeps.
  bool side_by_side_ = false;
  mutable std::vector<double> beside_at_;
  mutable std::future<double> beside_;
};

}  // namespace semicrf
