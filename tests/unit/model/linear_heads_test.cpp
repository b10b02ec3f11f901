#include "model/linear_heads.h"

#include <cmath>
#include <limits>
#include <random>

#include "support/catch.h"

using namespace semicrf;

namespace {

struct Shape {
  int labels, tracks, first, last;
  std::int64_t length;
};

std::vector<double> random_numbers(std::mt19937& random, std::size_t count) {
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

Parameters random_heads(std::mt19937& random, const Shape& shape) {
  Parameters parameters;
  const auto labels = static_cast<std::size_t>(shape.labels);
  const auto tracks = static_cast<std::size_t>(shape.tracks);
  parameters.labels.resize(labels);
  parameters.tracks.resize(tracks);
  parameters.emission = EmissionHead{random_numbers(random, labels * tracks), random_numbers(random, labels)};
  BoundaryHead head;
  head.first = shape.first;
  head.last = shape.last;
  const std::size_t inputs = tracks * static_cast<std::size_t>(shape.last - shape.first + 1);
  head.start_weights = random_numbers(random, labels * inputs);
  head.start_bias = random_numbers(random, labels);
  head.end_weights = random_numbers(random, labels * inputs);
  parameters.boundary = head;
  return parameters;
}

// The formula of linear_heads.h, term by term.
double boundary_score(const Shape& shape, const std::vector<double>& weights, const std::vector<double>& bias,
                      const std::vector<float>& x, std::int64_t t, int label) {
  double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(label)];
  const int width = shape.last - shape.first + 1;
  for (int o = shape.first; o <= shape.last; ++o) {
    if (t + o < 0 || t + o >= shape.length) continue;
    for (int f = 0; f < shape.tracks; ++f) {
      const int column = (o - shape.first) * shape.tracks + f;
      sum += weights[static_cast<std::size_t>(label * width * shape.tracks + column)] *
             static_cast<double>(x[static_cast<std::size_t>((t + o) * shape.tracks + f)]);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("linear heads follow their formulas in any window") {
  const unsigned seed = 20240611;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const Shape& shape :
       {Shape{1, 1, 0, 0, 1}, Shape{3, 2, -2, 1, 17}, Shape{4, 5, 1, 3, 9}, Shape{10, 10, -4, -2, 33},
        Shape{9, 3, -30, 30, 12}, Shape{2, 1, 40, 50, 20}, Shape{2, 1, -50, -40, 20}}) {
    INFO("C " << shape.labels << " F " << shape.tracks << " window " << shape.first << ".." << shape.last);
    const Parameters parameters = random_heads(random, shape);
    const LinearHeads heads(parameters);
    const auto labels = static_cast<std::size_t>(shape.labels);
    const auto tracks = static_cast<std::size_t>(shape.tracks);
    const auto length = static_cast<std::size_t>(shape.length);
    const std::vector<double> drawn = random_numbers(random, length * tracks);
    const std::vector<float> x(drawn.begin(), drawn.end());
    REQUIRE(heads.has_start());
    REQUIRE(heads.has_end());
    CHECK(heads.halo_before() == std::max(0, -shape.first));
    CHECK(heads.halo_after() == std::max(0, shape.last));

    const FeatureWindow<float> whole{x.data(), 0, shape.length, shape.length};
    std::vector<double> f(length * labels), starts(f), ends(f);
    heads.emissions(whole, 0, shape.length, f.data());
    heads.start_scores(whole, 0, shape.length, starts.data());
    heads.end_scores(whole, 0, shape.length, ends.data());
    for (std::int64_t t = 0; t < shape.length; ++t) {
      for (int c = 0; c < shape.labels; ++c) {
        const auto i = static_cast<std::size_t>(t) * labels + static_cast<std::size_t>(c);
        double sum = parameters.emission->bias[static_cast<std::size_t>(c)];
        for (std::size_t j = 0; j < tracks; ++j) {
          sum += parameters.emission->weights[static_cast<std::size_t>(c) * tracks + j] *
                 static_cast<double>(x[static_cast<std::size_t>(t) * tracks + j]);
        }
        REQUIRE(f[i] == Approx(sum).margin(1e-12));
        const BoundaryHead& head = *parameters.boundary;
        REQUIRE(starts[i] ==
                Approx(boundary_score(shape, head.start_weights, head.start_bias, x, t, c)).margin(1e-12));
        REQUIRE(ends[i] == Approx(boundary_score(shape, head.end_weights, {}, x, t, c)).margin(1e-12));
      }
    }

    // Windows with just the halo they need give the same bits, in double and rounded to float.
    for (std::int64_t begin = 0; begin < shape.length; begin += 5) {
      const std::int64_t end = std::min(shape.length, begin + 5);
      const std::int64_t from = std::max<std::int64_t>(0, begin - heads.halo_before());
      const std::int64_t to = std::min(shape.length, end + heads.halo_after());
      const FeatureWindow<float> window{x.data() + static_cast<std::size_t>(from) * tracks, from, to,
                                        shape.length};
      std::vector<double> part(static_cast<std::size_t>(end - begin) * labels);
      std::vector<float> narrow(part.size());
      const auto same = [&](const std::vector<double>& all) {
        const std::size_t skip = static_cast<std::size_t>(begin) * labels;
        for (std::size_t i = 0; i < part.size(); ++i) {
          REQUIRE(part[i] == all[skip + i]);
          REQUIRE(narrow[i] == static_cast<float>(all[skip + i]));
        }
      };
      heads.emissions(window, begin, end, part.data());
      heads.emissions(window, begin, end, narrow.data());
      same(f);
      heads.start_scores(window, begin, end, part.data());
      heads.start_scores(window, begin, end, narrow.data());
      same(starts);
      heads.end_scores(window, begin, end, part.data());
      heads.end_scores(window, begin, end, narrow.data());
      same(ends);
    }

    // The mean of the scores is the projection of the mean features.
    std::vector<double> feature_mean(tracks, 0.0), mean(labels, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i)
      feature_mean[i % tracks] += static_cast<double>(x[i]) / static_cast<double>(length);
    for (std::size_t i = 0; i < f.size(); ++i) mean[i % labels] += f[i] / static_cast<double>(length);
    const std::vector<double> projected = heads.mean_emissions(feature_mean);
    for (std::size_t c = 0; c < labels; ++c) CHECK(projected[c] == Approx(mean[c]).margin(1e-12));
  }
}

TEST_CASE("a boundary head may be a bias alone, or absent") {
  Parameters parameters;
  parameters.labels.resize(2);
  parameters.tracks.resize(1);
  parameters.emission = EmissionHead{{1, -1}, {0, 0}};
  CHECK(!LinearHeads(parameters).has_start());
  BoundaryHead head;
  head.first = -7;
  head.end_bias = {0.5, -0.5};
  parameters.boundary = head;
  const LinearHeads heads(parameters);
  CHECK(!heads.has_start());
  REQUIRE(heads.has_end());
  CHECK(heads.halo_before() == 0);
  const std::vector<double> x{1, 2, 3};
  std::vector<double> out(4);
  heads.end_scores(FeatureWindow<double>{x.data(), 0, 3, 3}, 1, 3, out.data());
  CHECK(out == std::vector<double>{0.5, -0.5, 0.5, -0.5});
}

TEST_CASE("numbers that are no scores are found") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> scores(3000, 1.0);
  CHECK(!first_bad_score(std::span<const double>(scores), false));
  scores[2500] = -infinity;
  CHECK(!first_bad_score(std::span<const double>(scores), true));
  CHECK(first_bad_score(std::span<const double>(scores), false) == std::optional<std::size_t>(2500));
  scores[2000] = std::numeric_limits<double>::quiet_NaN();
  CHECK(first_bad_score(std::span<const double>(scores), true) == std::optional<std::size_t>(2000));
  const std::vector<float> narrow{0, std::numeric_limits<float>::infinity()};
  CHECK(first_bad_score(std::span<const float>(narrow), true) == std::optional<std::size_t>(1));
}
