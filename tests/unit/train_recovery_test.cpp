// Parameters come back from data that were simulated with known ones.
//
// What the likelihood tells are differences. These moves change no probability, but for the two segments at
// the ends of a piece:
//   a number from all durations of a label to the column or the row of the transitions that belongs to it;
//   the same weights added for every label;
//   a slope from the durations of a label to its emission bias;
//   one slope added to the durations of every label, because all durations add up to the length.
// The comparison fixes them: rows and columns of the transitions have mean 0, so have the weights of every
// track over the labels; the emission has no bias; and the durations, each counted as often as it was seen,
// have no slope.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pipeline/segment_sampler.h"
#include "support/catch.h"
#include "train/lbfgs_fit.h"
#include "unit/train_fixture.h"

namespace semicrf {
namespace {

constexpr int kLabels = 4;
constexpr int kLongest = 20;
constexpr std::size_t kTracks = 2;
constexpr std::int64_t kLength = 30000;
constexpr std::uint64_t kSeed = 31;

Parameters true_parameters(std::mt19937_64& random) {
  test::ModelShape shape;
  shape.labels = kLabels;
  shape.tracks = static_cast<int>(kTracks);
  shape.max_duration = kLongest;
  shape.initial = InitialTerm::kUniform;
  Parameters parameters = test::random_parameters(shape, random);
  ChainModel& chain = parameters.chain;
  parameters.emission->bias.assign(kLabels, 0.0);
  chain.start_scores.assign(kLabels, 0.0);
  chain.end_scores.assign(kLabels, 0.0);
  // Durations that peak, so that there are not too many boundaries.
  for (int k = 1; k <= kLongest; ++k)
    for (int c = 0; c < kLabels; ++c)
      chain.duration_bias[static_cast<std::size_t>((k - 1) * kLabels + c)] += 0.3 * std::min(k, 8 + 2 * c);
  return parameters;
}

// Takes the least-squares slope over k out of all durations; `seen` (K, C) are the weights.
void level_durations(const std::vector<double>& seen, std::vector<double>& bias) {
  double count = 0, first = 0, second = 0, sum = 0, product = 0;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    if (seen[i] == 0) continue;
    const double k = static_cast<double>(i / kLabels);
    count += seen[i];
    first += seen[i] * k;
    second += seen[i] * k * k;
    sum += seen[i] * bias[i];
    product += seen[i] * k * bias[i];
  }
  const double slope = (count * product - first * sum) / (count * second - first * first);
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] -= slope * static_cast<double>(i / kLabels + 1);
}

void fix_gauge(const std::vector<double>& seen, Parameters& parameters) {
  ChainModel& chain = parameters.chain;
  std::vector<double> row(kLabels, 0.0), column(kLabels, 0.0);
  double all = 0;
  for (std::size_t i = 0; i < kLabels; ++i)
    for (std::size_t j = 0; j < kLabels; ++j) {
      const double share = chain.transition[i * kLabels + j] / kLabels;
      row[i] += share;
      column[j] += share;
      all += share / kLabels;
    }
  for (std::size_t i = 0; i < kLabels; ++i) {
    for (std::size_t j = 0; j < kLabels; ++j) chain.transition[i * kLabels + j] -= row[i] + column[j] - all;
    for (std::size_t k = 0; k < kLongest; ++k)
      chain.duration_bias[k * kLabels + i] += row[i] + column[i] - all;
  }
  level_durations(seen, chain.duration_bias);
  std::vector<double>& weights = parameters.emission->weights;
  for (std::size_t f = 0; f < kTracks; ++f) {
    double mean = 0;
    for (std::size_t c = 0; c < kLabels; ++c) mean += weights[c * kTracks + f] / kLabels;
    for (std::size_t c = 0; c < kLabels; ++c) weights[c * kTracks + f] -= mean;
  }
}

TrainingData simulate(const Parameters& parameters, const EngineOptions& engine_options,
                      std::mt19937_64& random) {
  TrainingPiece piece;
  piece.length = kLength;
  piece.location.limit = kLength;
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kLength) * kTracks; ++i)
    piece.features.push_back(normal(random));
  std::vector<double> scores(static_cast<std::size_t>(kLength) * kLabels, 0.0);
  for (std::size_t t = 0; t < static_cast<std::size_t>(kLength); ++t)
    for (std::size_t c = 0; c < kLabels; ++c)
      for (std::size_t f = 0; f < kTracks; ++f)
        scores[t * kLabels + c] += parameters.emission->weights[c * kTracks + f] *
                                   static_cast<double>(piece.features[t * kTracks + f]);
  ScoreWindow whole;
  whole.end = whole.length = kLength;
  whole.emissions.f64 = scores.data();
  MemoryScoreSource source(whole, kLabels);
  const std::unique_ptr<Engine> engine = make_engine(engine_options, parameters.chain);
  const WindowPlan plan = plan_windows(kLength, engine->grid(), draw_needs(*engine, source), 1U << 30);
  DrawRequest request;
  request.key = kSeed;
  const DrawResult drawn = draw_segmentations(*engine, source, plan, request);
  SegmentList::Reader reader(drawn.draws.front().segments);
  Segment segment;
  while (reader.next(segment)) {
    piece.segments.push_back(segment);
    piece.lines.push_back(static_cast<std::int64_t>(piece.segments.size()));
  }
  TrainingData data;
  data.num_labels = kLabels;
  data.num_tracks = static_cast<int>(kTracks);
  data.pieces.push_back(std::move(piece));
  return data;
}

}  // namespace

TEST_CASE("known parameters are recovered from simulated data", "[train]") {
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  Parameters truth = true_parameters(random);
  EngineOptions engine;
  engine.precision = Precision::kDouble;
  const TrainingData data = simulate(truth, engine, random);
  const PathCounts counts = count_paths(data);
  std::vector<double> seen(kLongest * kLabels, 0.0);
  for (std::size_t c = 0; c < kLabels; ++c)
    for (const std::int64_t k : counts.durations[c]) seen[static_cast<std::size_t>(k - 1) * kLabels + c] += 1;

  // Start from nothing known.
  Parameters first = truth;
  std::fill(first.emission->weights.begin(), first.emission->weights.end(), 0.0);
  std::fill(first.chain.transition.begin(), first.chain.transition.end(), 0.0);
  std::fill(first.chain.duration_bias.begin(), first.chain.duration_bias.end(), 0.0);
  const PenaltyOptions none{0, 0, 0, 0};
  const ParameterSpace space(first, {Part::kBias, Part::kStart, Part::kEnd}, counts, none);
  const Penalties penalties(none, first);
  TrainingData no_validation;
  const TrainingProblem problem(data, no_validation, space, penalties, engine);
  FitState state;
  state.x = space.pack(first);
  fit_lbfgs(problem, {300, 1e-9, 20}, {}, {}, state);
  Parameters found = space.unpack(state.x);

  std::vector<double> unused(space.size());
  double nll_of_fit = 0, nll_of_truth = 0;
  problem.evaluate(state.x, unused, nll_of_fit);
  problem.evaluate(space.pack(truth), unused, nll_of_truth);
  CHECK(nll_of_fit <= nll_of_truth);
  // Twice the difference is about chi-squared with as many degrees of freedom as there are parameters.
  const double degrees = (kLabels - 1) * kTracks + (kLabels - 1) * (kLabels - 1) + kLabels * kLongest;
  CHECK(2 * (nll_of_truth - nll_of_fit) * kLength < degrees + 5 * std::sqrt(2 * degrees));

  fix_gauge(seen, found);
  fix_gauge(seen, truth);
  // Standard errors fall with the square root of what was counted; 4.5 of them hold for all at once. A bin
  // says less about a weight than a bin of known neighbours would: 3 for that.
  for (std::size_t i = 0; i < truth.emission->weights.size(); ++i)
    CHECK(std::fabs(found.emission->weights[i] - truth.emission->weights[i]) <
          4.5 * 3 / std::sqrt(counts.positions[i / kTracks]));
  for (std::size_t i = 0; i < truth.chain.transition.size(); ++i)
    CHECK(std::fabs(found.chain.transition[i] - truth.chain.transition[i]) <
          4.5 * 2 / std::sqrt(counts.transition[i]));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] < 10) continue;  // hardly a normal distribution
    CHECK(std::fabs(found.chain.duration_bias[i] - truth.chain.duration_bias[i]) <
          4.5 * 2 / std::sqrt(seen[i]));
  }
}

}  // namespace semicrf
