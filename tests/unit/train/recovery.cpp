#include "unit/train/recovery.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>

#include "analyses/draws/segment_sampler.h"
#include "engine/options.h"
#include "support/truth/standard_errors.h"
#include "train/fit/lbfgs_fit.h"
#include "train/fit/training_problem.h"
#include "unit/train/train_fixture.h"

namespace semicrf::test {
namespace {

Parameters true_parameters(const RecoveryCase& sample, std::mt19937_64& random) {
  ModelShape shape;
  shape.labels = sample.labels;
  shape.tracks = sample.tracks;
  shape.max_duration = sample.max_duration;
  shape.initial = InitialTerm::kUniform;
  Parameters parameters = random_parameters(shape, random);
  ChainModel& chain = parameters.chain;
  const auto labels = static_cast<std::size_t>(sample.labels);
  parameters.emission->bias.assign(labels, 0.0);
  chain.start_scores.assign(labels, 0.0);
  chain.end_scores.assign(labels, 0.0);
  // Durations that peak, and a price for every segment, so that each duration is seen.
  for (std::size_t i = 0; i < chain.duration_bias.size(); ++i) {
    const std::size_t row = i / labels;
    const double k = static_cast<double>(row + 1);
    const double peak = 0.4 * sample.max_duration + 2.0 * static_cast<double>(i % labels);
    chain.duration_bias[i] += 0.3 * std::min(k, peak) - 3;
  }
  return parameters;
}

TrainingData simulate(const RecoveryCase& sample, const Parameters& parameters,
                      const EngineOptions& engine_options, std::mt19937_64& random) {
  const auto labels = static_cast<std::size_t>(sample.labels);
  const auto tracks = static_cast<std::size_t>(sample.tracks);
  const auto length = static_cast<std::size_t>(sample.length);
  TrainingPiece piece;
  piece.length = piece.location.limit = sample.length;
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < length * tracks; ++i) piece.features.push_back(normal(random));
  std::vector<double> scores(length * labels, 0.0);
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t f = 0; f < tracks; ++f)
      scores[i] += parameters.emission->weights[i % labels * tracks + f] *
                   static_cast<double>(piece.features[i / labels * tracks + f]);
  ScoreWindow whole;
  whole.end = whole.length = sample.length;
  whole.emissions.f64 = scores.data();
  MemoryScoreSource source(whole, sample.labels);
  const std::unique_ptr<Engine> engine = make_engine(engine_options, parameters.chain);
  const WindowPlan plan = plan_windows(sample.length, engine->grid(sample.length),
                                       draw_needs(*engine, source), std::size_t{1} << 30);
  DrawRequest request;
  request.key = sample.seed;
  const DrawResult drawn = draw_segmentations(*engine, source, plan, {}, request);
  SegmentList::Reader reader(drawn.draws.front().segments);
  Segment segment;
  while (reader.next(segment)) {
    piece.segments.push_back(segment);
    piece.lines.push_back(static_cast<std::int64_t>(piece.segments.size()));
  }
  TrainingData data;
  data.num_labels = sample.labels;
  data.num_tracks = sample.tracks;
  data.pieces.push_back(std::move(piece));
  return data;
}

// Takes the least-squares slope over k out of all durations; `seen` (K, C) are the weights.
void level_durations(const std::vector<double>& seen, std::size_t labels, std::vector<double>& bias) {
  double count = 0, first = 0, second = 0, sum = 0, product = 0;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const std::size_t row = i / labels;
    const auto k = static_cast<double>(row);
    count += seen[i];
    first += seen[i] * k;
    second += seen[i] * k * k;
    sum += seen[i] * bias[i];
    product += seen[i] * k * bias[i];
  }
  const double slope = (count * product - first * sum) / (count * second - first * first);
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const std::size_t k = i / labels + 1;
    bias[i] -= slope * static_cast<double>(k);
  }
}

// Weights, transitions, durations in the fixed gauge.
std::vector<double> in_gauge(const std::vector<double>& seen, Parameters parameters) {
  ChainModel& chain = parameters.chain;
  const auto labels = static_cast<std::size_t>(chain.num_labels);
  const auto tracks = parameters.tracks.size();
  const double count = static_cast<double>(labels);
  std::vector<double> row(labels, 0.0), column(labels, 0.0);
  double all = 0;
  for (std::size_t i = 0; i < labels * labels; ++i) {
    row[i / labels] += chain.transition[i] / count;
    column[i % labels] += chain.transition[i] / count;
    all += chain.transition[i] / (count * count);
  }
  std::vector<double> moved(labels);  // from the transitions to the durations
  for (std::size_t c = 0; c < labels; ++c) moved[c] = row[c] + column[c] - all;
  for (std::size_t i = 0; i < labels * labels; ++i)
    chain.transition[i] -= row[i / labels] + column[i % labels] - all;
  for (std::size_t to = 0; to < labels; ++to) {
    double sum = 0;
    for (std::size_t from = 0; from < labels; ++from) sum += std::exp(chain.transition[from * labels + to]);
    for (std::size_t from = 0; from < labels; ++from) chain.transition[from * labels + to] -= std::log(sum);
    moved[to] += std::log(sum);
  }
  for (std::size_t i = 0; i < chain.duration_bias.size(); ++i) chain.duration_bias[i] += moved[i % labels];
  level_durations(seen, labels, chain.duration_bias);
  std::vector<double>& weights = parameters.emission->weights;
  for (std::size_t f = 0; f < tracks; ++f) {
    double mean = 0;
    for (std::size_t c = 0; c < labels; ++c) mean += weights[c * tracks + f] / count;
    for (std::size_t c = 0; c < labels; ++c) weights[c * tracks + f] -= mean;
  }
  std::vector<double> numbers = weights;
  numbers.insert(numbers.end(), chain.transition.begin(), chain.transition.end());
  numbers.insert(numbers.end(), chain.duration_bias.begin(), chain.duration_bias.end());
  return numbers;
}

// Weights, transitions and durations as they are: the coordinates of the information.
std::vector<std::vector<double>*> parts_of(Parameters& parameters) {
  return {&parameters.emission->weights, &parameters.chain.transition, &parameters.chain.duration_bias};
}

// Rows: derivatives of the function's values by one number of the parameters each, by differences to the
// right: for standard errors a few digits are enough.
Matrix derivatives(const std::function<std::vector<double>(const Parameters&)>& function, Parameters at) {
  constexpr double kStep = 1e-4;
  const std::vector<double> here = function(at);
  Matrix rows;
  for (std::vector<double>* part : parts_of(at)) {
    for (double& number : *part) {
      const double middle = number;
      number = middle + kStep;
      std::vector<double> right = function(at);
      number = middle;
      for (std::size_t i = 0; i < right.size(); ++i) right[i] = (right[i] - here[i]) / kStep;
      rows.push_back(std::move(right));
    }
  }
  return rows;
}

}  // namespace

Recovery recover(const RecoveryCase& sample, const EngineOptions& engine) {
  std::mt19937_64 random(sample.seed);
  const Parameters truth = true_parameters(sample, random);
  const TrainingData data = simulate(sample, truth, engine, random);
  const PathCounts counts = count_paths(data);
  const auto labels = static_cast<std::size_t>(sample.labels);
  std::vector<double> seen(truth.chain.duration_bias.size(), 0.0);
  for (std::size_t c = 0; c < labels; ++c)
    for (const std::int64_t k : counts.durations[c]) seen[static_cast<std::size_t>(k - 1) * labels + c] += 1;

  // Start from nothing known.
  Parameters first = truth;
  std::fill(first.emission->weights.begin(), first.emission->weights.end(), 0.0);
  std::fill(first.chain.transition.begin(), first.chain.transition.end(), 0.0);
  std::fill(first.chain.duration_bias.begin(), first.chain.duration_bias.end(), 0.0);
  const PenaltyOptions none{0, 0, 0, 0};
  const ParameterSpace space(first, {ParameterPart::kBias, ParameterPart::kStart, ParameterPart::kEnd},
                             counts, none);
  const Penalties penalties(none, first);
  const TrainingData no_validation;
  const TrainingProblem problem(data, no_validation, space, penalties, engine);
  FitState state;
  state.x = space.pack(first);
  fit_lbfgs(problem, {300, 1e-9, 20}, {}, {}, state);

  Recovery recovery;
  recovery.iterations = state.iteration;
  std::vector<double> unused(space.size());
  problem.evaluate(state.x, unused, recovery.nll_of_fit);
  problem.evaluate(space.pack(truth), unused, recovery.nll_of_truth);
  recovery.truth = in_gauge(seen, truth);
  recovery.found = in_gauge(seen, space.unpack(state.x));
  recovery.seen.assign(labels * (static_cast<std::size_t>(sample.tracks) + labels), sample.length);
  for (const double count : seen) recovery.seen.push_back(static_cast<std::int64_t>(count));
  const std::vector<std::size_t> pieces{0};
  const auto gradient = [&](const Parameters& parameters) {
    ParameterGradient by(parameters);
    negative_log_likelihood(data, pieces, parameters, engine, {}, &by);
    std::vector<double> values = by.weights;
    values.insert(values.end(), by.transition.begin(), by.transition.end());
    values.insert(values.end(), by.duration.begin(), by.duration.end());
    return values;
  };
  const auto numbers = [&](const Parameters& parameters) { return in_gauge(seen, parameters); };
  const Parameters fit = space.unpack(state.x);
  recovery.error =
      standard_errors(derivatives(gradient, fit), derivatives(numbers, fit), recovery.free_dimensions);
  return recovery;
}

double simultaneous_quantile(double probability, std::size_t count) {
  const double outside = (1 - probability) / static_cast<double>(count);
  double low = 0, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > outside ? low : high) = middle;
  }
  return low;
}

}  // namespace semicrf::test
