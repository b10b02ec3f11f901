// Pieces cut at random out of long chains: durations come back where the cuts are learned as such, and are
// too short where the visible parts of segments are taken for whole ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "model/durations/duration.h"
#include "support/catch.h"
#include "train/fit/lbfgs_fit.h"
#include "train/fit/training_problem.h"
#include "unit/train/recovery.h"
#include "unit/train/train_fixture.h"

namespace semicrf {
namespace {

constexpr int kLabels = 4;
constexpr std::array<double, kLabels> kMeans{20, 50, 100, 200};
// Little, so that the labels of a piece say much about the durations that its tracks do not.
constexpr double kSignal = 0.2;

// Negative binomial durations, every other label equally likely after each, and tracks of which each is N(1,
// 1) in its own label and N(0, 1) elsewhere. A start score of 0 is right for pieces cut at random: a label
// covers their first position as often as its mean duration says, which is the sum of its survival.
Parameters true_parameters() {
  Parameters parameters;
  ChainModel& chain = parameters.chain;
  chain.num_labels = kLabels;
  chain.max_duration = 700;
  chain.initial = InitialTerm::kNone;
  parameters.centering = Centering::kNone;
  parameters.edges = EdgeRule::kCensored;
  parameters.emission = EmissionHead{std::vector<double>(std::size_t{kLabels} * kLabels, 0.0),
                                     std::vector<double>(kLabels, 0.0)};
  parameters.duration.kind = find_duration_kind("negative_binomial");
  chain.transition.assign(std::size_t{kLabels} * kLabels, -std::log(kLabels - 1.0));
  for (int c = 0; c < kLabels; ++c) {
    const auto label = static_cast<std::size_t>(c);
    parameters.labels.push_back({test::numbered("label", c), std::nullopt});
    parameters.tracks.push_back({.name = test::numbered("track", c)});
    parameters.emission->weights[label * (kLabels + 1)] = kSignal;
    parameters.emission->bias[label] = -kSignal * kSignal / 2;
    chain.transition[label * (kLabels + 1)] = kNegativeInfinity;
    constexpr double kShape = 3;  // durations are 1 + a number of mean r (1-p) / p
    parameters.duration.values.push_back({kShape, kShape / (kShape + kMeans[label] - 1)});
  }
  chain.start_scores.assign(kLabels, 0.0);
  chain.end_scores.assign(kLabels, 0.0);
  chain.duration_bias = duration_table(parameters.duration, chain.max_duration, kLabels);
  return parameters;
}

TrainingPiece random_piece(const ChainModel& chain, std::mt19937_64& random) {
  std::vector<std::discrete_distribution<int>> durations;
  for (int c = 0; c < kLabels; ++c) {
    std::vector<double> weights;
    for (int k = 1; k <= chain.max_duration; ++k) weights.push_back(std::exp(chain.duration_score(k, c)));
    durations.emplace_back(weights.begin(), weights.end());
  }
  TrainingPiece piece;
  piece.length = std::uniform_int_distribution<std::int64_t>(50, 500)(random);
  piece.location.chromosome = "chrA";
  piece.cut = {true, true};
  // From so far to the left that nothing of where it began is left.
  std::int64_t t = -6000 + std::uniform_int_distribution<std::int64_t>(0, 999)(random);
  int label = 0;
  while (t < piece.length) {
    const std::int64_t end = t + 1 + durations[static_cast<std::size_t>(label)](random);
    if (end > 0) {
      piece.segments.push_back({std::max<std::int64_t>(t, 0), std::min(end, piece.length), label});
      piece.lines.push_back(static_cast<std::int64_t>(piece.lines.size()) + 1);
    }
    t = end;
    label = (label + 1 + std::uniform_int_distribution<int>(0, kLabels - 2)(random)) % kLabels;
  }
  std::normal_distribution<float> normal;
  for (const Segment& segment : piece.segments)
    for (std::int64_t i = segment.begin; i < segment.end; ++i)
      for (int f = 0; f < kLabels; ++f)
        piece.features.push_back(normal(random) + (f == segment.label ? static_cast<float>(kSignal) : 0));
  return piece;
}

std::vector<double> mean_durations(const Parameters& parameters) {
  std::vector<double> means;
  for (int c = 0; c < kLabels; ++c) means.push_back(summarize_durations(parameters.chain, c).mean);
  return means;
}

// Solves matrix * x = right; the matrix is symmetric and positive definite.
std::vector<double> solved(std::vector<std::vector<double>> matrix, std::vector<double> right) {
  const std::size_t n = right.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t row = i + 1; row < n; ++row) {
      const double factor = matrix[row][i] / matrix[i][i];
      for (std::size_t j = i; j < n; ++j) matrix[row][j] -= factor * matrix[i][j];
      right[row] -= factor * right[i];
    }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) right[i] -= matrix[i][j] * right[j];
    right[i] /= matrix[i][i];
  }
  return right;
}

struct Fit {
  std::vector<double> means, errors;  // of durations, and their standard errors by the observed information
};

Fit fit_durations(const TrainingData& data, const Parameters& first, const EngineOptions& engine) {
  const PenaltyOptions none{0, 0, 0, 0};
  const ParameterSpace space(first,
                             {ParameterPart::kWeights, ParameterPart::kBias, ParameterPart::kTransition,
                              ParameterPart::kStart, ParameterPart::kEnd},
                             count_paths(data), none);
  const Penalties penalties(none, first);
  const TrainingData no_validation;
  const TrainingProblem problem(data, no_validation, space, penalties, engine);
  FitState state;
  state.x = space.pack(first);
  fit_lbfgs(problem, {200, 1e-10, 20}, {}, {}, state);
  Fit fit;
  fit.means = mean_durations(space.unpack(state.x));
  const std::size_t n = state.x.size();
  std::vector<std::vector<double>> information(n), by_coordinate(n);
  for (std::size_t i = 0; i < n; ++i) {
    constexpr double kStep = 1e-3;
    std::vector<double> x = state.x, right(n), left(n);
    double nll = 0;
    x[i] += kStep;
    problem.evaluate(x, right, nll);
    by_coordinate[i] = mean_durations(space.unpack(x));
    x[i] -= 2 * kStep;
    problem.evaluate(x, left, nll);
    const std::vector<double> lower = mean_durations(space.unpack(x));
    for (std::size_t c = 0; c < kLabels; ++c)
      by_coordinate[i][c] = (by_coordinate[i][c] - lower[c]) / (2 * kStep);
    for (std::size_t j = 0; j < n; ++j)
      information[i].push_back((right[j] - left[j]) / (2 * kStep) * static_cast<double>(problem.positions()));
  }
  for (std::size_t c = 0; c < kLabels; ++c) {
    std::vector<double> slope;
    for (std::size_t i = 0; i < n; ++i) slope.push_back(by_coordinate[i][c]);
    const std::vector<double> solution = solved(information, slope);
    fit.errors.push_back(std::sqrt(std::inner_product(slope.begin(), slope.end(), solution.begin(), 0.0)));
  }
  return fit;
}

// `biased`: so many standard errors is the fit that takes the cuts for ends off for some label.
void check_durations_of_cut_pieces(int pieces, std::uint64_t seed, double biased) {
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const Parameters truth = true_parameters();
  TrainingData data;
  data.num_labels = data.num_tracks = kLabels;
  for (int i = 0; i < pieces; ++i) data.pieces.push_back(random_piece(truth.chain, random));
  EngineOptions engine;
  engine.precision = Precision::kDouble;
  engine.threads = 2;
  const Fit censored = fit_durations(data, truth, engine);
  for (TrainingPiece& piece : data.pieces) piece.cut = {};
  const Fit complete = fit_durations(data, truth, engine);
  const double within = test::simultaneous_quantile(0.999, kLabels);
  const std::vector<double> means = mean_durations(truth);
  double most_biased = 0;
  for (std::size_t c = 0; c < kLabels; ++c) {
    const double errors = (censored.means[c] - means[c]) / censored.errors[c];
    const double bias = (complete.means[c] - means[c]) / complete.errors[c];
    WARN(pieces << " pieces, label " << c << ": mean duration " << means[c] << "; censored "
                << censored.means[c] << " +- " << censored.errors[c] << " (" << errors
                << " standard errors); complete " << complete.means[c] << " +- " << complete.errors[c] << " ("
                << bias << ")");
    CHECK(std::fabs(errors) < within);
    most_biased = std::min(most_biased, bias);
  }
  CHECK(most_biased < -biased);
}

}  // namespace

// Takes minutes with sanitizers, so that CTest runs it without them alone.
TEST_CASE("durations are recovered from cut pieces", "[.][few-cuts]") {
  check_durations_of_cut_pieces(80, 5, 1);
}

// Hidden: `test_train "[cuts]"` runs it.
TEST_CASE("durations are recovered from 2,000 cut pieces", "[.][cuts]") {
  check_durations_of_cut_pieces(2000, 6, 8);
}

}  // namespace semicrf
