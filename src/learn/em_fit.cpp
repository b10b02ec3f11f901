#include "learn/em_fit.h"

#include <chrono>
#include <cmath>

#include "train/objective/objective.h"

namespace semicrf {
EmResult fit_em(const TrainingData& training, const TrainingData& validation, const EngineOptions& engine,
                const EmOptions& options, const SegmentLaw& law, Emissions& emissions, Parameters first,
                const std::function<void(const EmIteration&)>& show) {
  EmResult result;
  result.parameters = std::move(first);
  for (int iteration = 0;; ++iteration) {
    const auto begin = std::chrono::steady_clock::now();
    ParameterGradient counts(result.parameters);
    const double log_z = log_evidence(training, result.parameters, engine, &counts);
    const double value = log_z + emissions.base_measure(emissions.values());
    const bool small_step = iteration > 0 && value - result.log_likelihood.back() <
                                                 options.tolerance * std::fabs(result.log_likelihood.back());
    result.log_likelihood.push_back(value);
    result.bins = counts.bias;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (show) show({iteration, value, std::nullopt, seconds.count()});
    result.converged = small_step;
    if (small_step || iteration == options.max_iterations) break;
    law.maximize(counts, result.parameters.chain);
    emissions.maximize({counts.bias, counts.weights}, *result.parameters.emission);
  }
  if (!validation.pieces.empty())
    result.validation = log_evidence(validation, result.parameters, engine, nullptr) +
                        emissions.base_measure(ValueCounts(validation));
  return result;
}

}  // namespace semicrf
