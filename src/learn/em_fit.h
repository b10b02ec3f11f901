// Expectation maximization: exact E-steps by the engine, M-steps in closed form (docs/learning.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/options.h"
#include "learn/emissions.h"
#include "learn/segment_law.h"
#include "model/parameters.h"
#include "train/data/training_data.h"

namespace semicrf {

struct EmIteration {
  int iteration = 0;  // 0: the start
  double log_likelihood = 0;
  std::optional<double> validation;  // of the validation data, after the iterations only
  double seconds = 0;
};

struct EmOptions {
  int max_iterations = 200;
  double tolerance = 1e-6;  // relative increase in one iteration
};

struct EmResult {
  Parameters parameters;               // those of the last log likelihood
  std::vector<double> log_likelihood;  // ln P(tracks) of the training data, before each M-step and at the end
  std::optional<double> validation;    // of the validation data
  std::vector<double> bins;            // (C) expected bins of each label in the training data
  bool converged = false;
  int iterations() const { return static_cast<int>(log_likelihood.size()) - 1; }
};

// Fits from `first`, which has the features' tracks. Data hold features; their segments are not read.
// `emissions` goes along with the fit. InputError where the tracks have no finite likelihood.
EmResult fit_em(const TrainingData& training, const TrainingData& validation, const EngineOptions& engine,
                const EmOptions& options, const SegmentLaw& law, Emissions& emissions, Parameters first,
                const std::function<void(const EmIteration&)>& show);

}  // namespace semicrf
