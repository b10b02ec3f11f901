#include "learn/em_fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "learn/extrapolation.h"
#include "model/scores/densities.h"
#include "train/objective/objective.h"

namespace semicrf {

namespace {

constexpr int kPlain = 4;  // iterations before steps ahead are tried

// One E-step: expected counts and ln P of the training data.
struct Expectation {
  ParameterGradient counts;
  double log_likelihood = 0;
};

// The M-step, but for densities.
void maximize(const ParameterGradient& counts, const SegmentLaw& law, const FrozenParts& frozen,
              Emissions& emissions, EmState& state) {
  law.maximize(counts, state.parameters.chain, frozen);
  if (frozen.emission || emissions.densities() != nullptr) return;
  emissions.maximize({counts.bias, counts.weights}, *state.parameters.emission);
  state.sizes = emissions.sizes();
}

// ln P of the data. With `counts`, expected counts are added to them, and posteriors of densities set.
double log_likelihood_of(const TrainingData& data, const Parameters& parameters, const EngineOptions& engine,
                         const Emissions& emissions, const ValueCounts& values, ParameterGradient* counts,
                         PosteriorRows& posteriors) {
  const double base = emissions.base_measure(values);
  if (emissions.densities() == nullptr) return log_evidence(data, parameters, engine, counts) + base;
  const DensityScores scores(parameters);
  const DensityPass pass{scores, posteriors};
  return log_evidence(data, parameters, engine, counts, &pass) + base;
}

// What the plain M-step made, which a step ahead must beat.
struct PlainStep {
  Parameters parameters;
  std::vector<double> sizes;
};

}  // namespace

EmState fit_em(const TrainingData& training, const TrainingData& validation, const EngineOptions& engine,
               const EmOptions& options, const SegmentLaw& law, Emissions& emissions, EmState state,
               const EmWatcher& watcher) {
  if (state.finished && !state.converged && state.iterations() < options.max_iterations) {
    // Its last E-step again, for the counts.
    state.log_likelihood.pop_back();
    state.finished = false;
  }
  if (!state.sizes.empty()) emissions.set_sizes(state.sizes);
  PosteriorRows posteriors;
  DensityEmissions* const densities = emissions.densities();
  const auto expect = [&] {
    Expectation found{ParameterGradient(state.parameters)};
    found.log_likelihood = log_likelihood_of(training, state.parameters, engine, emissions,
                                             emissions.values(), &found.counts, posteriors);
    return found;
  };
  const auto gains_enough = [&](double value, double tolerance) {
    return value - state.log_likelihood.back() >= tolerance * std::fabs(state.log_likelihood.back());
  };
  std::optional<PlainStep> plain;  // where the parameters are a step ahead of it
  while (!state.finished) {
    const auto begin = std::chrono::steady_clock::now();
    Expectation found = expect();
    if (plain && !gains_enough(found.log_likelihood, std::max(0.0, options.tolerance))) {
      state.parameters = std::move(plain->parameters);
      state.sizes = std::move(plain->sizes);
      emissions.set_sizes(state.sizes);
      shorten_steps(state.ahead);
      found = expect();
    }
    plain.reset();
    const double value = found.log_likelihood;
    state.converged = !state.log_likelihood.empty() && !gains_enough(value, options.tolerance);
    state.log_likelihood.push_back(value);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (watcher.show) watcher.show({state.iterations(), value, seconds.count()});
    state.finished = state.converged || state.iterations() >= options.max_iterations;
    if (state.finished) {
      state.bins = found.counts.bias;
      if (!validation.pieces.empty())
        state.validation =
            log_likelihood_of(validation, state.parameters, engine, emissions,
                              ValueCounts(emissions.family(), validation), nullptr, posteriors);
    } else {
      maximize(found.counts, law, options.frozen, emissions, state);
      if (densities != nullptr) {
        densities->maximize(posteriors, state.parameters, engine.threads);
        state.sizes = emissions.sizes();
      }
      if (state.iterations() >= kPlain) {
        state.ahead.counts.push_back(std::move(found.counts));
        if (densities != nullptr) state.ahead.coordinates.push_back(densities->coordinates(state.parameters));
      }
      if (state.ahead.counts.size() == 3) {
        plain = {state.parameters, state.sizes};
        const PointAhead ahead = point_ahead(state.ahead);
        maximize(ahead.counts, law, options.frozen, emissions, state);
        if (densities != nullptr) densities->set_coordinates(ahead.coordinates, state.parameters);
      }
    }
    // A step ahead may be taken back: then the fit goes on from before the E-step that led to it.
    if (watcher.save && !plain) watcher.save(state);
  }
  state.sizes = emissions.sizes();
  return state;
}

}  // namespace semicrf
