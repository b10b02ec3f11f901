// Products of the Hessian of log Z with a direction: covariances of what segmentations are made of, by the
// enumeration of all segmentations.
#include "reference/hessian_product.h"

#include <cmath>
#include <random>
#include <vector>

#include "support/catch.h"
#include "support/differences.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/seeds.h"
#include "support/truth/all_paths.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

std::size_t cells(std::int64_t rows, int columns) { return static_cast<std::size_t>(rows * columns); }

ScoreVariation zeros(const ModelCase& sample) {
  const int labels = sample.model.num_labels;
  const std::vector<double> by_position(cells(sample.length, labels));
  return {by_position,
          by_position,
          by_position,
          std::vector<double>(cells(labels, labels)),
          std::vector<double>(cells(sample.model.max_duration, labels)),
          std::vector<double>(cells(labels, 1))};
}

constexpr std::vector<double> ScoreVariation::*kArrays[] = {
    &ScoreVariation::emissions,  &ScoreVariation::starts,   &ScoreVariation::ends,
    &ScoreVariation::transition, &ScoreVariation::duration, &ScoreVariation::tail};

ScoreVariation random_direction(const ModelCase& sample, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  ScoreVariation direction = zeros(sample);
  for (const auto array : kArrays)
    for (double& value : direction.*array) value = normal(random);
  return direction;
}

// How often a segmentation has each score. `before`: the label before its first segment, -1: none.
ScoreVariation statistics(const ModelCase& sample, const std::vector<Segment>& path, int before) {
  ScoreVariation found = zeros(sample);
  const int labels = sample.model.num_labels;
  const auto at = [&](std::int64_t row, int c) { return static_cast<std::size_t>(row * labels + c); };
  for (const Segment& one : path) {
    const std::int64_t k = one.end - one.begin, within = std::min<std::int64_t>(k, sample.model.max_duration);
    found.starts[at(one.begin, one.label)] += 1;
    found.ends[at(one.end - 1, one.label)] += 1;
    for (std::int64_t t = one.begin; t < one.end; ++t) found.emissions[at(t, one.label)] += 1;
    found.duration[at(within - 1, one.label)] += 1;
    found.tail[at(0, one.label)] += static_cast<double>(k - within);
    if (before >= 0) found.transition[at(before, one.label)] += 1;
    before = one.label;
  }
  return found;
}

double dot(const ScoreVariation& a, const ScoreVariation& b) {
  double sum = 0;
  for (const auto array : kArrays)
    for (std::size_t i = 0; i < (a.*array).size(); ++i) sum += (a.*array)[i] * (b.*array)[i];
  return sum;
}

void add(double factor, const ScoreVariation& term, ScoreVariation& sum) {
  for (const auto array : kArrays)
    for (std::size_t i = 0; i < (sum.*array).size(); ++i) (sum.*array)[i] += factor * (term.*array)[i];
}

// Cov(statistics, direction . statistics).
ScoreVariation covariance(const ModelCase& sample, const ScoreVariation& direction) {
  ScoreVariation mean = zeros(sample), product = zeros(sample);
  double mean_along = 0;
  const auto visit = [&](const PathProbability& one, int before, double probability) {
    const ScoreVariation found = statistics(sample, one.path, before);
    const double along = dot(direction, found);
    add(probability, found, mean);
    add(probability * along, found, product);
    mean_along += probability * along;
  };
  for (const PathProbability& one : all_paths(sample)) {
    if (sample.model.initial == InitialTerm::kNone) {
      visit(one, -1, one.probability);
      continue;
    }
    const TransitionsInto into = transitions_into(sample.model, one.path.front().label);
    for (int before = 0; before < sample.model.num_labels; ++before)
      visit(one, before,
            one.probability / into.sum *
                std::exp(sample.model.transition_at(before, one.path.front().label) - into.largest));
  }
  add(-mean_along, mean, product);
  return product;
}

ScoreVariation product_of(const ModelCase& sample, const ScoreVariation& direction) {
  return hessian_product(sample.model, ReferenceScores(sample.model, sample.whole()), direction);
}

void check_against_enumeration(const ModelCase& sample) {
  INFO(sample.description);
  const std::vector<PathProbability> paths = all_paths(sample);
  const ScoreVariation direction = random_direction(sample, sample.seed);
  const ScoreVariation found = product_of(sample, direction);
  const ScoreVariation expected = covariance(sample, direction);
  const double resolution = paths.empty() ? 0 : resolution_of(sample, paths.front().path);
  for (const auto array : kArrays)
    CHECK(largest_difference(found.*array, expected.*array) <= 1e-10 + 100 * resolution);
}

}  // namespace

TEST_CASE("Hessian products equal the covariances of all segmentations") {
  for (const CaseKind kind : all_case_kinds()) {
    for (std::int64_t length = 1; length <= 5; ++length)
      for (int durations = 1; durations <= 7; durations += durations < 3 ? 1 : 2)
        for (int labels = 1; labels <= 3; ++labels) {
          const auto seed = static_cast<std::uint64_t>(1000 * length + std::int64_t{10} * durations + labels);
          check_against_enumeration(make_case(kind, {length, durations, labels}, test_seed(seed)));
        }
  }
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const CaseShape shape{1 + static_cast<std::int64_t>(seed % 5), 1 + static_cast<int>(seed / 5 % 4),
                          1 + static_cast<int>(seed / 20 % 3)};
    check_against_enumeration(make_case(CaseKind::kEverything, shape, test_seed(seed)));
  }
}

TEST_CASE("the Hessian is symmetric") {
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kMinimumDurations,
        CaseKind::kBoundaryScores, CaseKind::kForbiddenPositions}) {
    const ModelCase sample = make_case(kind, {60, 9, 4}, test_seed(7));
    INFO(sample.description);
    const ScoreVariation u = random_direction(sample, 1), v = random_direction(sample, 2);
    const double left = dot(u, product_of(sample, v)), right = dot(v, product_of(sample, u));
    CHECK(std::abs(left - right) <= 1e-9 * (1 + std::abs(left)));
  }
}
