// Training on a device, real or emulated, where pieces go to the engine in batches and their features with
// them, against the cpu engine and against heads on the host. Without a device every case says so and is
// skipped.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <string>

#include "cuda/engine/cuda_engine.h"
#include "support/catch.h"
#include "train/fit/training_problem.h"
#include "train/objective/objective.h"
#include "unit/train/train_fixture.h"

using namespace semicrf;

namespace {

bool has_gpu() {
  const std::string obstacle = cuda_obstacle();
  if (!obstacle.empty()) std::cout << "skipped: no GPU: " << obstacle << std::endl;
  return obstacle.empty();
}

struct ValueAndGradient {
  double value = 0;
  ParameterGradient gradient;
};

ValueAndGradient evaluate(const TrainingData& data, const Parameters& parameters,
                          const EngineOptions& options, const ObjectiveOptions& objective) {
  std::vector<std::size_t> pieces(data.pieces.size());
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  ValueAndGradient result{0, ParameterGradient(parameters)};
  result.value = negative_log_likelihood(data, pieces, parameters, options, objective, &result.gradient);
  // With counts a device computes blocks in logarithms whose tails do not fit one range of numbers (K < 16).
  const double tolerance = options.precision == Precision::kFloat ? 1e-8 : 1e-13;
  const double alone = negative_log_likelihood(data, pieces, parameters, options, objective, nullptr);
  CHECK(std::fabs(alone - result.value) <= tolerance * std::fabs(result.value));
  return result;
}

EngineOptions engine_options(EngineOptions::Backend backend, int threads,
                             Precision precision = Precision::kDouble) {
  EngineOptions options;
  options.backend = backend;
  options.precision = precision;
  options.threads = threads;
  return options;
}

ValueAndGradient evaluate(const TrainingData& data, const Parameters& parameters,
                          EngineOptions::Backend backend, int threads) {
  return evaluate(data, parameters, engine_options(backend, threads), {.margin = 0.1});
}

std::vector<const std::vector<double>*> parts_of(const ParameterGradient& g) {
  return {&g.weights,    &g.bias,     &g.start_weights, &g.start_bias, &g.end_weights, &g.end_bias,
          &g.transition, &g.duration, &g.tail,          &g.start,      &g.end};
}

}  // namespace

TEST_CASE("batches of training pieces have the value and the gradient of the cpu engine") {
  if (!has_gpu()) return;
  std::mt19937_64 random(901);
  TrainingData data;
  data.num_labels = 3;
  data.num_tracks = 2;
  // Pieces of several shards, shorter than the boundary window, than K, and of several runs.
  for (const std::int64_t length : {40, 1, 3, 170, 16, 8200, 2, 400})
    data.pieces.push_back(test::random_piece(length, 3, 2, 9, random));
  for (const Centering centering : {Centering::kMean, Centering::kPositionMax}) {
    test::ModelShape shape;
    shape.tail = shape.boundary = true;
    shape.centering = centering;
    const Parameters parameters = test::random_parameters(shape, random);
    const ValueAndGradient expected = evaluate(data, parameters, EngineOptions::Backend::kCpu, 1);
    const ValueAndGradient found = evaluate(data, parameters, EngineOptions::Backend::kCuda, 1);
    const ValueAndGradient threaded = evaluate(data, parameters, EngineOptions::Backend::kCuda, 3);
    CHECK(std::fabs(found.value - expected.value) <= 1e-9 * std::fabs(expected.value));
    CHECK(threaded.value == found.value);
    const auto of_cpu = parts_of(expected.gradient);
    const auto of_device = parts_of(found.gradient);
    const auto of_threads = parts_of(threaded.gradient);
    for (std::size_t part = 0; part < of_cpu.size(); ++part) {
      CAPTURE(part);
      double worst = 0;
      for (std::size_t i = 0; i < of_cpu[part]->size(); ++i) {
        const double size = std::max(1.0, std::fabs((*of_cpu[part])[i]));
        worst = std::max(worst, std::fabs((*of_device[part])[i] - (*of_cpu[part])[i]) / size);
      }
      CHECK(worst < 1e-8);
      CHECK((*of_threads[part] == *of_device[part]));
    }
  }
}

namespace {

TrainingData pieces_of(const std::vector<std::int64_t>& lengths, const test::ModelShape& shape,
                       std::mt19937_64& random) {
  TrainingData data;
  data.num_labels = shape.labels;
  data.num_tracks = shape.tracks;
  for (const std::int64_t length : lengths) {
    data.pieces.push_back(test::random_piece(length, shape.labels, shape.tracks, 9, random));
    // Of another sequence.
    if (data.pieces.size() % 4 < 2)
      for (double& mean : data.pieces.back().feature_mean) mean += 0.3;
  }
  return data;
}

// The gradient's entries within `tolerance` of the largest of their part.
void check_close(const ParameterGradient& found, const ParameterGradient& expected, double tolerance) {
  const auto a = parts_of(found), b = parts_of(expected);
  for (std::size_t part = 0; part < a.size(); ++part) {
    CAPTURE(part);
    REQUIRE(a[part]->size() == b[part]->size());
    double size = 1, worst = 0;
    for (std::size_t i = 0; i < a[part]->size(); ++i) {
      size = std::max(size, std::fabs((*b[part])[i]));
      worst = std::max(worst, std::fabs((*a[part])[i] - (*b[part])[i]));
    }
    CHECK(worst <= tolerance * size);
  }
}

}  // namespace

// Few and many tracks and labels; pieces around whole blocks, of several runs, and one longer than a chunk.
TEST_CASE("heads on the device have the value of heads on the host, and their gradient") {
  if (!has_gpu()) return;
  struct Case {
    int labels, tracks;
    Centering centering;
    double margin;
  };
  std::mt19937_64 random(902);
  for (const Case& one : {Case{1, 1, Centering::kNone, 0}, Case{5, 3, Centering::kMean, 0.1},
                          Case{24, 17, Centering::kPositionMax, 0.3}, Case{33, 3, Centering::kMean, 0},
                          Case{5, 17, Centering::kNone, 0.2}, Case{24, 1, Centering::kPositionMax, 0},
                          Case{2, 3, Centering::kMean, 0.1}}) {
    test::ModelShape shape;
    shape.labels = one.labels;
    shape.tracks = one.tracks;
    shape.centering = one.centering;
    shape.boundary = shape.tail = true;
    shape.first = -2;
    shape.last = 3;
    std::vector<std::int64_t> lengths{1, 2, 15, 16, 17, 100, 1, 33};
    if (one.labels < 24) lengths.push_back(700);
    if (one.labels == 2) lengths.insert(lengths.end(), {8192 + 1100, 8192, 300});
    const TrainingData data = pieces_of(lengths, shape, random);
    const Parameters parameters = test::random_parameters(shape, random);
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      CAPTURE(one.labels, one.tracks, static_cast<int>(precision));
      const EngineOptions options = engine_options(EngineOptions::Backend::kCuda, 1, precision);
      ObjectiveOptions objective{.margin = one.margin};
      const ValueAndGradient device = evaluate(data, parameters, options, objective);
      objective.project = false;
      const ValueAndGradient host = evaluate(data, parameters, options, objective);
      CHECK(device.value == host.value);
      CHECK((device.gradient.transition == host.gradient.transition));
      CHECK((device.gradient.duration == host.gradient.duration));
      CHECK((device.gradient.tail == host.gradient.tail));
      check_close(device.gradient, host.gradient, 1e-12);
      if (precision == Precision::kFloat) continue;
      const EngineOptions cpu = engine_options(EngineOptions::Backend::kCpu, 1, precision);
      check_close(device.gradient, evaluate(data, parameters, cpu, objective).gradient, 1e-8);
    }
  }
}

// Whole pieces of one segment with them, which score where they may lie.
TEST_CASE("heads on the device have the value of heads on the host for pieces that were cut") {
  if (!has_gpu()) return;
  std::mt19937_64 random(906);
  for (const CutEdges cut : {CutEdges{true, false}, {false, true}, {true, true}}) {
    for (const bool boundary : {false, true}) {
      for (const Centering centering : {Centering::kNone, Centering::kMean, Centering::kPositionMax}) {
        CAPTURE(cut.left, cut.right, boundary, static_cast<int>(centering));
        test::ModelShape shape;
        shape.labels = 3;
        shape.tracks = 2;
        shape.centering = centering;
        shape.boundary = boundary;
        shape.tail = true;
        shape.first = -2;
        shape.last = 3;
        TrainingData data = pieces_of({1, 2, 15, 16, 17, 100, 400}, shape, random);
        for (TrainingPiece& piece : data.pieces) {
          piece.cut = cut;
          if (piece.length == 15) piece.segments = {{0, 15, 1}};
        }
        const Parameters parameters = test::random_parameters(shape, random);
        for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
          const EngineOptions options = engine_options(EngineOptions::Backend::kCuda, 1, precision);
          ObjectiveOptions objective{.margin = boundary ? 0.2 : 0};
          const ValueAndGradient device = evaluate(data, parameters, options, objective);
          objective.project = false;
          const ValueAndGradient host = evaluate(data, parameters, options, objective);
          // The host's boundary scores of such pieces are doubles.
          const double tolerance = precision == Precision::kFloat ? 3e-7 : 1e-12;
          CHECK(std::fabs(device.value - host.value) <= tolerance * std::fabs(host.value));
          check_close(device.gradient, host.gradient, tolerance);
          if (precision == Precision::kFloat) continue;
          const EngineOptions cpu = engine_options(EngineOptions::Backend::kCpu, 1, precision);
          check_close(device.gradient, evaluate(data, parameters, cpu, objective).gradient, 1e-8);
        }
      }
    }
  }
}

TEST_CASE("heads of which no derivatives are wanted have none") {
  if (!has_gpu()) return;
  std::mt19937_64 random(903);
  test::ModelShape shape;
  shape.boundary = shape.tail = true;
  const TrainingData data = pieces_of({40, 3, 17}, shape, random);
  const Parameters parameters = test::random_parameters(shape, random);
  const EngineOptions options = engine_options(EngineOptions::Backend::kCuda, 1);
  for (const bool emissions : {false, true}) {
    for (const bool boundary : {false, true}) {
      ObjectiveOptions objective{.emissions = emissions, .boundary = boundary};
      const ValueAndGradient device = evaluate(data, parameters, options, objective);
      objective.project = false;
      check_close(device.gradient, evaluate(data, parameters, options, objective).gradient, 1e-12);
      const auto is_zero = [](double x) { return x == 0; };
      const auto& weights = device.gradient.weights;
      const auto& starts = device.gradient.start_weights;
      CHECK(std::all_of(weights.begin(), weights.end(), is_zero) == !emissions);
      CHECK(std::all_of(starts.begin(), starts.end(), is_zero) == !boundary);
    }
  }
}

// The same device twice: an engine for each even with one thread, and pieces for both.
TEST_CASE("training on several devices gives the same value") {
  if (!has_gpu()) return;
  std::mt19937_64 random(904);
  test::ModelShape shape;
  shape.labels = 2;
  shape.tracks = 1;
  shape.max_duration = 1;
  std::vector<std::int64_t> lengths(7, 37500);
  lengths.push_back(100);
  TrainingData data = pieces_of(lengths, shape, random);
  split_into_single_bins(data);
  const Parameters parameters = test::random_parameters(shape, random);
  EngineOptions options = engine_options(EngineOptions::Backend::kCuda, 1, Precision::kFloat);
  std::vector<std::size_t> pieces(lengths.size());
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  const double one = negative_log_likelihood(data, pieces, parameters, options, {}, nullptr);
  options.devices = {0, 0};
  CHECK(negative_log_likelihood(data, pieces, parameters, options, {}, nullptr) == one);
}

TEST_CASE("the gradient through heads on the device equals central differences") {
  if (!has_gpu()) return;
  std::mt19937_64 random(905);
  for (const Centering centering : {Centering::kNone, Centering::kMean, Centering::kPositionMax}) {
    test::ModelShape shape;
    shape.boundary = shape.tail = true;
    shape.centering = centering;
    shape.first = -2;
    shape.last = 3;
    const TrainingData data = pieces_of({60, 3, 17}, shape, random);
    Parameters parameters = test::random_parameters(shape, random);
    const EngineOptions options = engine_options(EngineOptions::Backend::kCuda, 1);
    const ObjectiveOptions objective{.margin = 0.2};
    const ParameterGradient gradient = evaluate(data, parameters, options, objective).gradient;
    const std::vector<std::size_t> pieces{0, 1, 2};
    const auto check = [&](std::vector<double>& numbers, const std::vector<double>& derivatives) {
      constexpr double kStep = 1e-2;
      for (std::size_t i = 0; i < numbers.size(); i += 2) {
        const double x = numbers[i];
        const auto at = [&](double step) {
          numbers[i] = x + step;
          return negative_log_likelihood(data, pieces, parameters, options, objective, nullptr);
        };
        // Fourth order.
        const double difference =
            (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
        numbers[i] = x;
        CHECK(std::fabs(difference - derivatives[i]) <= 1e-6 * std::max(1.0, std::fabs(difference)));
      }
    };
    check(parameters.emission->weights, gradient.weights);
    if (centering != Centering::kMean) check(parameters.emission->bias, gradient.bias);
    check(parameters.boundary->start_weights, gradient.start_weights);
    check(parameters.boundary->start_bias, gradient.start_bias);
    check(parameters.boundary->end_weights, gradient.end_weights);
    check(parameters.boundary->end_bias, gradient.end_bias);
    check(parameters.chain.start_scores, gradient.start);
    check(parameters.chain.end_scores, gradient.end);
  }
}

// Twice at the same coordinates, then at others, of which no evaluation was.
TEST_CASE("validation beside an evaluation gives what it gives by itself") {
  if (!has_gpu()) return;
  std::mt19937_64 random(907);
  test::ModelShape shape;
  shape.boundary = shape.tail = true;
  const TrainingData training = pieces_of({40, 3, 17}, shape, random);
  const TrainingData validation = pieces_of({60, 16}, shape, random);
  const Parameters parameters = test::random_parameters(shape, random);
  const PenaltyOptions weights;
  const ParameterSpace space(parameters, {}, count_paths(training), weights);
  const Penalties penalties(weights, parameters);
  const EngineOptions options = engine_options(EngineOptions::Backend::kCuda, 1);
  const TrainingProblem problem(training, validation, space, penalties, options);
  const TrainingProblem alone(training, validation, space, penalties, options);
  std::vector<double> x = space.pack(parameters), gradient(x.size());
  double nll = 0;
  problem.evaluate(x, gradient, nll);
  const std::optional<double> beside = problem.validate(x);
  CHECK(beside == alone.validate(x));
  CHECK(problem.validate(x) == beside);
  problem.evaluate(x, gradient, nll);
  x[0] += 0.5;
  CHECK(problem.validate(x) == alone.validate(x));
  CHECK(problem.validate(x) != beside);
}
