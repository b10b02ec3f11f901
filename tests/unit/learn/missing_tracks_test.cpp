// Tracks that are left out of models with independent tracks.
#include "model/missing_tracks.h"

#include <cmath>
#include <random>

#include "core/error.h"
#include "support/catch.h"
#include "unit/learn/learn_fixture.h"

namespace semicrf {
namespace {

constexpr std::size_t kLabels = 3, kTracks = 4;

struct Drawn {
  test::TextbookTracks model;
  Parameters parameters;
  RecordedEmissions recorded;
};

Drawn draw_parameters(EmissionFamily family, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Drawn drawn{test::random_tracks(family, kLabels, kTracks, random), {}, {}};
  for (const char* name : {"a", "b", "c"}) drawn.parameters.labels.push_back({name, std::nullopt});
  drawn.parameters.tracks = test::feature_tracks(drawn.model);
  drawn.parameters.emission = test::head_of(drawn.model);
  if (family == EmissionFamily::kNegativeBinomial) drawn.recorded.sizes = drawn.model.size;
  return drawn;
}

}  // namespace

TEST_CASE("what is left without some tracks is the textbook's model of the others", "[missing_tracks]") {
  for (const auto family : {EmissionFamily::kBernoulli, EmissionFamily::kGaussian, EmissionFamily::kPoisson,
                            EmissionFamily::kNegativeBinomial, EmissionFamily::kCategorical}) {
    INFO(emission_name(family));
    Drawn drawn = draw_parameters(family, 11);
    const std::vector<std::string> names{"t4", "t2"};
    CHECK(leave_out_tracks(drawn.parameters, drawn.recorded, names));
    test::TextbookTracks left{family, kLabels, 2, {}, {}, {}};
    for (std::size_t c = 0; c < kLabels; ++c)
      for (const std::size_t f : {0u, 2u}) {
        left.mean.push_back(drawn.model.mean[c * kTracks + f]);
        left.variance.push_back(drawn.model.variance[c * kTracks + f]);
      }
    left.size = {drawn.model.size[0], drawn.model.size[2]};
    const EmissionHead expected = test::head_of(left);
    CHECK(drawn.parameters.emission->weights == expected.weights);
    for (std::size_t c = 0; c < kLabels; ++c)
      CHECK(drawn.parameters.emission->bias[c] == Approx(expected.bias[c]).epsilon(1e-12));
    CHECK(drawn.parameters.tracks.size() == expected.weights.size() / kLabels);
    CHECK(drawn.parameters.tracks[1].name == "t3");
    if (family == EmissionFamily::kNegativeBinomial) CHECK(drawn.recorded.sizes == left.size);
    // And what is left can lose more.
    CHECK(leave_out_tracks(drawn.parameters, drawn.recorded, std::vector<std::string>{"t1"}));
  }
}

TEST_CASE("heads that are no distributions count a missing track as its mean", "[missing_tracks]") {
  Drawn drawn = draw_parameters(EmissionFamily::kPoisson, 12);
  drawn.parameters.emission->bias[1] += 1e-3;
  BoundaryHead boundary;
  boundary.first = -1;
  for (std::size_t i = 0; i < kLabels * 2 * kTracks; ++i)
    boundary.start_weights.push_back(static_cast<double>(i));
  drawn.parameters.boundary = boundary;
  const std::vector<double> bias = drawn.parameters.emission->bias;
  CHECK(!track_biases(drawn.parameters, {}));
  CHECK(!leave_out_tracks(drawn.parameters, drawn.recorded, std::vector<std::string>{"t1"}));
  CHECK(drawn.parameters.emission->bias == bias);
  CHECK(drawn.parameters.emission->weights.size() == kLabels * (kTracks - 1));
  const std::vector<double>& starts = drawn.parameters.boundary->start_weights;
  REQUIRE(starts.size() == kLabels * 2 * (kTracks - 1));
  CHECK(std::vector<double>(starts.begin(), starts.begin() + 6) == std::vector<double>{1, 2, 3, 5, 6, 7});

  for (Track& track : drawn.parameters.tracks) track.missing = MissingPolicy::kMarginal;
  add_absences(drawn.parameters, {});
  CHECK(drawn.parameters.tracks.size() == kTracks - 1);
  CHECK(drawn.parameters.tracks[0].missing == MissingPolicy::kMean);
}

TEST_CASE("absences come and go", "[missing_tracks]") {
  Drawn drawn = draw_parameters(EmissionFamily::kGaussian, 13);
  const EmissionHead before = *drawn.parameters.emission;
  drawn.parameters.tracks[1].missing = drawn.parameters.tracks[3].missing = MissingPolicy::kMarginal;
  add_absences(drawn.parameters, {});
  REQUIRE(drawn.parameters.tracks.size() == 2 * kTracks + 2);
  CHECK(drawn.parameters.tracks.back().absence_of == "t4");
  // A bin without a value has this row: 0 in the track and its square, 1 in the absence.
  for (std::size_t c = 0; c < kLabels; ++c) {
    const double score = drawn.parameters.emission->bias[c] + drawn.parameters.emission->weights[c * 10 + 8] +
                         drawn.parameters.emission->weights[c * 10 + 9];
    const float nothing[] = {0, std::nanf(""), 0, std::nanf("")};
    CHECK(score == Approx(drawn.model.log_density(c, nothing)).epsilon(1e-12));
  }
  remove_absences(drawn.parameters);
  CHECK(drawn.parameters.emission->weights == before.weights);
  CHECK(drawn.parameters.tracks.size() == 2 * kTracks);
}

TEST_CASE("heads that are a multiple of log densities lose that multiple of a term", "[missing_tracks]") {
  for (const auto family : {EmissionFamily::kBernoulli, EmissionFamily::kGaussian, EmissionFamily::kPoisson,
                            EmissionFamily::kNegativeBinomial, EmissionFamily::kCategorical}) {
    INFO(emission_name(family));
    Drawn once = draw_parameters(family, 15), often = draw_parameters(family, 15);
    often.recorded.scale = 40;
    for (auto* list : {&often.parameters.emission->weights, &often.parameters.emission->bias})
      for (double& number : *list) number *= 40;
    CHECK(!track_biases(once.parameters, often.recorded));
    const auto parts = track_biases(once.parameters, once.recorded);
    const auto scaled = track_biases(often.parameters, often.recorded);
    REQUIRE(parts);
    REQUIRE(scaled);
    for (std::size_t i = 0; i < parts->size(); ++i)
      CHECK((*scaled)[i] == Approx(40 * (*parts)[i]).epsilon(1e-9));
  }
}

TEST_CASE("tracks that cannot be left out are refused", "[missing_tracks]") {
  Drawn drawn = draw_parameters(EmissionFamily::kBernoulli, 14);
  const auto leave_out = [&](const std::vector<std::string>& names) {
    leave_out_tracks(drawn.parameters, drawn.recorded, names);
  };
  CHECK_THROWS_AS(leave_out({"t5"}), UsageError);
  CHECK_THROWS_AS(leave_out({"t1", "t2", "t3", "t4"}), UsageError);
  drawn.parameters.emission.reset();
  drawn.parameters.tracks.clear();
  CHECK_THROWS_AS(leave_out({"t1"}), UsageError);
}

}  // namespace semicrf
