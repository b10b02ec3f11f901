// Derivatives by the weights and biases of the linear heads.
#pragma once

#include <span>

#include "engine/engine.h"
#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/objective/parameter_gradient.h"

namespace semicrf {

// Derivatives of something by the scores of a piece, (T, C) row-major each; null: not wanted.
struct ScoreDerivatives {
  const double* emissions = nullptr;
  const double* starts = nullptr;
  const double* ends = nullptr;
};

// Adds the derivatives by the heads' weights and biases: by weights[c][f] the sum over t of the derivative at
// (t, c) times feature f at t (less its mean over the sequence under `mean` centring). The boundary heads get
// the same sum for every offset of their window; bins outside the piece count as 0. Sums run in double over
// fixed stretches that are added in order: the result does not depend on `threads`.
void add_head_gradient(const Parameters& parameters, const TrainingPiece& piece,
                       const ScoreDerivatives& derivatives, int threads, ParameterGradient& gradient);

// The gradient in two parts. The first adds what the engine made of the posteriors of pieces with this mean
// of the features (not read but under `mean` centring).
void add_expected_features(const Parameters& parameters, const ExpectedFeatures& sums,
                           std::span<const double> feature_mean, ParameterGradient& gradient);
// Takes what the true segments of a piece make of it, without starts and ends that a cut hides. Which
// derivatives are wanted.
struct WantedHeads {
  bool emission = true, start = true, finish = true;
};
void take_true_features(const Parameters& parameters, const TrainingPiece& piece, const WantedHeads& wanted,
                        int threads, ParameterGradient& gradient);

}  // namespace semicrf
