#include "learn/learn_fits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/counts.h"
#include "core/sizes.h"
#include "learn/em_start.h"

namespace semicrf {

namespace {

constexpr std::int64_t kMuch = 4;  // parts, from which on a part comes first

// The data that a fit begins with: stretches of all, or nothing where that saves no time or where all are
// needed: few bins may have a known label, and the grid of a preset sees a part by itself.
std::optional<TrainingData> first_part(const LearnOptions& options, const LearnData& data, int longest) {
  const TrainingData& all = data.inputs.training;
  if (all.positions() < kMuch * options.part || !data.known.empty() || options.most_copies) return {};
  return stretches_of(all, options.part, longest);
}

}  // namespace

FitResult fit_job(const LearnOptions& options, const LearnData& data, const LearnJob& job,
                  const EngineOptions& engine, EmState state, const FitWatcher& watcher) {
  const LawOptions shape = LearnShapes(options, data).law_options(job.labels);
  const SegmentLaw law(shape, job.labels);
  const EmOptions em{options.max_iterations, options.tolerance, options.emissions.frozen};
  const TrainingData& all = data.inputs.training;
  Emissions emissions(data.emissions, all);
  FitResult result;
  if (state.log_likelihood.empty()) {
    const std::optional<TrainingData> part = first_part(options, data, state.parameters.chain.max_duration);
    if (options.most_copies) {
      CopyNumberSearch found =
          search_copy_numbers(all, state.parameters, shape, data.emissions, options.emissions.frozen, engine);
      result.solutions = std::move(found.solutions);
      state = begun_from(found.best);
    } else if (!data.init) {
      EmStart start =
          choose_start(part ? *part : all, state.parameters, shape, data.emissions,
                       {job.labels, count_of(data.known), options.start, options.seed + job.restart}, engine);
      state.parameters = std::move(start.parameters);
      state.sizes = std::move(start.sizes);
      if (watcher.started) watcher.started(start.window);
    }
    if (part) {
      Emissions of_part(data.emissions, *part);
      const EmState fitted =
          fit_em(*part, {}, engine, em, law, of_part, std::move(state), {watcher.part, {}});
      result.part_iterations = fitted.iterations();
      state = begun_from(fitted);
    }
  }
  state = fit_em(all, data.inputs.validation, engine, em, law, emissions, std::move(state), watcher.all);
  result.free_parameters =
      law.free_parameters(em.frozen) + (em.frozen.emission ? 0 : emissions.free_parameters(state.parameters));
  result.state = std::move(state);
  return result;
}

LearnedFit learned_fit(const LearnJob& job, const EmState& state, int free_parameters,
                       std::int64_t positions) {
  LearnedFit fit;
  fit.labels = job.labels;
  fit.restart = job.restart;
  fit.iterations = state.iterations();
  fit.converged = state.converged;
  fit.parameters = free_parameters;
  fit.log_likelihood = state.log_likelihood;
  fit.validation = state.validation;
  fit.aic = 2 * fit.parameters - 2 * fit.log_likelihood.back();
  fit.bic = fit.parameters * std::log(positions) - 2 * fit.log_likelihood.back();
  fit.icl = fit.bic + 2 * state.entropy;
  fit.validation_entropy = state.validation_entropy;
  return fit;
}

bool is_better(const LearnedFit& a, const LearnedFit& b) {
  if (a.labels == b.labels) return a.log_likelihood.back() > b.log_likelihood.back();
  if (a.validation && b.validation)
    return *a.validation - *a.validation_entropy > *b.validation - *b.validation_entropy;
  return a.icl < b.icl;
}

Parameters sorted_by_bins(const Parameters& parameters, const std::vector<double>& bins, std::int64_t known) {
  const std::size_t labels = parameters.labels.size(), tracks = parameters.tracks.size();
  std::vector<std::size_t> order(labels);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin() + known, order.end(),
                   [&](std::size_t a, std::size_t b) { return bins[a] > bins[b]; });
  Parameters sorted = parameters;
  const ChainModel& from = parameters.chain;
  ChainModel& to = sorted.chain;
  // Densities stand in the order of the labels that have them, and their weights remain.
  const std::size_t densities = std::ranges::count_if(parameters.tracks, &Track::is_density);
  const std::size_t of_label = densities / labels, first = tracks - densities;
  for (std::size_t i = 0; i < labels; ++i) {
    const std::size_t c = order[i];
    to.start_scores[i] = from.start_scores[c];
    for (std::size_t f = 0; f < of_label; ++f)
      sorted.tracks[first + i * of_label + f].density = parameters.tracks[first + c * of_label + f].density;
    if (!to.end_scores.empty()) to.end_scores[i] = from.end_scores[c];
    for (std::size_t j = 0; j < labels; ++j)
      to.transition[i * labels + j] = from.transition[c * labels + order[j]];
    for (int k = 0; k < from.max_duration; ++k)
      to.duration_bias[k * labels + i] = from.duration_bias[k * labels + c];
    if (from.has_tail()) to.log_tail[i] = from.log_tail[c];
    if (densities > 0) continue;
    sorted.emission->bias[i] = parameters.emission->bias[c];
    std::copy_n(&parameters.emission->weights[c * tracks], tracks, &sorted.emission->weights[i * tracks]);
  }
  return sorted;
}

void set_duration_spec(Parameters& parameters) {
  parameters.duration = DurationSpec{};
  for (const double log_q : parameters.chain.log_tail)
    parameters.duration.tail.push_back(log_q == kNegativeInfinity ? 0 : std::exp(log_q));
}

}  // namespace semicrf
