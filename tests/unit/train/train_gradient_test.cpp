// The gradient of the training objective against central differences, block by block, in double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "support/catch.h"
#include "support/slow_build.h"
#include "train/data/true_path.h"
#include "train/fit/parameter_space.h"
#include "train/fit/training_problem.h"
#include "train/start/initial_parameters.h"
#include "unit/train/train_fixture.h"

namespace semicrf {
namespace {

using test::ModelShape;

constexpr ParameterPart kAllParts[] = {
    ParameterPart::kWeights,  ParameterPart::kBias, ParameterPart::kBoundary, ParameterPart::kTransition,
    ParameterPart::kDuration, ParameterPart::kTail, ParameterPart::kStart,    ParameterPart::kEnd};

struct Setup {
  TrainingData data;
  Parameters parameters;
  PathCounts counts;
};

// Two pieces; the second is shorter than the boundary window and than K.
Setup make_setup(const ModelShape& shape, std::int64_t length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Setup setup;
  setup.data.num_labels = shape.labels;
  setup.data.num_tracks = shape.tracks;
  const std::int64_t longest = shape.tail ? 2 * shape.max_duration : shape.max_duration;
  for (const std::int64_t size : {length, std::int64_t{3}})
    setup.data.pieces.push_back(test::random_piece(size, shape.labels, shape.tracks, longest, random));
  setup.parameters = test::random_parameters(shape, random);
  setup.counts = count_paths(setup.data);
  return setup;
}

EngineOptions reference_engine() {
  EngineOptions engine;
  engine.backend = EngineOptions::Backend::kReference;
  engine.precision = Precision::kDouble;
  return engine;
}

// Compares the gradient by the coordinates of `part` alone; every `stride`-th of them.
void check_part(const Setup& setup, ParameterPart part, const PenaltyOptions& weights, std::size_t stride,
                double margin = 0) {
  std::set<ParameterPart> frozen(std::begin(kAllParts), std::end(kAllParts));
  frozen.erase(part);
  const ParameterSpace space(setup.parameters, frozen, setup.counts, weights);
  if (space.size() == 0) return;
  const Penalties penalties(weights, setup.parameters);
  const EngineOptions engine = reference_engine();
  const TrainingData no_validation;
  const TrainingProblem problem(setup.data, no_validation, space, penalties, engine, margin);
  std::vector<double> x = space.pack(setup.parameters);
  // Off the first point, where the penalties of start and end scores vanish.
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.05 * std::sin(static_cast<double>(i));
  std::vector<double> gradient(x.size());
  double nll = 0;
  const double value = problem.evaluate(x, gradient, nll);
  const std::vector<std::size_t> pieces = {0, 1};
  const auto positions = static_cast<double>(problem.positions());
  ObjectiveOptions with_margin;
  with_margin.margin = margin;
  const auto objective = [&](const std::vector<double>& at) {
    const Parameters parameters = space.unpack(at);
    return (negative_log_likelihood(setup.data, pieces, parameters, engine, with_margin, nullptr) +
            penalties.value(parameters, nullptr)) /
           positions;
  };
  CHECK(std::fabs(objective(x) - value) <= 1e-12 * std::max(1.0, std::fabs(value)));

  double dot = 0, squares = 0, squares_of_differences = 0, worst = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); i += stride) {
    const double h = part == ParameterPart::kTail ? 5e-2 : 1e-2;  // tails hardly count in so short a piece
    std::vector<double> moved = x;
    const auto at = [&](double step) {
      moved[i] = x[i] + step;
      return objective(moved);
    };
    // Fourth order: truncation far below rounding.
    const double difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    dot += difference * gradient[i];
    squares += gradient[i] * gradient[i];
    squares_of_differences += difference * difference;
    worst = std::max(worst, std::fabs(difference - gradient[i]));
    largest = std::max(largest, std::fabs(difference));
  }
  INFO("part " << part_name(part) << ", cosine " << dot / std::sqrt(squares * squares_of_differences)
               << ", normalised max error " << worst / largest);
  CHECK(dot / std::sqrt(squares * squares_of_differences) >= 0.999999);
  CHECK(worst <= 1e-7 * largest);
}

void check_all_parts(const ModelShape& shape, std::int64_t length, std::size_t stride, CutEdges cut = {}) {
  constexpr std::uint64_t kSeed = 20240613;
  Setup setup = make_setup(shape, length, kSeed);
  for (TrainingPiece& piece : setup.data.pieces) piece.cut = cut;
  INFO("seed " << kSeed << ", centring " << static_cast<int>(shape.centering) << ", durations " << shape.kind
               << ", tail " << shape.tail << ", initial " << static_cast<int>(shape.initial) << ", cut left "
               << cut.left << ", right " << cut.right);
  for (const ParameterPart part : kAllParts) check_part(setup, part, PenaltyOptions{}, stride);
  check_part(setup, ParameterPart::kWeights, PenaltyOptions{}, stride, 0.25);
}

}  // namespace

TEST_CASE("the training gradient equals central differences at T = 100, C = 16, K = 25", "[train]") {
  const Centering centering =
      GENERATE(Centering::kNone, Centering::kMean, Centering::kPositionMax, Centering::kMeanPreserving);
  ModelShape shape;
  shape.labels = 16;
  shape.max_duration = 25;
  shape.tail = true;
  shape.boundary = true;
  shape.centering = centering;
  shape.initial = centering == Centering::kMean ? InitialTerm::kUniform : InitialTerm::kNone;
  check_all_parts(shape, 100, testing::kSlowBuild ? 12 : 3);
}

TEST_CASE("the training gradient equals central differences for every kind of durations", "[train]") {
  ModelShape shape;
  shape.kind = GENERATE("table", "geometric", "negative_binomial", "poisson", "uniform");
  shape.tail = GENERATE(false, true);
  shape.initial = GENERATE(InitialTerm::kNone, InitialTerm::kUniform);
  shape.boundary = true;
  check_all_parts(shape, 40, 1);
}

TEST_CASE("the training gradient equals central differences where pieces were cut", "[train]") {
  ModelShape shape;
  shape.kind = GENERATE("table", "negative_binomial");
  shape.tail = GENERATE(false, true);
  shape.initial = shape.kind == "table" ? InitialTerm::kUniform : InitialTerm::kNone;
  const CutEdges cut = GENERATE(CutEdges{true, false}, CutEdges{false, true}, CutEdges{true, true});
  shape.boundary = true;
  check_all_parts(shape, 40, 1, cut);
}

// The segment of the whole piece may lie anywhere in its duration.
TEST_CASE("the training gradient equals central differences where a segment covers a cut piece", "[train]") {
  ModelShape shape;
  shape.kind = GENERATE("table", "negative_binomial");
  shape.tail = GENERATE(false, true);
  const CutEdges cut = GENERATE(CutEdges{true, false}, CutEdges{false, true}, CutEdges{true, true});
  Setup setup = make_setup(shape, shape.tail ? 12 : 4, 5);
  for (TrainingPiece& piece : setup.data.pieces) {
    piece.cut = cut;
    piece.segments = {{0, piece.length, 1}};
    piece.lines = {1};
  }
  INFO("cut left " << cut.left << ", right " << cut.right << ", durations " << shape.kind);
  setup.counts = count_paths(setup.data);
  for (const ParameterPart part : kAllParts) check_part(setup, part, PenaltyOptions{}, 1);
}

TEST_CASE("forbidden scores stay forbidden and have no coordinate", "[train]") {
  ModelShape shape;
  shape.labels = 3;
  shape.max_duration = 8;
  Setup setup = make_setup(shape, 60, 7);
  ChainModel& chain = setup.parameters.chain;
  for (std::size_t c = 0; c < 3; ++c) chain.transition[4 * c] = kNegativeInfinity;
  // Holes in a column, and a column that begins late.
  const auto forbid = [&](std::size_t k, std::size_t c) {
    chain.duration_bias[(k - 1) * 3 + c] = kNegativeInfinity;
  };
  forbid(3, 0);
  forbid(4, 0);
  forbid(6, 0);
  forbid(1, 1);
  chain.end_scores[2] = kNegativeInfinity;
  for (TrainingPiece& piece : setup.data.pieces) {
    // Cut into segments that are allowed: two bins of label 0 and three of label 1 in turn.
    std::vector<Segment> segments;
    for (std::int64_t t = 0; t < piece.length;) {
      const int label = segments.size() % 2 == 0 ? 0 : 1;
      const std::int64_t end = t + 2 + label;
      segments.push_back({t, end, label});
      t = end;
    }
    piece.length = segments.back().end;
    piece.features.resize(static_cast<std::size_t>(piece.length) * 2, 0.5F);
    piece.segments = segments;
  }
  setup.counts = count_paths(setup.data);
  const ParameterSpace space(setup.parameters, {}, setup.counts, {});
  CHECK(space.size() == 6 + 3 + (9 - 3) + (24 - 4) + 3 + 2);
  const Parameters back = space.unpack(space.pack(setup.parameters));
  for (std::size_t i = 0; i < chain.duration_bias.size(); ++i) {
    if (chain.duration_bias[i] == kNegativeInfinity) {
      CHECK(back.chain.duration_bias[i] == kNegativeInfinity);
    } else {
      CHECK(back.chain.duration_bias[i] == Approx(chain.duration_bias[i]).margin(1e-12));
    }
  }
  CHECK(back.chain.transition[0] == kNegativeInfinity);
  for (const ParameterPart part : kAllParts) check_part(setup, part, PenaltyOptions{}, 1);
}

TEST_CASE("the training gradient equals central differences with shortest durations by label", "[train]") {
  ModelShape shape;
  shape.max_duration = 6;
  shape.tail = true;
  Setup setup = make_setup(shape, 40, 13);
  const std::vector<int> shortest =
      shortest_durations({"label1=4", "2", "label2=6"}, setup.parameters.labels);
  CHECK(shortest == std::vector<int>{2, 4, 6});
  set_shortest_durations(shortest, setup.parameters);
  std::mt19937_64 random(13);
  for (TrainingPiece& piece : setup.data.pieces) {
    piece.segments.clear();
    for (std::int64_t t = 0; t < 25;) {
      const auto label = static_cast<int>(piece.segments.size() % 3);
      const std::int64_t end = t + shortest[static_cast<std::size_t>(label)] + static_cast<int>(random() % 5);
      piece.segments.push_back({t, end, label});
      t = end;
    }
    piece.length = piece.segments.back().end;
    piece.lines.assign(piece.segments.size(), 1);
    piece.features.resize(static_cast<std::size_t>(piece.length) * 2, 0.5F);
    CHECK(find_problem(setup.parameters, piece).what.empty());
  }
  setup.counts = count_paths(setup.data);
  CHECK(ParameterSpace(setup.parameters, {}, setup.counts, {}).size() == 6 + 3 + 9 + (5 + 3 + 1) + 3 + 3 + 3);
  for (const ParameterPart part : kAllParts) check_part(setup, part, PenaltyOptions{}, 1);
  const std::vector<std::size_t> pieces = {0, 1};
  CHECK(std::isfinite(
      negative_log_likelihood(setup.data, pieces, setup.parameters, reference_engine(), {}, nullptr)));
  // A segment that is too short is told, but not where a cut may hide the rest of it.
  TrainingPiece& piece = setup.data.pieces.front();
  piece.segments = {{0, 3, 1}, {3, piece.length, 0}};
  piece.lines = {1, 2};
  CHECK(find_problem(setup.parameters, piece).what ==
        "the segment of \"label1\" has 3 bins, but the shortest has 4");
  piece.cut.left = true;
  CHECK(find_problem(setup.parameters, piece).what.empty());
}

TEST_CASE("coordinates of long tables lead back to the same table", "[train]") {
  ModelShape shape;
  shape.max_duration = 3000;
  shape.tail = true;
  std::mt19937_64 random(11);
  Setup setup = make_setup(ModelShape{}, 50, 11);
  setup.parameters = test::random_parameters(shape, random);
  const ParameterSpace space(setup.parameters, {}, setup.counts, {});
  const Parameters back = space.unpack(space.pack(setup.parameters));
  double worst = 0;
  for (std::size_t i = 0; i < back.chain.duration_bias.size(); ++i)
    worst = std::max(worst, std::fabs(back.chain.duration_bias[i] - setup.parameters.chain.duration_bias[i]));
  CHECK(worst <= 1e-8);
  CHECK(back.duration.tail[1] == Approx(setup.parameters.duration.tail[1]).epsilon(1e-13));
}

TEST_CASE("the objective does not depend on threads", "[train]") {
  std::mt19937_64 random(5);
  ModelShape shape;
  shape.boundary = true;
  shape.tail = true;
  Setup setup = make_setup(shape, 50, 5);
  for (int i = 0; i < 40; ++i) setup.data.pieces.push_back(test::random_piece(1 + i * 20, 3, 2, 9, random));
  std::vector<std::size_t> pieces(setup.data.pieces.size());
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  EngineOptions engine = reference_engine();
  ParameterGradient one(setup.parameters), three(setup.parameters);
  const double first = negative_log_likelihood(setup.data, pieces, setup.parameters, engine, {}, &one);
  engine.threads = 3;
  const double second = negative_log_likelihood(setup.data, pieces, setup.parameters, engine, {}, &three);
  CHECK(first == second);
  CHECK(one.weights == three.weights);
  CHECK(one.start_weights == three.start_weights);
  CHECK(one.duration == three.duration);
  CHECK(one.transition == three.transition);
}

}  // namespace semicrf
