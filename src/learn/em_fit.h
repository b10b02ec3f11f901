// Expectation maximization, for these models the Baum-Welch algorithm: exact E-steps by the engine, M-steps
// in closed form or, for densities, by Newton's method with a line search (docs/fitting.md). From the fourth
// iteration on, every third is a step ahead (extrapolation.h), which is taken back where the likelihood gains
// less than the tolerance by it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/options.h"
#include "learn/extrapolation.h"
#include "learn/segment_law.h"
#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/emissions/emissions.h"

namespace semicrf {

struct EmIteration {
  int iteration = 0;  // 0: the start
  double log_likelihood = 0;
  double seconds = 0;
};

struct EmOptions {
  int max_iterations = 200;
  double tolerance = 1e-6;  // relative increase in one iteration
  FrozenParts frozen = {};
};

// A fit before an E-step, or at its end. It begins with `parameters` alone.
struct EmState {
  Parameters parameters;               // at the end: those of the last log likelihood
  std::vector<double> sizes;           // Emissions::sizes(); empty: as `emissions` begins
  std::vector<double> log_likelihood;  // ln P(tracks) of the training data, before each M-step and at the end
  std::optional<double> validation;    // for the validation data, at the end
  double entropy = 0;                  // nats, of the segmentations of the training data given it, at the end
  std::optional<double> validation_entropy;
  std::vector<double> bins;  // (C) expected bins of each label in the training data, at the end
  AheadState ahead;
  bool finished = false, converged = false;

  int iterations() const { return static_cast<int>(log_likelihood.size()) - 1; }
};

// A fit that begins with the parameters of another one, which may be of other data.
inline EmState begun_from(const EmState& other) {
  EmState state;
  state.parameters = other.parameters;
  state.sizes = other.sizes;
  return state;
}

struct EmWatcher {
  std::function<void(const EmIteration&)> show;
  // Called before every E-step but the first and those of steps ahead, and at the end. A fit that goes on
  // from there has the same bytes as one without a stop.
  std::function<void(const EmState&)> save;
};

// Goes on from `state`, whose parameters have the features' tracks; where it ended for want of iterations and
// `options` has more, from there. Data hold features; their segments are not read. `emissions` goes along
// with the fit. InputError where the tracks have no finite likelihood.
EmState fit_em(const TrainingData& training, const TrainingData& validation, const EngineOptions& engine,
               const EmOptions& options, const SegmentLaw& law, Emissions& emissions, EmState state,
               const EmWatcher& watcher);

}  // namespace semicrf
