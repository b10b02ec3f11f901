// M-steps, choices and starts by themselves.
#include <cmath>
#include <numeric>
#include <random>

#include "core/error.h"
#include "learn/cluster_start.h"
#include "learn/segment_law.h"
#include "model/missing_tracks.h"
#include "support/catch.h"
#include "train/emissions/emissions.h"
#include "unit/learn/learn_fixture.h"

namespace semicrf {
namespace {

TrainingData one_track(const std::vector<float>& values) {
  TrainingData data;
  data.num_tracks = 1;
  TrainingPiece piece;
  piece.location.chromosome = "x";
  piece.length = static_cast<std::int64_t>(values.size());
  piece.features = values;
  data.pieces.push_back(piece);
  return data;
}

std::vector<Track> track_a() {
  Track track;
  track.name = "a";
  return {track};
}

}  // namespace

TEST_CASE("the likeliest distribution of counts keeps above its floor", "[learn]") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> counts(2 + static_cast<std::size_t>(round % 7));
    for (double& count : counts) count = uniform(random) < 0.4 ? 0 : std::exp(40 * uniform(random) - 30);
    counts[0] += 1;
    const std::vector<double> p = likeliest(counts);
    CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-12));
    const auto value = [&](const std::vector<double>& q) {
      double sum = 0;
      for (std::size_t i = 0; i < q.size(); ++i) sum += counts[i] * std::log(q[i]);
      return sum;
    };
    for (const double entry : p) CHECK(entry >= kFloor * (1 - 1e-12));
    // Nothing can be moved from one entry to another with profit.
    for (std::size_t from = 0; from < p.size(); ++from)
      for (std::size_t to = 0; to < p.size(); ++to) {
        std::vector<double> moved = p;
        const double step = std::min(p[from] - kFloor, 1e-4);
        if (from == to || step <= 0) continue;
        moved[from] -= step;
        moved[to] += step;
        CHECK(value(moved) <= value(p) + 1e-12 * std::fabs(value(p)));
      }
  }
}

TEST_CASE("families are chosen by the values", "[learn]") {
  CHECK(choose_emission(one_track({0, 1, 1, 0})) == EmissionFamily::kBernoulli);
  CHECK(choose_emission(one_track({0, 1, 2, 1, 1})) == EmissionFamily::kPoisson);
  CHECK(choose_emission(one_track({0, 0, 0, 40, 0, 1})) == EmissionFamily::kNegativeBinomial);
  CHECK(choose_emission(one_track({0, 1, 0.5f})) == EmissionFamily::kGaussian);
  CHECK(choose_emission(one_track({0, 1, -1})) == EmissionFamily::kGaussian);
  for (const auto family : {EmissionFamily::kBernoulli, EmissionFamily::kGaussian, EmissionFamily::kPoisson,
                            EmissionFamily::kNegativeBinomial, EmissionFamily::kCategorical})
    CHECK(emission_from_name(emission_name(family)) == family);
  CHECK(!emission_from_name("auto"));
}

TEST_CASE("features follow from the family", "[learn]") {
  std::vector<Warning> warnings;
  std::vector<Track> tracks = track_a();
  // P(X >= n) of a Poisson variable with mean 0.5 is 1.7e-4 for n = 5 and 1.4e-5 for n = 6.
  TrainingData data = one_track({0, 0, 1, 0, 2, 0, 0, 1, 0, 1});
  fit_features(EmissionFamily::kBernoulli, {}, data, tracks, warnings);
  CHECK(tracks[0].transform == Transform::kBinarize);
  CHECK(tracks[0].threshold == 6);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "threshold-not-reached");
  warnings.clear();
  tracks = track_a();
  FeatureOptions options;
  options.threshold = 1;
  fit_features(EmissionFamily::kBernoulli, options, data, tracks, warnings);
  apply_features(tracks, data);
  CHECK(data.pieces[0].features == std::vector<float>{0, 0, 1, 0, 1, 0, 0, 1, 0, 1});
  CHECK(warnings.empty());

  tracks = track_a();
  data = one_track({1, 2, 3, 4});
  fit_features(EmissionFamily::kGaussian, {}, data, tracks, warnings);
  REQUIRE(tracks.size() == 2);
  CHECK(tracks[1].square_of == "a");
  apply_features(tracks, data);
  CHECK(data.num_tracks == 2);
  for (std::size_t i = 0; i < 8; i += 2)
    CHECK(data.pieces[0].features[i + 1] == data.pieces[0].features[i] * data.pieces[0].features[i]);

  tracks = track_a();
  CHECK_THROWS_AS(fit_features(EmissionFamily::kPoisson, {}, one_track({1, -2}), tracks, warnings),
                  InputError);
  for (const std::vector<float>& values : {std::vector<float>{1, -2}, {1, 0.5f}, {0, 1000}})
    CHECK_THROWS_AS(fit_features(EmissionFamily::kCategorical, {}, one_track(values), tracks, warnings),
                    InputError);
  warnings.clear();
  fit_features(EmissionFamily::kPoisson, {}, one_track({3, 3}), tracks, warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "constant-track");
}

TEST_CASE("categories have indicators, and probabilities with a floor", "[learn]") {
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  std::vector<Warning> warnings;
  std::vector<Track> tracks = track_a();
  tracks[0].missing = MissingPolicy::kMarginal;
  TrainingData data = one_track({0, 2, nothing, 2});
  const TrainingData held_out = one_track({3});
  FeatureOptions options;
  options.held_out = &held_out;
  fit_features(EmissionFamily::kCategorical, options, data, tracks, warnings);
  REQUIRE(tracks.size() == 5);
  CHECK(tracks[3].name == "a=2");
  CHECK(tracks[3].indicator_of == "a");
  tracks.push_back(absence(tracks[0]));
  apply_features(tracks, data);
  CHECK(data.pieces[0].features == std::vector<float>{0, 1, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0,  //
                                                      0, 0, 0, 0, 0, 1, 2, 0, 0, 1, 0, 0});
  Emissions emissions(EmissionFamily::kCategorical, data);
  Parameters two;
  two.labels.resize(2);
  CHECK(emissions.free_parameters(two) == 6);
  EmissionHead head{std::vector<double>(6), std::vector<double>(1)};
  emissions.maximize({{4}, {4, 1, 0, 2, 0, 1}}, head);
  const double rest = 1 - 2e-6;
  for (const auto& [column, p] : {std::pair(1u, rest / 3), {2u, 1e-6}, {3u, rest * 2 / 3}, {4u, 1e-6}})
    CHECK(head.weights[column] == Approx(std::log(p)).epsilon(1e-12));
  for (const double zero : {head.weights[0], head.weights[5], head.bias[0]}) CHECK(zero == 0);
}

TEST_CASE("labels without bins keep their parameters, and nothing becomes infinite", "[learn]") {
  for (const auto family : {EmissionFamily::kBernoulli, EmissionFamily::kGaussian, EmissionFamily::kPoisson,
                            EmissionFamily::kNegativeBinomial, EmissionFamily::kCategorical}) {
    TrainingData data = one_track({0, 0, 0, 0});
    std::vector<Track> tracks = track_a();
    std::vector<Warning> warnings;
    fit_features(family, {}, data, tracks, warnings);
    apply_features(tracks, data);
    Emissions emissions(family, data);
    const std::size_t columns = tracks.size();
    EmissionHead head{std::vector<double>(2 * columns, 7.0), std::vector<double>(2, 7.0)};
    EmissionSums sums{{4, 0}, std::vector<double>(2 * columns)};
    emissions.maximize(sums, head);
    for (std::size_t f = 0; f < columns; ++f) {
      CHECK(std::isfinite(head.weights[f]));
      CHECK(head.weights[columns + f] == 7);
    }
    CHECK(std::isfinite(head.bias[0]));
    CHECK(head.bias[1] == 7);
    CHECK(std::isfinite(emissions.base_measure(emissions.values())));
  }
}

TEST_CASE("of a track with holes the bins with a value count", "[learn]") {
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{3, nothing, 1, 0, nothing, 4};
  const std::vector<double> first{0.9, 0.5, 0.2, 0.7, 0.1, 0.4};  // P(label 1) of the bins
  for (const auto family : {EmissionFamily::kGaussian, EmissionFamily::kPoisson}) {
    INFO(emission_name(family));
    TrainingData data = one_track(values);
    std::vector<Track> tracks = track_a();
    tracks[0].missing = MissingPolicy::kMarginal;
    if (family == EmissionFamily::kGaussian) {
      Track square;
      square.name = "a^2";
      square.square_of = "a";
      tracks.push_back(square);
    }
    tracks.push_back(absence(tracks[0]));
    apply_features(tracks, data);
    const std::size_t columns = tracks.size();
    EmissionSums sums{std::vector<double>(2), std::vector<double>(2 * columns)};
    double bins[2] = {}, ones[2] = {}, squares[2] = {};
    for (std::size_t t = 0; t < values.size(); ++t)
      for (std::size_t c = 0; c < 2; ++c) {
        const double p = c == 0 ? first[t] : 1 - first[t];
        sums.bins[c] += p;
        for (std::size_t f = 0; f < columns; ++f)
          sums.features[c * columns + f] += p * static_cast<double>(data.pieces[0].features[t * columns + f]);
        if (std::isnan(values[t])) continue;
        const auto x = static_cast<double>(values[t]);
        bins[c] += p;
        ones[c] += p * x;
        squares[c] += p * x * x;
      }
    EmissionHead head{std::vector<double>(2 * columns), std::vector<double>(2)};
    Emissions(family, data).maximize(sums, head);
    for (std::size_t c = 0; c < 2; ++c) {
      const double mean = ones[c] / bins[c], variance = squares[c] / bins[c] - mean * mean;
      const bool gaussian = family == EmissionFamily::kGaussian;
      CHECK(head.weights[c * columns] == Approx(gaussian ? mean / variance : std::log(mean)).epsilon(1e-12));
      CHECK(head.bias[c] ==
            Approx(gaussian ? -0.5 * (mean * mean / variance + std::log(2 * std::numbers::pi * variance))
                            : -mean)
                .epsilon(1e-12));
      CHECK(head.weights[(c + 1) * columns - 1] == -head.bias[c]);
    }
  }
}

TEST_CASE("clusters that lie apart are found, by the seed alone", "[learn]") {
  std::vector<float> values;
  std::mt19937_64 random(5);
  std::normal_distribution<float> noise(0, 0.3f);
  for (int i = 0; i < 3000; ++i) values.push_back(static_cast<float>(i / 100 % 3) * 5 + noise(random));
  const TrainingData data = one_track(values);
  const std::vector<int> found = cluster_bins(data, EmissionFamily::kGaussian, {.labels = 3});
  CHECK(found == cluster_bins(data, EmissionFamily::kGaussian, {.labels = 3}));
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == found[i / 100 % 3 * 100]);
  CHECK(found[0] != found[100]);
  CHECK(found[0] != found[200]);
  CHECK(found[100] != found[200]);
}

TEST_CASE("laws of segments are probabilities", "[learn]") {
  for (const LawOptions& options : {LawOptions{}, LawOptions{5, false, LawKind::kTable, true},
                                    LawOptions{5, true, LawKind::kNegativeBinomial, false},
                                    LawOptions{{}, false, LawKind::kGeometric, false}}) {
    const SegmentLaw law(options, 3);
    ChainModel chain = law.first(4);
    ParameterGradient counts;
    counts.start = {1, 2, 0};
    counts.transition = {1, 2, 3, 4, 5, 6, 0, 0, 0};
    counts.duration.assign(chain.duration_bias.size(), 1.5);
    counts.tail.assign(chain.log_tail.size(), 2);
    for (int round = 0; round < 2; ++round) {
      for (int c = 0; c < 3; ++c) {
        double sum = 0;
        for (int k = 1; k <= chain.max_duration; ++k) sum += std::exp(chain.duration_score(k, c));
        if (chain.has_tail())
          sum += std::exp(chain.duration_score(chain.max_duration + 1, c)) /
                 -std::expm1(chain.log_tail[static_cast<std::size_t>(c)]);
        CHECK(sum == Approx(1).epsilon(1e-9));
        double row = 0;
        for (int to = 0; to < 3; ++to) row += std::exp(chain.transition_at(c, to));
        CHECK(row == Approx(1).epsilon(1e-9));
      }
      law.maximize(counts, chain);
    }
    // Of 2 positions beyond K and segments that reach it; geometric durations: of all bins and segments.
    if (!chain.has_tail()) continue;
    double segments = 0, bins = 2;
    for (int k = 1; k <= chain.max_duration; ++k) {
      segments += 1.5;
      bins += 1.5 * k;
    }
    const double q = options.durations == LawKind::kGeometric ? 1 - segments / bins : 2 / 3.5;
    CHECK(std::exp(chain.log_tail[0]) == Approx(q).epsilon(1e-12));
  }
  CHECK_THROWS_AS(SegmentLaw(LawOptions{}, 1), UsageError);
}

TEST_CASE("labels may have shortest durations of their own", "[learn]") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 9);
  for (const LawKind kind : {LawKind::kTable, LawKind::kGeometric, LawKind::kNegativeBinomial}) {
    INFO("law " << static_cast<int>(kind));
    LawOptions options{10, true, kind, false};
    options.shortest = {4, 1, 2};
    CHECK(options.least_duration() == 1);
    const SegmentLaw mixed(options, 3);
    int free = 0;
    Parameters shape;
    shape.labels.resize(3);
    shape.chain = mixed.first(9);
    ParameterGradient counts(shape);
    for (std::vector<double>* list : {&counts.start, &counts.transition, &counts.duration, &counts.tail})
      for (double& count : *list) count = uniform(random);
    ChainModel chain = shape.chain;
    for (std::size_t c = 0; c < 3; ++c)
      for (int k = 1; k < options.shortest[c]; ++k) counts.duration[(k - 1) * 3 + c] = 0;
    mixed.maximize(counts, chain);
    const ChainModel made = mixed.reshaped(SegmentLaw({20, true, kind, false, 1}, 3).first(9));
    for (std::size_t c = 0; c < 3; ++c) {
      LawOptions alone{10, true, kind, false, options.shortest[c]};
      const SegmentLaw one(alone, 3);
      free += one.free_parameters({true, true, false, false}) / 3;
      ChainModel expected = one.first(9);
      const ChainModel expected_made = one.reshaped(SegmentLaw({20, true, kind, false, 1}, 3).first(9));
      for (std::size_t k = 0; k < 10; ++k)
        CHECK(shape.chain.duration_bias[k * 3 + c] == expected.duration_bias[k * 3 + c]);
      one.maximize(counts, expected);
      for (std::size_t k = 0; k < 10; ++k) {
        CHECK(chain.duration_bias[k * 3 + c] == expected.duration_bias[k * 3 + c]);
        CHECK(made.duration_bias[k * 3 + c] == expected_made.duration_bias[k * 3 + c]);
      }
      CHECK(chain.log_tail[c] == expected.log_tail[c]);
    }
    CHECK(mixed.free_parameters({true, true, false, false}) == free);
    options.tied = true;
    CHECK_THROWS_AS(SegmentLaw(options, 3), UsageError);
  }
}

TEST_CASE("laws with a shortest duration are laws of what segments have beyond it", "[learn]") {
  for (const LawKind kind : {LawKind::kTable, LawKind::kGeometric, LawKind::kNegativeBinomial}) {
    INFO("law " << static_cast<int>(kind));
    const SegmentLaw law({10, true, kind, false, 4}, 2), beyond({7, true, kind, false, 1}, 2);
    ChainModel chain = law.first(9), moved = beyond.first(6);
    Parameters shape, moved_shape;
    for (Parameters* of : {&shape, &moved_shape}) of->labels.resize(2);
    shape.chain = chain;
    moved_shape.chain = moved;
    ParameterGradient counts(shape), moved_counts(moved_shape);
    const std::vector<double> seen{5, 9, 12, 7, 3, 2, 6};
    for (std::size_t k = 0; k < seen.size(); ++k)
      for (std::size_t c = 0; c < 2; ++c)
        counts.duration[(k + 3) * 2 + c] = moved_counts.duration[k * 2 + c] = seen[k];
    counts.tail = moved_counts.tail = {8, 8};
    const auto check = [&] {
      for (std::size_t i = 0; i < 6; ++i) CHECK(chain.duration_bias[i] == kNegativeInfinity);
      for (std::size_t i = 6; i < 20; ++i)
        CHECK(chain.duration_bias[i] == Approx(moved.duration_bias[i - 6]).epsilon(1e-9));
      CHECK(chain.log_tail[0] == Approx(moved.log_tail[0]).epsilon(1e-9));
    };
    check();
    law.maximize(counts, chain);
    beyond.maximize(moved_counts, moved);
    check();
    CHECK(law.free_parameters() == beyond.free_parameters());
    // From another law: its probabilities, given that a segment is long enough.
    const ChainModel made = law.reshaped(SegmentLaw({20, true, kind, false, 1}, 2).first(9));
    double sum = 0;
    for (std::size_t k = 0; k < 10; ++k) sum += std::exp(made.duration_bias[k * 2]);
    sum += std::exp(made.duration_bias[18] + made.log_tail[0]) / -std::expm1(made.log_tail[0]);
    CHECK(sum == Approx(1).epsilon(1e-9));
    for (std::size_t k = 0; k < 3; ++k) CHECK(made.duration_bias[k * 2] == kNegativeInfinity);
  }
  CHECK_THROWS_AS(SegmentLaw({5, true, LawKind::kTable, false, 6}, 2), UsageError);
}

}  // namespace semicrf
