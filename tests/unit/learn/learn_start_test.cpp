// Where fits start, and what is said of their end.
#include <limits>

#include "learn/cluster_start.h"
#include "learn/em_start.h"
#include "learn/learn_fits.h"
#include "learn/learn_shapes.h"
#include "learn/learn_warnings.h"
#include "support/slow_build.h"
#include "train/objective/objective.h"
#include "unit/learn/learn_samples.h"

namespace semicrf {
namespace {

using namespace test;

// Long segments of labels that single bins do not tell apart: means `apart` times half a standard deviation
// from each other.
Sample overlapping(const std::vector<std::int64_t>& lengths, double holes, double apart = 1) {
  Sample sample = draw_sample(EmissionFamily::kGaussian, {30, true, LawKind::kTable, false}, 3, 2, {1}, 11);
  std::mt19937_64 random(12);
  sample.truth.chain = SegmentLaw({30, true, LawKind::kTable, false}, 3).first(150);
  for (std::size_t i = 0; i < 6; ++i) {
    sample.model.mean[i] = apart * std::vector{-0.4, -0.4, 0.4, -0.4, 0.0, 0.5}[i];
    sample.model.variance[i] = 1;
  }
  sample.truth.emission = head_of(sample.model);
  sample.raw.pieces.clear();
  for (const std::int64_t length : lengths) {
    sample.raw.pieces.push_back(draw_piece(sample.truth.chain, sample.model, length, random));
    for (float& value : sample.raw.pieces.back().features)
      if (std::bernoulli_distribution(holes)(random)) value = std::numeric_limits<float>::quiet_NaN();
  }
  if (holes > 0) {
    for (Track& track : sample.truth.tracks)
      if (track.is_input()) track.missing = MissingPolicy::kMarginal;
    add_absences(sample.truth, {});
  }
  sample.data = sample.raw;
  apply_features(sample.truth.tracks, sample.data);
  return sample;
}

EmStart start_at(const Sample& sample, int threads, LearnStart from = LearnStart::kKMeans) {
  return choose_start(sample.data, sample.truth, {30, true, LawKind::kTable, false}, {sample.model.family},
                      {.labels = 3, .start = from, .seed = 1},
                      engine_of(EngineOptions::Backend::kCpu, Precision::kDouble, threads));
}

double per_bin(const Sample& sample, const Parameters& parameters) {
  return log_evidence(sample.data, parameters, engine_of(EngineOptions::Backend::kCpu), nullptr) /
         static_cast<double>(sample.data.positions());
}

}  // namespace

TEST_CASE("starts find long segments of labels that overlap", "[learn]") {
  for (const double holes : {0.0, 0.4}) {
    if (testing::kSlowBuild && holes == 0) continue;
    INFO(holes << " missing");
    const Sample sample = overlapping({9000, 40, 6000}, holes);
    const EmStart start = start_at(sample, 1);
    if (holes > 0) CHECK(start.window > 1);  // without holes clusters of single bins get as far
    const double truth = per_bin(sample, sample.truth);
    CHECK(per_bin(sample, start.parameters) > truth - 0.003);
    // Any number of threads; other seeds.
    const EmStart again = start_at(sample, 3);
    CHECK(again.parameters.emission->weights == start.parameters.emission->weights);
    CHECK(again.parameters.chain.duration_bias == start.parameters.chain.duration_bias);
    // Bins drawn at random are not clusters.
    CHECK(start_at(sample, 1, LearnStart::kRandom).window == 1);
  }
}

TEST_CASE("a part of long data is enough to start from", "[learn]") {
  const Sample sample = overlapping({30'000, 1, 70'000, 20'000}, 0);
  const EmStart start = start_at(sample, 2);
  CHECK(per_bin(sample, start.parameters) > per_bin(sample, sample.truth) - 0.003);
}

TEST_CASE("long data are fitted to a part first, and end where they would without", "[learn]") {
  const Sample sample = overlapping({30'000, 25, 90'000}, 0, 3);
  LearnOptions options;
  options.labels = {3};
  options.emissions.choices = {{"", "gaussian"}};
  options.law = {30, true, LawKind::kTable, false};
  options.transform = Transform::kNone;
  options.start = LearnStart::kRandom;
  std::vector<Track> tracks(2);
  tracks[0].name = "a";
  tracks[1].name = "b";
  const LearnData data = learn_data_of(options, std::nullopt, sample.raw, tracks);
  const auto fitted = [&](std::int64_t part, int threads, int iterations = 200) {
    options.part = part;  // `data` do not depend on what changes here
    options.max_iterations = iterations;
    EmState first;
    first.parameters = LearnShapes(options, data).shaped(3);
    return fit_job(options, data, {3, 0},
                   engine_of(EngineOptions::Backend::kCpu, Precision::kDouble, threads), first, {});
  };
  const FitResult whole = fitted(1 << 20, 2), part = fitted(25'000, 2);
  CHECK(whole.part_iterations == 0);
  CHECK(part.part_iterations > 0);
  const double bins = static_cast<double>(data.inputs.training.positions());
  CHECK(part.state.log_likelihood.back() / bins > whole.state.log_likelihood.back() / bins - 1e-4);
  CHECK(fitted(25'000, 1).state.parameters.emission->weights == part.state.parameters.emission->weights);
  CHECK(fitted(25'000, 2, 0).part_iterations == 0);  // none asked for: none at all
}

TEST_CASE("stretches have no piece that is too short for the model, but whole ones", "[learn]") {
  const Sample sample = overlapping({1000, 3, 997}, 0);
  const auto lengths = [&](std::int64_t bins, int shortest) {
    std::vector<std::int64_t> found;
    for (const TrainingPiece& piece : stretches_of(sample.data, bins, shortest).pieces)
      found.push_back(piece.length);
    return found;
  };
  // Sixteen stretches of 63 bins, 125 from each other: the ninth begins with the second piece.
  const std::vector<std::int64_t> all = lengths(1008, 1);
  CHECK(std::ranges::count(all, 63) == 15);
  CHECK(std::ranges::count(all, 3) == 1);
  CHECK(std::ranges::count(all, 60) == 1);
  CHECK(lengths(1008, 61).size() == all.size() - 1);
  CHECK(std::ranges::count(lengths(1008, 61), 3) == 1);
}

TEST_CASE("bins without a value have the cluster of those around them", "[learn]") {
  Sample sample =
      draw_sample(EmissionFamily::kGaussian, {5, true, LawKind::kTable, false}, 2, 1, {200}, 3, 0.1);
  for (std::size_t t = 0; t < 200; ++t) {
    float& value = sample.raw.pieces[0].features[t];
    if (!std::isnan(value))
      value = t < 100 ? -5.0f + static_cast<float>(t % 3) : 5.0f + static_cast<float>(t % 3);
  }
  sample.data = sample.raw;
  apply_features(sample.truth.tracks, sample.data);
  const std::vector<int> found =
      cluster_bins(sample.data, EmissionFamily::kGaussian, {.labels = 2, .reach = 4});
  for (std::size_t t = 0; t < 200; ++t)
    if (t < 96 || t >= 104) CHECK(found[t] == found[t < 100 ? 0 : 199]);
  CHECK(found[0] != found[199]);
}

TEST_CASE("large counts do not hide small ones from the clusters", "[learn]") {
  std::mt19937_64 random(8);
  TrainingData data;
  data.num_tracks = 1;
  TrainingPiece piece;
  piece.length = 3000;
  for (int t = 0; t < 3000; ++t) {
    const double mean = std::vector{2.0, 40.0, 4000.0}[static_cast<std::size_t>(t / 100 % 3)];
    piece.features.push_back(static_cast<float>(std::poisson_distribution<int>(mean)(random)));
  }
  data.pieces.push_back(piece);
  const std::vector<int> found = cluster_bins(data, EmissionFamily::kPoisson, {.labels = 3});
  int wrong = 0;
  for (std::size_t t = 0; t < 3000; ++t) wrong += found[t] != found[t / 100 % 3 * 100];
  CHECK(wrong < 30);
  CHECK(found[0] != found[100]);
  CHECK(found[100] != found[200]);
}

TEST_CASE("segments as long as K are told", "[learn]") {
  Parameters parameters;
  parameters.labels = {{"a", {}}, {"b", {}}};
  const auto with = [&](double mean, bool tail) {
    parameters.chain = SegmentLaw({20, tail, LawKind::kTable, false}, 2).first(mean);
    return warnings_of_model(parameters, {100, 100});
  };
  CHECK(with(200, true).empty());  // geometric as it stands
  CHECK(with(4, true).empty());
  parameters.chain = SegmentLaw({20, true, LawKind::kTable, false}, 2).first(200);
  parameters.chain.duration_bias[3] += 0.5;  // 2 bins, of b
  std::vector<Warning> found = warnings_of_model(parameters, {100, 0.5});
  REQUIRE(found.size() == 2);
  CHECK(found[0].code == "empty-label");
  CHECK(found[1].code == "durations-at-cap");
  CHECK(found[1].message.find("label \"b\" (91 %); --max-duration 450 --tail") != std::string::npos);
}

}  // namespace semicrf
