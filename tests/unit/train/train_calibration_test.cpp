// All scores times a factor: the same best path, and the likeliest probabilities.
#include <cmath>
#include <functional>
#include <random>

#include "support/catch.h"
#include "train/fit/calibration.h"
#include "train/objective/piece_sums.h"
#include "unit/train/train_fixture.h"

namespace semicrf {
namespace {

constexpr std::uint64_t kSeed = 17;

TrainingData random_data(std::mt19937_64& random) {
  TrainingData data;
  data.num_labels = 3;
  data.num_tracks = 2;
  for (int i = 0; i < 3; ++i) {
    data.pieces.push_back(test::random_piece(80, 3, 2, 9, random));
    TrainingPiece& piece = data.pieces.back();
    for (const Segment& segment : piece.segments)
      for (std::int64_t t = segment.begin; t < segment.end; ++t)
        piece.features[static_cast<std::size_t>(2 * t + segment.label % 2)] +=
            0.4F * static_cast<float>(segment.label);
  }
  return data;
}

Parameters model_with_everything(std::mt19937_64& random) {
  test::ModelShape shape;
  shape.max_duration = 6;
  shape.tail = shape.boundary = true;
  Parameters parameters = scaled(test::random_parameters(shape, random), 0.2);
  for (std::size_t c = 0; c < 3; ++c)
    parameters.emission->weights[2 * c + c % 2] += 0.3 * static_cast<double>(c);
  return parameters;
}

struct Case {
  TrainingData data;
  Parameters parameters;
  EngineOptions engine;
};
Case make_case() {
  std::mt19937_64 random(kSeed);
  Case made{random_data(random), model_with_everything(random), {}};
  made.engine.precision = Precision::kDouble;
  return made;
}

// Per position of the data of a case.
std::function<double(const Parameters&)> nll_of(const Case& made) {
  return [sums = PieceSums(made.data, made.data, made.engine)](const Parameters& parameters) {
    return sums.mean_nll(PieceSums::Of::kTraining, parameters);
  };
}

}  // namespace

TEST_CASE("a factor multiplies the score of every segmentation", "[train]") {
  INFO("seed " << kSeed);
  const Case made = make_case();
  const Parameters& parameters = made.parameters;
  const auto mean_nll = nll_of(made);
  // Where scores outweigh the number of segmentations, log Z is the largest of them, and -log P of the truth
  // the factor times how far its score is behind that.
  const double at_500 = mean_nll(scaled(parameters, 500));
  const double at_1000 = mean_nll(scaled(parameters, 1000));
  CHECK(at_1000 == Approx(2 * at_500).epsilon(1e-4));
  CHECK(mean_nll(scaled(parameters, 1)) == Approx(mean_nll(parameters)).epsilon(1e-14));
}

TEST_CASE("the likeliest factor is where the likelihood is largest", "[train]") {
  INFO("seed " << kSeed);
  const Case made = make_case();
  const Parameters& parameters = made.parameters;
  const auto mean_nll = nll_of(made);
  const double factor = likeliest_factor(parameters, mean_nll);
  CHECK(factor > 0.125);
  CHECK(factor < 8);
  const double best = mean_nll(scaled(parameters, factor));
  for (const double other : {0.9, 0.98, 1.02, 1.1})
    CHECK(mean_nll(scaled(parameters, factor * other)) > best - 1e-9);
  // Twice the scores want half the factor.
  CHECK(likeliest_factor(scaled(parameters, 2), mean_nll) == Approx(factor / 2).epsilon(0.01));
}

}  // namespace semicrf
