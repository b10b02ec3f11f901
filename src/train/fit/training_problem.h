// What the optimisers minimise: the penalised mean negative log-likelihood as a function of coordinates.
#pragma once

#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "engine/options.h"
#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/fit/parameter_space.h"
#include "train/objective/parameter_gradient.h"
#include "train/objective/piece_sums.h"
#include "train/train_options.h"

namespace semicrf {

// What is added to the total negative log-likelihood to keep the parameters small and the durations smooth.
class Penalties {
 public:
  // `first` are the parameters the training starts from; start and end scores are drawn to theirs, and so
  // are, of `families` (emission_space.h), weights and the numbers of densities.
  Penalties(const PenaltyOptions& options, const Parameters& first, bool families = false);

  // 1/2 l2 |weights|^2, of families |weights - first weights|^2 and squares of what the coordinates of
  // densities changed by, in units of penalty_unit + 1/2 l2_boundary |boundary weights|^2
  // + 1/2 l2_transition (|finite transitions|^2 + |start - first start|^2 + |end - first end|^2)
  // + 1/2 smoothness sum over labels and inner durations k of k^3 (B[k+1] - 2 B[k] + B[k-1])^2,
  // the last for tables only and where the three scores are finite;
  // + smoothness sum over labels with a tail of their own of -(m log q + log(1 - q)), m the mean excess of
  // the first q: as if one more segment had been seen there. Biases and the parameters of formulas are free.
  // The derivatives are added to `gradient` unless it is null.
  double value(const Parameters& parameters, ParameterGradient* gradient) const;

 private:
  PenaltyOptions options_;
  std::vector<double> start_, end_;
  std::vector<double> tail_;        // (C) q of the first parameters, or empty
  std::vector<double> weights_;     // where families are learned, else empty
  std::vector<Density> densities_;  // like weights_
};

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
