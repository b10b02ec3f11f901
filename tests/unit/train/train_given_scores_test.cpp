// Scores of starts and ends that are inputs: the likelihood and its derivatives are those of heads that make
// the same scores.
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "support/catch.h"
#include "support/seeds.h"
#include "train/data/true_path.h"
#include "train/objective/objective.h"
#include "unit/train/train_fixture.h"

namespace semicrf {
namespace {

void round_to(double unit, std::vector<double>& numbers) {
  for (double& number : numbers) number = std::round(number / unit) * unit;
}

// The scores of a head at every position of a piece; exact in float, as features and weights are round.
std::vector<float> scores_of(const TrainingPiece& piece, const BoundaryHead& head,
                             const std::vector<double>& weights, const std::vector<double>& bias,
                             int tracks) {
  const std::size_t labels = bias.size(), inputs = weights.size() / labels;
  std::vector<float> scores;
  for (std::int64_t t = 0; t < piece.length; ++t)
    for (std::size_t c = 0; c < labels; ++c) {
      double sum = bias[c];
      for (int o = head.first; o <= head.last; ++o)
        for (int f = 0; f < tracks && t + o >= 0 && t + o < piece.length; ++f)
          sum += weights[c * inputs + static_cast<std::size_t>((o - head.first) * tracks + f)] *
                 static_cast<double>(piece.features[static_cast<std::size_t>((t + o) * tracks + f)]);
      scores.push_back(static_cast<float>(sum));
    }
  return scores;
}

struct SameModels {
  TrainingData with_heads, given;
  Parameters heads, plain;
};

SameModels random_models(test::ModelShape shape, std::mt19937_64& random) {
  SameModels models;
  shape.boundary = true;
  models.heads = test::random_parameters(shape, random);
  BoundaryHead& head = *models.heads.boundary;
  for (auto* list : {&head.start_weights, &head.end_weights, &head.start_bias, &head.end_bias})
    round_to(0x1p-5, *list);
  models.with_heads.num_labels = shape.labels;
  models.with_heads.num_tracks = shape.tracks;
  for (const std::int64_t length : {31, 1, 18, 40}) {
    TrainingPiece piece = test::random_piece(
        length, shape.labels, shape.tracks, shape.tail ? shape.max_duration + 3 : shape.max_duration, random);
    for (float& feature : piece.features) feature = std::round(feature * 16) / 16;
    models.with_heads.pieces.push_back(std::move(piece));
  }
  models.given = models.with_heads;
  for (TrainingPiece& piece : models.given.pieces) {
    piece.start_scores = scores_of(piece, head, head.start_weights, head.start_bias, shape.tracks);
    piece.end_scores = scores_of(piece, head, head.end_weights, head.end_bias, shape.tracks);
  }
  models.plain = models.heads;
  models.plain.boundary.reset();
  return models;
}

void compare(const SameModels& models, const EngineOptions& engine, double tolerance, double margin) {
  std::vector<std::size_t> pieces(models.given.pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i] = i;
  ObjectiveOptions options;
  options.margin = margin;
  ParameterGradient expected(models.heads), found(models.plain);
  const double value =
      negative_log_likelihood(models.with_heads, pieces, models.heads, engine, options, &expected);
  CHECK(negative_log_likelihood(models.given, pieces, models.plain, engine, options, &found) ==
        Approx(value).epsilon(tolerance));
  constexpr std::array kShared = {&ParameterGradient::weights,    &ParameterGradient::bias,
                                  &ParameterGradient::transition, &ParameterGradient::duration,
                                  &ParameterGradient::tail,       &ParameterGradient::start,
                                  &ParameterGradient::end};
  for (const auto list : kShared) {
    REQUIRE((found.*list).size() == (expected.*list).size());
    for (std::size_t i = 0; i < (found.*list).size(); ++i)
      CHECK(std::fabs((found.*list)[i] - (expected.*list)[i]) <=
            tolerance * std::max(1.0, std::fabs((expected.*list)[i])));
  }
  CHECK(best_segmentations(models.given, models.plain, engine) ==
        best_segmentations(models.with_heads, models.heads, engine));
}

}  // namespace

TEST_CASE("given scores of starts and ends count as those of heads", "[train]") {
  const std::uint64_t seed = testing::test_seed(61);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  test::ModelShape table, single, tailed, uniform;
  single.max_duration = 1;
  tailed.tail = true;
  tailed.labels = 5;
  uniform.initial = InitialTerm::kUniform;
  uniform.centering = Centering::kPositionMax;
  uniform.tail = true;
  for (const test::ModelShape& shape : {table, single, tailed, uniform})
    for (const bool cut : {false, true})
      for (const bool evidence : {false, true}) {
        SameModels models = random_models(shape, random);
        for (TrainingData* data : {&models.with_heads, &models.given}) {
          if (cut && shape.max_duration > 1) {
            data->pieces[0].cut = {true, false};
            data->pieces[1].cut = {true, true};
            data->pieces[3].cut = {false, true};
          }
          if (!evidence) continue;
          // Any label in the middle of the last piece, one of two labels before.
          TrainingPiece& last = data->pieces.back();
          last.evidence = {{0, 12, {0, 1}, {}, false}, {12, 30, {}, {}, false}, {30, 40, {1}, {}, false}};
          last.segments.clear();
          last.lines.clear();
        }
        for (const auto& [backend, precision, tolerance] :
             {std::tuple(EngineOptions::Backend::kReference, Precision::kDouble, 1e-10),
              std::tuple(EngineOptions::Backend::kCpu, Precision::kDouble, 1e-9),
              std::tuple(EngineOptions::Backend::kCpu, Precision::kFloat, 1e-4)}) {
          EngineOptions engine;
          engine.backend = backend;
          engine.precision = precision;
          compare(models, engine, tolerance, evidence ? 0 : 0.3);
        }
      }
}

TEST_CASE("windows of a piece have its given scores", "[train]") {
  std::mt19937_64 random(5);
  const SameModels models = random_models({}, random);
  const TrainingData windows = cut_into_windows(models.given, 7);
  REQUIRE(windows.pieces.size() > models.given.pieces.size());
  std::vector<float> starts, ends, expected_starts, expected_ends;
  const auto append = [](const std::vector<float>& from, std::vector<float>& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const TrainingPiece& piece : windows.pieces) {
    CHECK(std::ssize(piece.start_scores) == piece.length * models.given.num_labels);
    append(piece.start_scores, starts);
    append(piece.end_scores, ends);
  }
  for (const TrainingPiece& piece : models.given.pieces) {
    append(piece.start_scores, expected_starts);
    append(piece.end_scores, expected_ends);
  }
  CHECK(starts == expected_starts);
  CHECK(ends == expected_ends);
}

TEST_CASE("a true segment that given scores rule out is named", "[train]") {
  std::mt19937_64 random(6);
  SameModels models = random_models({}, random);
  TrainingPiece& piece = models.given.pieces.front();
  const Segment second = piece.segments[1];
  const auto at = [&](std::int64_t t) {
    return static_cast<std::size_t>(t) * 3 + static_cast<std::size_t>(second.label);
  };
  piece.start_scores[at(second.begin)] = -std::numeric_limits<float>::infinity();
  const PathProblem start = find_problem(models.plain, piece);
  CHECK(start.what.ends_with("begins where its score of --start-scores is -inf"));
  CHECK(start.where == piece.place(second.begin, second.end));
  CHECK(start.line == 2);
  const std::string message = test::message_of([&] {
    const std::vector<std::size_t> pieces{0};
    negative_log_likelihood(models.given, pieces, models.plain, {}, {}, nullptr);
  });
  CHECK(test::holds(message, "--start-scores is -inf"));
  piece.start_scores[at(second.begin)] = 0;
  piece.end_scores[at(second.end - 1)] = -std::numeric_limits<float>::infinity();
  CHECK(find_problem(models.plain, piece).what.ends_with("ends where its score of --end-scores is -inf"));
}

}  // namespace semicrf
