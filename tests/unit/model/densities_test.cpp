// Densities against textbook formulas, sums and integrals.
#include "model/scores/densities.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "model/missing_tracks.h"
#include "support/catch.h"

namespace semicrf {
namespace {

Density student(double mean, double scale, double degrees) {
  Density density;
  density.mean = mean;
  density.scale = scale;
  density.degrees = degrees;
  return density;
}

Density beta_binomial(double mean, double size) {
  Density density;
  density.family = DensityFamily::kBetaBinomial;
  density.beside = "n";
  density.mean = mean;
  density.size = size;
  return density;
}

// Pólya's urn: each success makes the next one likelier.
double urn(int successes, int trials, double mean, double size) {
  double value = 1;
  for (int i = 0; i < successes; ++i) value *= (mean * size + i) / (size + i) * (trials - i) / (i + 1);
  for (int i = 0; i < trials - successes; ++i) value *= ((1 - mean) * size + i) / (size + successes + i);
  return value;
}

double value_of(const Density& density, double x, double trials = 0) {
  return std::exp(DensityFunction(density)(x, trials));
}

}  // namespace

TEST_CASE("Student's density with one degree is Cauchy's, with infinitely many the normal one",
          "[densities]") {
  for (const double x : {-3.0, 0.2, 1.0, 40.0}) {
    const double z = (x - 0.5) / 2;
    CHECK(value_of(student(0.5, 2, 1), x) == Approx(1 / (2 * std::numbers::pi * (1 + z * z))).epsilon(1e-12));
    const double normal = std::exp(-z * z / 2) / (2 * std::sqrt(2 * std::numbers::pi));
    CHECK(value_of(student(0.5, 2, std::numeric_limits<double>::infinity()), x) ==
          Approx(normal).epsilon(1e-12));
    // Three degrees: 2 / (pi sqrt(3) (1 + z^2/3)^2).
    CHECK(value_of(student(0.5, 2, 3), x) ==
          Approx(1 / (std::numbers::pi * std::sqrt(3.0) * std::pow(1 + z * z / 3, 2))).epsilon(1e-12));
  }
}

TEST_CASE("mirrored values and outliers are mixtures", "[densities]") {
  Density density = student(0.4, 0.2, 5);
  for (const double x : {-0.3, 0.0, 0.7}) {
    const double plain = value_of(density, x), turned = value_of(density, -x);
    Density both = density;
    both.mirrored = true;
    CHECK(value_of(both, x) == Approx((plain + turned) / 2).epsilon(1e-12));
    both.outliers = 0.1;
    both.outlier_density = 0.25;
    CHECK(value_of(both, x) == Approx(0.9 * (plain + turned) / 2 + 0.1 * 0.25).epsilon(1e-12));
    const DensityFunction function(both);
    const DensityFunction::Parts parts = function.parts(x, 0);
    CHECK(std::exp(parts.straight) == Approx(0.9 * plain / 2).epsilon(1e-12));
    CHECK(std::exp(parts.mirror) == Approx(0.9 * turned / 2).epsilon(1e-12));
    CHECK(std::exp(parts.inlier()) == Approx(0.9 * (plain + turned) / 2).epsilon(1e-12));
  }
}

TEST_CASE("the beta-binomial distribution is that of an urn and sums to 1", "[densities]") {
  for (const int trials : {1, 7, 600})  // the last are beyond the table
    for (const double size : {0.5, 12.0}) {
      double sum = 0, mirrored = 0, mixed = 0;
      Density both = beta_binomial(0.3, size), some = beta_binomial(0.3, size);
      both.mirrored = true;
      some.outliers = 0.2;
      for (int k = 0; k <= trials; ++k) {
        const double found = value_of(beta_binomial(0.3, size), k, trials);
        CHECK(found == Approx(urn(k, trials, 0.3, size)).epsilon(1e-9));
        CHECK(value_of(both, k, trials) ==
              Approx((found + urn(trials - k, trials, 0.3, size)) / 2).epsilon(1e-9));
        sum += found;
        mirrored += value_of(both, k, trials);
        mixed += value_of(some, k, trials);
      }
      CHECK(sum == Approx(1).epsilon(1e-9));
      CHECK(mirrored == Approx(1).epsilon(1e-9));
      CHECK(mixed == Approx(1).epsilon(1e-9));
    }
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(value_of(beta_binomial(0.3, infinite), 2, 5) == Approx(10 * 0.09 * 0.343).epsilon(1e-12));
}

TEST_CASE("what has no value says nothing, and successes lie within the trials", "[densities]") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(DensityFunction(student(1, 2, 3))(none, 0) == 0);
  const DensityFunction counts(beta_binomial(0.3, 4));
  CHECK(counts(0, 0) == 0);
  CHECK(counts(2, none) == 0);
  CHECK(counts(none, 5) == 0);
  CHECK(counts(7, 5) == counts(5, 5));
  CHECK(counts(-1, 5) == counts(0, 5));
}

TEST_CASE("a track of densities can be left out exactly", "[densities]") {
  Parameters parameters;
  parameters.labels = {{"A", std::nullopt}, {"B", std::nullopt}};
  parameters.tracks = {{.name = "k"}, {.name = "n"}, {.name = "x"}};
  for (const char* label : {"A", "B"}) {
    parameters.tracks.push_back(
        {.name = std::string("k in ") + label, .density_of = "k", .density = beta_binomial(0.3, 4)});
    parameters.tracks.push_back(
        {.name = std::string("x in ") + label, .density_of = "x", .density = student(0, 1, 4)});
  }
  parameters.emission = EmissionHead{{0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1}, {0, 0}};
  REQUIRE(has_only_densities(parameters));
  RecordedEmissions recorded;
  const auto parts = track_biases(parameters, recorded);
  REQUIRE(parts);
  CHECK(*parts == std::vector<double>(6, 0.0));
  // Without its trials a track of successes says nothing.
  Parameters left = parameters;
  const std::vector<std::string> names{"n", "k"};
  CHECK(leave_out_tracks(left, recorded, names));
  REQUIRE(left.tracks.size() == 3);
  CHECK(left.emission->weights == std::vector<double>{0, 1, 0, 0, 0, 1});
  parameters.emission->bias[1] = 0.1;
  CHECK_FALSE(has_only_densities(parameters));
}

}  // namespace semicrf
