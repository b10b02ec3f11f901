#include "learn/em_fit.h"

#include <chrono>
#include <cmath>

#include "train/objective/objective.h"

namespace semicrf {

EmState fit_em(const TrainingData& training, const TrainingData& validation, const EngineOptions& engine,
               const EmOptions& options, const SegmentLaw& law, Emissions& emissions, EmState state,
               const EmWatcher& watcher) {
  if (state.finished && !state.converged && state.iterations() < options.max_iterations) {
    // Its last E-step again, for the counts.
    state.log_likelihood.pop_back();
    state.finished = false;
  }
  if (!state.sizes.empty()) emissions.set_sizes(state.sizes);
  while (!state.finished) {
    const auto begin = std::chrono::steady_clock::now();
    ParameterGradient counts(state.parameters);
    const double log_z = log_evidence(training, state.parameters, engine, &counts);
    const double value = log_z + emissions.base_measure(emissions.values());
    state.converged =
        !state.log_likelihood.empty() &&
        value - state.log_likelihood.back() < options.tolerance * std::fabs(state.log_likelihood.back());
    state.log_likelihood.push_back(value);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (watcher.show) watcher.show({state.iterations(), value, seconds.count()});
    state.finished = state.converged || state.iterations() >= options.max_iterations;
    if (state.finished) {
      state.bins = counts.bias;
      if (!validation.pieces.empty())
        state.validation = log_evidence(validation, state.parameters, engine, nullptr) +
                           emissions.base_measure(ValueCounts(emissions.family(), validation));
    } else {
      law.maximize(counts, state.parameters.chain);
      emissions.maximize({counts.bias, counts.weights}, *state.parameters.emission);
      state.sizes = emissions.sizes();
    }
    if (watcher.save) watcher.save(state);
  }
  state.sizes = emissions.sizes();
  return state;
}

}  // namespace semicrf
