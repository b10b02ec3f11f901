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
  return log_evidence(data, parameters, engine, counts,
                      emissions.densities() == nullptr ? nullptr : &posteriors) +
         emissions.base_measure(values);
}

double score_of(const std::vector<double>& counts, const std::vector<double>& scores) {
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > kNegativeInfinity) sum += counts[i] * scores[i];
  return sum;
}

// Entropy of the segmentations, given data with these expected counts and, of densities, posteriors: log Z
// less the expected score.
double entropy_of(const TrainingData& data, const Parameters& parameters, double log_z,
                  const ParameterGradient& counts, const PosteriorRows& posteriors, bool densities) {
  const ChainModel& chain = parameters.chain;
  double expected = score_of(counts.start, chain.start_scores) + score_of(counts.end, chain.end_scores) +
                    score_of(counts.transition, chain.transition) +
                    score_of(counts.duration, chain.duration_bias) + score_of(counts.tail, chain.log_tail);
  if (!densities) {
    expected += score_of(counts.weights, parameters.emission->weights) +
                score_of(counts.bias, parameters.emission->bias);
    return std::max(0.0, log_z - expected);
  }
  const DensityScores scores(parameters);
  const std::size_t labels = parameters.labels.size();
  std::vector<double> features, row(labels);
  for (std::size_t p = 0; p < posteriors.size(); ++p)
    for (std::size_t t = 0; t * labels < posteriors[p].size(); ++t) {
      scores.score(data.pieces[p].features.data() + t * scores.inputs(), features, row.data());
      for (std::size_t c = 0; c < labels; ++c) expected += posteriors[p][t * labels + c] * row[c];
    }
  return std::max(0.0, log_z - expected);
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
      const bool of_densities = densities != nullptr;
      state.entropy =
          entropy_of(training, state.parameters, value - emissions.base_measure(emissions.values()),
                     found.counts, posteriors, of_densities);
      if (!validation.pieces.empty()) {
        const ValueCounts values(emissions.family(), validation);
        ParameterGradient counts(state.parameters);
        PosteriorRows held_out;
        state.validation =
            log_likelihood_of(validation, state.parameters, engine, emissions, values, &counts, held_out);
        state.validation_entropy =
            entropy_of(validation, state.parameters, *state.validation - emissions.base_measure(values),
                       counts, held_out, of_densities);
      }
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
