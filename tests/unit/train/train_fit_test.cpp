// Fits: convergence, stopping and resuming, checkpoints, first parameters, transforms.
#include <cmath>
#include <functional>

#include "core/error.h"
#include "io/text/provenance_header.h"
#include "support/catch.h"
#include "support/temp_folder.h"
#include "train/fit/adamw_fit.h"
#include "train/fit/fit_state.h"
#include "train/fit/lbfgs_fit.h"
#include "train/start/fit_transforms.h"
#include "train/start/initial_parameters.h"
#include "unit/train/train_fixture.h"

namespace semicrf {
namespace {

// Features that tell the labels apart, a little.
TrainingData easy_data(std::uint64_t seed, int pieces = 4) {
  std::mt19937_64 random(seed);
  TrainingData data;
  data.num_labels = 3;
  data.num_tracks = 2;
  for (int i = 0; i < pieces; ++i) {
    data.pieces.push_back(test::random_piece(60, 3, 2, 8, random));
    TrainingPiece& piece = data.pieces.back();
    for (const Segment& segment : piece.segments)
      for (std::int64_t t = segment.begin; t < segment.end; ++t)
        piece.features[static_cast<std::size_t>(2 * t + segment.label % 2)] +=
            static_cast<float>(segment.label);
  }
  return data;
}

// A problem with everything that it refers to.
struct Fit {
  TrainingData training, validation;
  Parameters first;
  PathCounts counts;
  PenaltyOptions weights;
  ParameterSpace space;
  Penalties penalties;
  TrainingProblem problem;

  Fit(TrainingData data, TrainingData held_out)
      : training(std::move(data)),
        validation(std::move(held_out)),
        first(make_first(training, validation)),
        counts(count_paths(training)),
        space(first, {}, counts, weights),
        penalties(weights, first),
        problem(training, validation, space, penalties, engine()) {}

  static EngineOptions engine() {
    EngineOptions options;
    options.backend = EngineOptions::Backend::kReference;
    return options;
  }
  static Parameters make_first(const TrainingData& data, const TrainingData& held_out) {
    LabelFile labels;
    for (int c = 0; c < 3; ++c) labels.labels.push_back({test::numbered("label", c), std::nullopt});
    std::vector<Track> tracks(2);
    tracks[0].name = "a";
    tracks[1].name = "b";
    const DurationShape shape = settle_durations({}, data, held_out);
    return initial_parameters({}, shape, labels, tracks, 1, data, held_out);
  }
  FitState start() const {
    FitState state;
    state.x = space.pack(first);
    return state;
  }
};

TrainingData no_data() {
  TrainingData data;
  data.num_labels = 3;
  data.num_tracks = 2;
  return data;
}

}  // namespace

TEST_CASE("L-BFGS decreases the objective until the gradient is gone", "[train]") {
  const Fit fit(easy_data(1), no_data());
  FitState state = fit.start();
  std::vector<double> losses;
  const StopRule rule{2000, 1e-6, 20};
  fit_lbfgs(
      fit.problem, rule, [&](const IterationReport& report) { losses.push_back(report.loss); }, {}, state);
  CHECK(state.converged);
  CHECK(losses.size() == static_cast<std::size_t>(state.iteration));
  for (std::size_t i = 1; i < losses.size(); ++i) CHECK(losses[i] <= losses[i - 1] + 1e-12);
  std::vector<double> gradient(fit.problem.size());
  double nll = 0;
  fit.problem.evaluate(state.x, gradient, nll);
  double norm = 0;
  for (const double g : gradient) norm += g * g;
  CHECK(std::sqrt(norm) < 2e-3);
}

TEST_CASE("the learning rate rises and falls as asked", "[train]") {
  AdamWOptions options;
  options.learning_rate = 2;
  const auto rate = [&](double passes, std::int64_t steps) {
    return learning_rate(options, passes, 10, steps);
  };
  options.schedule = RateSchedule::kConstant;
  CHECK(rate(0, 0) == 2);
  CHECK(rate(10, 1000) == 2);
  options.schedule = RateSchedule::kLinear;
  CHECK(rate(0, 0) == 2);
  CHECK(rate(5, 0) == Approx(2 * (1 - 0.95 / 2)));
  CHECK(rate(10, 0) == Approx(0.1));
  options.schedule = RateSchedule::kCosine;
  CHECK(rate(0, 0) == 2);
  CHECK(rate(2.5, 0) == Approx(0.1 + 1.9 * (1 + std::sqrt(0.5)) / 2));
  CHECK(rate(10, 0) == Approx(0.1));
  options.warm_up = 4;
  CHECK(rate(0, 0) == Approx(0.5));
  CHECK(rate(0, 3) == Approx(2));
  CHECK(rate(0, 4) == 2);
}

TEST_CASE("long gradients are shortened", "[train]") {
  const Fit fit(easy_data(2), easy_data(3, 1));
  const std::vector<double> anchor = fit.start().x;
  AdamWOptions options;
  options.seed = 17;
  const auto moments = [&](double clip) {
    options.clip_norm = clip;
    FitState state = fit.start();
    double norm = 0;
    options.batch = 1000;  // one step
    fit_adamw(
        fit.problem, {1, 0, 1}, options, anchor,
        [&](const IterationReport& report) { norm = report.gradient_norm; }, {}, state);
    double squares = 0;
    for (const double m : state.first_moment) squares += m * m;
    return std::pair(norm, std::sqrt(squares) / 0.1);  // the first moment is a tenth of the gradient
  };
  const auto [norm, whole] = moments(0);
  CHECK(whole == Approx(norm));
  CHECK(moments(norm / 3).second == Approx(norm / 3));
  CHECK(moments(norm * 3).second == Approx(norm));
}

TEST_CASE("a fit that was stopped and resumed ends with the same bytes", "[train]") {
  const Fit fit(easy_data(2), easy_data(3, 1));
  const bool lbfgs = GENERATE(true, false);
  StopRule rule{130, 0, 1000};
  AdamWOptions adamw;
  adamw.batch = 2;
  adamw.seed = 17;
  adamw.schedule = GENERATE(RateSchedule::kLinear, RateSchedule::kCosine);
  if (adamw.schedule == RateSchedule::kCosine) {
    adamw.warm_up = 5;
    adamw.clip_norm = 0.01;
  }
  const std::vector<double> anchor = fit.start().x;
  const auto run = [&](FitState& state, const CheckpointSink& save) {
    if (lbfgs) {
      fit_lbfgs(fit.problem, rule, {}, save, state);
    } else {
      rule.max_iterations = 12;
      fit_adamw(fit.problem, rule, adamw, anchor, {}, save, state);
    }
  };
  std::vector<std::string> saved;
  FitState whole = fit.start();
  run(whole, [&](const FitState& state) {
    if (!lbfgs || state.finished || state.iteration % kRound == 0)
      saved.push_back(checkpoint_text("f", state));
  });
  REQUIRE(saved.size() >= 2);
  const test::TempFolder folder;
  for (const std::string& text : saved) {
    FitState state = read_checkpoint(folder.add("point", text), "f", fit.problem.size());
    CHECK(checkpoint_text("f", state) == text);
    run(state, {});
    CHECK(state == whole);
  }
}

TEST_CASE("training stops when the validation NLL rises, and keeps the best", "[train]") {
  FitState state;
  const StopRule rule{100, 0, 3};
  const double values[] = {5, 4, 4.5, 4.25, 4.125};
  for (const double value : values) {
    REQUIRE(!state.finished);
    state.iteration += 1;
    state.x = {value};
    state.losses.push_back(-state.iteration);
    state.validation = value;
    finish_iteration(rule, state);
  }
  CHECK(state.finished);
  CHECK(state.best_iteration == 2);
  CHECK(state.best_x == std::vector<double>{4});
}

TEST_CASE("damaged checkpoints are refused", "[train]") {
  FitState state;
  state.x = {1, -0.1, 1e-300};
  state.losses = {2, 1.5};
  state.iteration = 2;
  state.validation = 0.25;
  const test::TempFolder folder;
  const std::string text = checkpoint_text("print", state);
  const auto reads = [&](const std::string& content) {
    const std::string path = folder.add("point", content);
    return test::message_of([&] { read_checkpoint(path, "print", 3); });
  };
  CHECK(read_checkpoint(folder.add("good", text), "print", 3) == state);
  for (std::size_t length = 0; length < text.size(); ++length)
    CHECK(reads(text.substr(0, length)) != "nothing was thrown");
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string flipped = text;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    CHECK(reads(flipped) != "nothing was thrown");
  }
  CHECK(test::holds(reads(text + "x"), "damaged"));
  CHECK(test::holds(reads("a parameter file\n"), "not a checkpoint"));
  CHECK(test::holds(test::message_of([&] { read_checkpoint(folder.add("point", text), "other", 3); }),
                    "other data"));
  CHECK(test::holds(test::message_of([&] { read_checkpoint(folder.add("point", text), "print", 4); }),
                    "coordinates"));
  CHECK_THROWS_AS(read_checkpoint(folder / "absent", "print", 3), ReadError);

  // Sound but for a count that no fit can reach.
  std::string fields = text.substr(0, text.rfind("sha256 "));
  fields.replace(fields.find("iteration 2"), 11, "iteration 3000000000");
  CHECK(test::holds(reads(fields + "sha256 " + sha256_hex(fields) + "\n"), "too large"));
}

TEST_CASE("the first parameters allow every true path and follow the counts", "[train]") {
  const TrainingData data = easy_data(4);
  const Parameters first = Fit::make_first(data, no_data());
  const PathCounts counts = count_paths(data);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK((first.chain.transition[i] == kNegativeInfinity) == (i % 4 == 0 && counts.transition[i] == 0));
  CHECK(first.chain.has_tail());
  CHECK(first.chain.initial == InitialTerm::kNone);
  CHECK(first.centering == Centering::kNone);
  // Label 2 is seen in track a, label 1 in track b.
  CHECK(first.emission->weights[4] > first.emission->weights[2]);
  CHECK(first.emission->weights[3] > first.emission->weights[5]);
}

TEST_CASE("K without a tail must hold the longest segment", "[train]") {
  TrainingData data = easy_data(5);
  ShapeOptions options;
  options.max_duration = 3;
  const std::string message = test::message_of([&] { settle_durations(options, data, no_data()); });
  CHECK(test::holds(message, "--max-duration 8"));
  CHECK(test::holds(message, "chrA:"));
  options.tail = true;
  CHECK(settle_durations(options, data, no_data()).max_duration == 3);
  options.tail = false;
  options.max_duration = 1;  // a linear chain
  CHECK(settle_durations(options, data, no_data()).max_duration == 1);
}

TEST_CASE("transforms are fitted to the training bins", "[train]") {
  TrainingData data;
  data.num_labels = 1;
  data.num_tracks = 4;
  TrainingPiece piece;
  piece.length = 2000;
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  for (int t = 0; t < 2000; ++t) {
    piece.features.push_back(static_cast<float>(5 + 2 * normal(random)));        // symmetric
    piece.features.push_back(static_cast<float>(std::exp(2 * normal(random))));  // heavy, positive
    piece.features.push_back(static_cast<float>(std::sinh(2 * normal(random)) + (t == 0 ? 1e4 : 0)));
    piece.features.push_back(3);  // constant
  }
  piece.segments = {{0, 2000, 0}};
  data.pieces.push_back(piece);
  std::vector<Track> tracks(4);
  std::vector<Warning> warnings;
  fit_transforms(data, std::nullopt, tracks, warnings);
  CHECK(tracks[0].transform == Transform::kNone);
  CHECK(tracks[0].center == Approx(5).margin(0.2));
  CHECK(tracks[0].scale == Approx(2).margin(0.2));
  CHECK(tracks[1].transform == Transform::kLog1p);
  CHECK(tracks[2].transform == Transform::kAsinh);
  CHECK(tracks[3].scale == 1);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "constant-track");
  apply_transforms(tracks, data);
  for (std::size_t f = 0; f < 3; ++f) {
    double sum = 0, squares = 0;
    for (std::size_t t = 0; t < 2000; ++t) {
      const auto x = static_cast<double>(data.pieces[0].features[4 * t + f]);
      sum += x;
      squares += x * x;
    }
    CHECK(sum / 2000 == Approx(0).margin(1e-5));
    CHECK(squares / 2000 == Approx(1).margin(1e-5));
  }
}

TEST_CASE("a loss that is not finite is an error", "[train]") {
  TrainingData data = easy_data(6);
  data.pieces[1].features[5] = 3e38F;
  const Fit fit(easy_data(6), no_data());
  const TrainingProblem problem(data, fit.validation, fit.space, fit.penalties, Fit::engine());
  std::vector<double> x = fit.start().x;
  for (double& value : x) value *= 1e300;
  std::vector<double> gradient(x.size());
  double nll = 0;
  CHECK(test::holds(test::message_of([&] { problem.evaluate(x, gradient, nll); }), "not finite"));
}

}  // namespace semicrf
