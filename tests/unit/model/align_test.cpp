// Two models with the same labels and tracks: no score changes.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "model/compare.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;

namespace {

Parameters random_parameters(std::mt19937& random, const std::string& labels, const std::string& tracks) {
  std::normal_distribution<double> normal;
  const auto numbers = [&](std::size_t count) {
    std::vector<double> result(count);
    for (double& value : result) value = normal(random);
    return result;
  };
  const std::size_t c = labels.size(), f = tracks.size();
  Parameters parameters;
  for (const char name : labels) parameters.labels.push_back({std::string(1, name), {}});
  for (const char name : tracks) parameters.tracks.emplace_back().name = std::string(1, name);
  for (Track& track : parameters.tracks) track.center = normal(random);
  ChainModel& chain = parameters.chain;
  chain.num_labels = static_cast<int>(c);
  chain.max_duration = 1 + static_cast<int>(random() % 5);
  chain.transition = numbers(c * c);
  chain.duration_bias = numbers(c * static_cast<std::size_t>(chain.max_duration));
  if (random() % 2 == 0) chain.log_tail.assign(c, -0.5);
  if (!chain.log_tail.empty()) chain.log_tail[0] = kNegativeInfinity;
  if (random() % 2 == 0) chain.start_scores = numbers(c);
  chain.end_scores = numbers(c);
  parameters.emission = EmissionHead{numbers(c * f), numbers(c)};
  parameters.boundary = BoundaryHead{-1, 1, numbers(3 * c * f), numbers(3 * c * f), numbers(c), {}};
  return parameters;
}

int find(const std::string& names, const std::string& name) {
  const std::size_t at = names.find(name);
  return at == std::string::npos ? -1 : static_cast<int>(at);
}

double entry(const std::vector<double>& values, int index, double otherwise) {
  return values.empty() ? otherwise : values[static_cast<std::size_t>(index)];
}

// `aligned` has everything of `old`, under the same names.
void check_same(const Parameters& aligned, const Parameters& old, const std::string& labels,
                const std::string& tracks) {
  const ChainModel& a = aligned.chain;
  const ChainModel& b = old.chain;
  for (int i = 0; i < aligned.num_labels(); ++i) {
    const int c = find(labels, aligned.labels[static_cast<std::size_t>(i)].name);
    if (c < 0) {
      CHECK(entry(a.start_scores, i, 0) == kNegativeInfinity);
      for (int j = 0; j < aligned.num_labels(); ++j) {
        CHECK(a.transition_at(i, j) == kNegativeInfinity);
        CHECK(a.transition_at(j, i) == kNegativeInfinity);
      }
      continue;
    }
    CHECK(entry(a.start_scores, i, 0) == entry(b.start_scores, c, 0));
    CHECK(entry(a.end_scores, i, 0) == entry(b.end_scores, c, 0));
    for (std::int64_t k = 1; k < 12; ++k) {
      const double found = a.duration_score(k, i), expected = b.duration_score(k, c);
      CHECK((found == expected || std::abs(found - expected) < 1e-12));
    }
    for (int j = 0; j < aligned.num_labels(); ++j) {
      const int d = find(labels, aligned.labels[static_cast<std::size_t>(j)].name);
      if (d >= 0) CHECK(a.transition_at(i, j) == b.transition_at(c, d));
    }
    const int width = aligned.num_tracks(), old_width = old.num_tracks();
    for (int j = 0; j < width; ++j) {
      const int f = find(tracks, aligned.tracks[static_cast<std::size_t>(j)].name);
      CHECK(entry(aligned.emission->weights, i * width + j, 0) ==
            (f < 0 ? 0 : entry(old.emission->weights, c * old_width + f, 0)));
      for (int o = 0; o < 3; ++o)
        CHECK(entry(aligned.boundary->end_weights, (i * 3 + o) * width + j, 0) ==
              (f < 0 ? 0 : entry(old.boundary->end_weights, (c * 3 + o) * old_width + f, 0)));
      if (f >= 0)
        CHECK(aligned.tracks[static_cast<std::size_t>(j)].center ==
              old.tracks[static_cast<std::size_t>(f)].center);
    }
  }
}

}  // namespace

TEST_CASE("models that are brought to the same labels and tracks keep their scores") {
  const std::vector<std::string> names = {"abc", "ca", "bxay", "a", "xyz"};
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(testing::test_seed(seed));
    const auto any = [&] { return names[random() % names.size()]; };
    const std::string labels[2] = {any(), any()}, tracks[2] = {any(), any()};
    const Parameters first = random_parameters(random, labels[0], tracks[0]);
    const Parameters second = random_parameters(random, labels[1], tracks[1]);
    const AlignedModels aligned = align_models(first, second);
    REQUIRE(aligned.first.num_labels() == aligned.second.num_labels());
    REQUIRE(aligned.first.num_tracks() == aligned.second.num_tracks());
    for (int i = 0; i < aligned.first.num_labels(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(aligned.first.labels[at].name == aligned.second.labels[at].name);
      CHECK(aligned.second_has[at] == (find(labels[1], aligned.first.labels[at].name) >= 0));
    }
    for (std::size_t i = 0; i < first.labels.size(); ++i)
      CHECK(aligned.first.labels[i].name == first.labels[i].name);
    check_same(aligned.first, first, labels[0], tracks[0]);
    check_same(aligned.second, second, labels[1], tracks[1]);
    if (first.chain.has_tail()) CHECK(aligned.first.chain.max_duration >= second.chain.max_duration);
  }
}
