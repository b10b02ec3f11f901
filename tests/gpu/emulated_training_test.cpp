// Training on the emulated device, where pieces go to the engine in batches, against the cpu engine.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda/cuda_engine.h"
#include "support/catch.h"
#include "train/objective.h"
#include "unit/train_fixture.h"

using namespace semicrf;

namespace {

struct Evaluation {
  double value = 0;
  ParameterGradient gradient;
};

Evaluation evaluate(const TrainingData& data, const Parameters& parameters, EngineOptions::Backend backend,
                    int threads) {
  EngineOptions options;
  options.backend = backend;
  options.precision = Precision::kDouble;
  options.threads = threads;
  std::vector<std::size_t> pieces(data.pieces.size());
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  Evaluation result{0, ParameterGradient(parameters)};
  result.value =
      negative_log_likelihood(data, pieces, parameters, options, {.margin = 0.1}, &result.gradient);
  return result;
}

std::vector<const std::vector<double>*> parts_of(const ParameterGradient& g) {
  return {&g.weights,    &g.bias,     &g.start_weights, &g.start_bias, &g.end_weights, &g.end_bias,
          &g.transition, &g.duration, &g.tail,          &g.start,      &g.end};
}

}  // namespace

TEST_CASE("batches of training pieces have the value and the gradient of the cpu engine") {
  REQUIRE(cuda_obstacle().empty());  // the emulated one is linked
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
    const Evaluation expected = evaluate(data, parameters, EngineOptions::Backend::kCpu, 1);
    const Evaluation found = evaluate(data, parameters, EngineOptions::Backend::kCuda, 1);
    const Evaluation threaded = evaluate(data, parameters, EngineOptions::Backend::kCuda, 3);
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
