#include "model/scores/linear_heads.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "model/scores/score_source.h"
#include "support/catch.h"
#include "support/models/random_heads.h"

using namespace semicrf;
using testing::random_heads;

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

// The formula of linear_heads.h, term by term.
double boundary_score(const Shape& shape, const std::vector<double>& weights, const std::vector<double>& bias,
                      const std::vector<float>& x, std::int64_t t, int label) {
  double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(label)];
  const auto tracks = static_cast<std::size_t>(shape.tracks);
  const std::size_t row = static_cast<std::size_t>(shape.last - shape.first + 1) * tracks;
  for (int o = shape.first; o <= shape.last; ++o) {
    if (t + o < 0 || t + o >= shape.length) continue;
    for (int f = 0; f < shape.tracks; ++f) {
      const std::size_t column =
          static_cast<std::size_t>(o - shape.first) * tracks + static_cast<std::size_t>(f);
      sum += weights[static_cast<std::size_t>(label) * row + column] *
             static_cast<double>(x[static_cast<std::size_t>((t + o) * shape.tracks + f)]);
    }
  }
  return sum;
}

// Scores of all positions, (T, C).
struct Projected {
  explicit Projected(std::size_t size) : emissions(size), starts(size), ends(size) {}
  std::vector<double> emissions, starts, ends;
};

// Windows with just the features they need give the same bits as all positions at once, in double and rounded
// to float, at single positions too.
void check_windows(const LinearHeads& heads, const Shape& shape, const std::vector<float>& x,
                   const Projected& all) {
  const auto labels = static_cast<std::size_t>(shape.labels);
  const auto tracks = static_cast<std::size_t>(shape.tracks);
  ChainModel model;
  model.num_labels = shape.labels;
  for (std::int64_t begin = 0; begin < shape.length; begin += 5) {
    ScoreWindow window;
    window.begin = begin;
    window.end = std::min(shape.length, begin + 5);
    window.length = shape.length;
    FeatureRows& features = window.features;
    features = heads.rows_for(begin, window.end, shape.length);
    CHECK(features.begin == std::max<std::int64_t>(0, begin + std::min(0, shape.first)));
    CHECK(features.end == std::min(shape.length, window.end + std::max(0, shape.last)));
    features.rows.f32 = x.data() + static_cast<std::size_t>(features.begin) * tracks;
    for (const bool wide : {true, false}) {
      features.wide = wide;
      ScoreBuffers buffers;
      const ScoreWindow scores = project_on_host(window, 2, buffers);
      CHECK(scores.features.empty());
      CHECK((scores.emissions.f64 != nullptr) == wide);
      const CentredScores single(model, window);
      std::size_t i = static_cast<std::size_t>(begin) * labels;
      for (std::size_t at = 0; at < static_cast<std::size_t>(window.end - begin) * labels; ++at, ++i) {
        const auto t = begin + static_cast<std::int64_t>(at / labels);
        const auto c = static_cast<int>(at % labels);
        const auto rounded = [&](double score) {
          return wide ? score : static_cast<double>(static_cast<float>(score));
        };
        REQUIRE(scores.emissions.at(at) == rounded(all.emissions[i]));
        REQUIRE(scores.start_scores.at(at) == rounded(all.starts[i]));
        REQUIRE(scores.end_scores.at(at) == rounded(all.ends[i]));
        REQUIRE(single.emission(t, c) == rounded(all.emissions[i]));
        REQUIRE(single.start_score(t, c) == rounded(all.starts[i]));
        REQUIRE(single.end_score(t, c) == rounded(all.ends[i]));
      }
    }
  }
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
    const Parameters parameters =
        random_heads({shape.labels, shape.tracks, shape.first, shape.last, true, 1.0}, random);
    const LinearHeads heads(parameters);
    const auto labels = static_cast<std::size_t>(shape.labels);
    const auto tracks = static_cast<std::size_t>(shape.tracks);
    const auto length = static_cast<std::size_t>(shape.length);
    const std::vector<double> drawn = random_numbers(random, length * tracks);
    const std::vector<float> x(drawn.begin(), drawn.end());
    REQUIRE(heads.has_start());
    REQUIRE(heads.has_end());
    FeatureRows whole = heads.rows_for(0, shape.length, shape.length);
    whole.rows.f32 = x.data();
    CHECK(whole.tracks == shape.tracks);
    Projected all(length * labels);
    project_head(whole, *whole.emission, 0, shape.length, shape.length, all.emissions.data());
    project_head(whole, *whole.start, 0, shape.length, shape.length, all.starts.data());
    project_head(whole, *whole.finish, 0, shape.length, shape.length, all.ends.data());
    for (std::int64_t t = 0; t < shape.length; ++t) {
      for (int c = 0; c < shape.labels; ++c) {
        const auto i = static_cast<std::size_t>(t) * labels + static_cast<std::size_t>(c);
        double sum = parameters.emission->bias[static_cast<std::size_t>(c)];
        for (std::size_t j = 0; j < tracks; ++j) {
          sum += parameters.emission->weights[static_cast<std::size_t>(c) * tracks + j] *
                 static_cast<double>(x[static_cast<std::size_t>(t) * tracks + j]);
        }
        REQUIRE(all.emissions[i] == Approx(sum).margin(1e-12));
        const BoundaryHead& head = *parameters.boundary;
        REQUIRE(all.starts[i] ==
                Approx(boundary_score(shape, head.start_weights, head.start_bias, x, t, c)).margin(1e-12));
        REQUIRE(all.ends[i] == Approx(boundary_score(shape, head.end_weights, {}, x, t, c)).margin(1e-12));
      }
    }

    check_windows(heads, shape, x, all);

    // The mean of the scores is the projection of the mean features.
    std::vector<double> feature_mean(tracks, 0.0), mean(labels, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i)
      feature_mean[i % tracks] += static_cast<double>(x[i]) / static_cast<double>(length);
    for (std::size_t i = 0; i < all.emissions.size(); ++i)
      mean[i % labels] += all.emissions[i] / static_cast<double>(length);
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
  const std::vector<double> x{1, 2, 3};
  FeatureRows rows = heads.rows_for(1, 3, 3);
  CHECK(rows.begin == 1);
  CHECK(rows.end == 3);
  rows.rows.f64 = x.data() + 1;
  std::vector<double> out(4);
  project_head(rows, *rows.finish, 1, 3, 3, out.data());
  CHECK(out == std::vector<double>{0.5, -0.5, 0.5, -0.5});
}

TEST_CASE("the host takes margins from the scores of true labels, and projects slab by slab") {
  // A source of features of 300,000 positions, which is more than the host projects at a time.
  struct Features final : ScoreSource {
    explicit Features(const LinearHeads& linear_heads) : heads(linear_heads) {
      std::mt19937 random(7);
      for (float& value : x) value = static_cast<float>(random() % 100);
      for (int& label : truth) label = static_cast<int>(random() % 3);
    }
    std::int64_t length() const override { return 300'000; }
    std::size_t bytes_per_position() const override { return 0; }
    std::size_t score_bytes() const override { return 0; }
    int projection_threads() const override { return 2; }
    ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers&) override {
      ScoreWindow window;
      window.begin = begin;
      window.end = end;
      window.length = length();
      window.features = heads.rows_for(begin, end, length());
      window.features.rows.f32 = x.data() + window.features.begin * 2;
      window.features.margin = 0.1;
      window.features.true_labels = truth.data() + window.features.begin;
      return window;
    }
    const LinearHeads& heads;
    std::vector<float> x = std::vector<float>(600'000);
    std::vector<int> truth = std::vector<int>(300'000);
  };
  Parameters parameters;
  parameters.labels.resize(3);
  parameters.tracks.resize(2);
  parameters.emission = EmissionHead{{1, 2, 0.1, 0.3, -1, 0}, {0, 0, 1}};
  BoundaryHead head;
  head.first = -1;
  head.last = 1;
  head.start_weights.assign(18, 0.7);
  parameters.boundary = head;
  const LinearHeads heads(parameters);
  Features source(heads);
  ScoreBuffers buffers, all;
  HostProjection projection(source);
  const ScoreWindow part = projection.read(10, 299'990, buffers);
  ScoreBuffers none;
  const ScoreWindow whole = project_on_host(source.read(0, source.length(), none), 1, all);
  CHECK(part.begin == 10);
  CHECK(part.end == 299'990);
  CHECK(part.end_scores.empty());
  ChainModel model;
  model.num_labels = 3;
  const ScoreWindow features = source.read(0, source.length(), none);
  const CentredScores single(model, features);
  for (std::size_t i = 0; i < std::size_t{299'980} * 3; ++i) {
    REQUIRE(part.emissions.at(i) == whole.emissions.at(i + 30));
    REQUIRE(part.start_scores.at(i) == whole.start_scores.at(i + 30));
    const std::size_t t = i / 3 + 10, c = i % 3;
    double sum = parameters.emission->bias[c];
    for (std::size_t f = 0; f < 2; ++f)
      sum += static_cast<double>(source.x[2 * t + f]) * parameters.emission->weights[2 * c + f];
    float expected = static_cast<float>(sum);
    if (source.truth[t] == static_cast<int>(c)) expected -= 0.1F;
    REQUIRE(part.emissions.f32[i] == expected);
    if (i % 1000 < 3)
      REQUIRE(single.emission(static_cast<std::int64_t>(t), static_cast<int>(c)) ==
              static_cast<double>(expected));
  }
}
