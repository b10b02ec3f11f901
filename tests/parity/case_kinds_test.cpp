// The random cases are what their names say: a test kit that quietly became easy would prove nothing.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "parity/engine_parity.h"
#include "parity/gradient_case.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/truth/enumerate.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// By how much label c is below the best label at the end of each position (forward messages of the
// reference).
std::vector<double> distances_behind(const ModelCase& sample, std::size_t c) {
  const auto engine = make_reference_engine(sample.model);
  const ForwardCase forward = forward_case(*engine, sample, {0, sample.length});
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  std::vector<double> behind;
  for (std::size_t row = 0; row < forward.ends.size(); row += labels) {
    const auto first = forward.ends.begin() + static_cast<std::ptrdiff_t>(row);
    behind.push_back(*std::max_element(first, first + sample.model.num_labels) - forward.ends[row + c]);
  }
  return behind;
}

double largest_distance(const ModelCase& sample) {
  double largest = 0;
  for (int c = 0; c < sample.model.num_labels; ++c) {
    for (const double distance : distances_behind(sample, static_cast<std::size_t>(c)))
      if (std::isfinite(distance)) largest = std::max(largest, distance);
  }
  return largest;
}

// Root of the mean square of the emissions of `rows` positions from `begin` on.
double size_of(const ModelCase& sample, std::size_t begin, std::size_t rows) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  double sum = 0;
  for (std::size_t i = begin * labels; i < (begin + rows) * labels; ++i)
    sum += sample.emissions.at(i) * sample.emissions.at(i);
  return std::sqrt(sum / static_cast<double>(rows * labels));
}

std::pair<double, double> finite_range(const std::vector<double>& scores) {
  const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
  return {*low, *high};
}

}  // namespace

TEST_CASE("equal seeds give equal cases, other seeds others") {
  for (const CaseKind kind : all_case_kinds()) {
    const CaseShape shape{40, 6, 4};
    const ModelCase first = make_case(kind, shape, 5);
    const ModelCase again = make_case(kind, shape, 5);
    INFO(first.description);
    CHECK(first.description == again.description);
    CHECK(first.emissions.f32 == again.emissions.f32);
    CHECK(first.emissions.f64 == again.emissions.f64);
    CHECK(first.model.duration_bias == again.model.duration_bias);
    CHECK(first.description != make_case(kind, shape, 6).description);
  }
}

TEST_CASE("exactly one path, and none at all") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const CaseShape shape{1 + static_cast<std::int64_t>(seed % 6), 1 + static_cast<int>(seed % 4),
                          1 + static_cast<int>(seed % 3)};
    const ModelCase single = make_case(CaseKind::kSinglePath, shape, seed);
    INFO(single.description);
    CHECK(enumerate_segmentations(single).feasible == 1);
    CHECK(enumerate_segmentations(make_case(CaseKind::kInfeasible, shape, seed)).feasible == 0);
  }
}

TEST_CASE("ties are frequent where they are promised") {
  int tied = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Enumeration all = enumerate_segmentations(make_case(CaseKind::kTies, {5, 3, 3}, seed));
    if (all.feasible > 1 && all.runner_up_gap == 0) ++tied;
  }
  CHECK(tied >= 20);
}

TEST_CASE("the rare source is used although it is e^-100 below") {
  int entered = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ModelCase sample = make_case(CaseKind::kRareSource, {200, 10, 4}, seed);
    INFO(sample.description);
    const auto engine = make_reference_engine(sample.model);
    const auto path = decode_case(*engine, sample, {0, sample.length}).path;
    CHECK(path.front().label != 0);
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (path[i].label != 0 || path[i - 1].label == 0) continue;
      CHECK(path[i - 1].label == 1);
      ++entered;
    }
  }
  CHECK(entered >= 5);
}

TEST_CASE("a long tail spans more than half of the sequence") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ModelCase sample = make_case(CaseKind::kLongTail, {500, 6, 3}, seed);
    INFO(sample.description);
    const auto engine = make_reference_engine(sample.model);
    std::int64_t longest = 0;
    for (const Segment& segment : decode_case(*engine, sample, {0, sample.length}).path) {
      longest = std::max(longest, segment.end - segment.begin);
    }
    CHECK(longest > 250);
  }
}

TEST_CASE("the phase of the late periodic cases is fixed by the end") {
  const ModelCase late = make_case(CaseKind::kPeriodicLate, {205, 10, 3}, 1);
  const auto engine = make_reference_engine(late.model);
  const PosteriorCase posteriors = posterior_case(*engine, late, {0, late.length});
  for (std::size_t t = 1; t < posteriors.boundary.size(); ++t) {
    CHECK(std::fabs(posteriors.boundary[t] - (t % 10 == 5 ? 1.0 : 0.0)) < 1e-12);
  }
  const ModelCase scored = make_case(CaseKind::kPeriodicEndScores, {200, 10, 3}, 1);
  const auto other = make_reference_engine(scored.model);
  const PosteriorCase labels = posterior_case(*other, scored, {0, scored.length});
  const auto& end = scored.model.end_scores;
  const double total = std::exp(end[0]) + std::exp(end[1]) + std::exp(end[2]);
  // 20 segments in a cycle of three: the last label is 19 steps on from the first.
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(labels.labels[c] == Approx(std::exp(end[(c + 19) % 3]) / total).margin(1e-12));
  }
}

TEST_CASE("large scores have all their sizes and keep labels far apart") {
  std::set<int> sizes;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const ModelCase sample = make_case(CaseKind::kLargeScores, {300, 10, 4}, seed);
    INFO(sample.description);
    const double size = size_of(sample, 0, 300);
    int nearest = 3;
    for (const int known : {10, 30, 100, 1000})
      if (std::fabs(std::log(size / known)) < std::fabs(std::log(size / nearest))) nearest = known;
    CHECK(size == Approx(nearest).epsilon(0.1));
    sizes.insert(nearest);
    // Above e^87 a float number holds no two labels.
    CHECK(largest_distance(sample) > 3 * nearest);
    if (nearest >= 30) CHECK(largest_distance(sample) > 87);
  }
  CHECK(sizes.size() == 5);
}

TEST_CASE("scores of mixed sizes are small and large in one sequence") {
  int both = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ModelCase sample = make_case(CaseKind::kMixedSizes, {500, 10, 4}, seed);
    double smallest = size_of(sample, 0, 8);
    double largest = smallest;
    for (std::size_t begin = 8; begin + 8 <= 500; begin += 8) {
      smallest = std::min(smallest, size_of(sample, begin, 8));
      largest = std::max(largest, size_of(sample, begin, 8));
    }
    if (smallest < 0.2 && largest > 500) ++both;
  }
  CHECK(both >= 15);
}

TEST_CASE("the label left behind is e^-1000 below the others where it is the way on") {
  int needed = 0;
  int contested = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const ModelCase sample = make_case(CaseKind::kLeftBehind, {200, 10, 4}, seed);
    INFO(sample.description);
    const std::vector<double> behind = distances_behind(sample, 0);
    CHECK(*std::max_element(behind.begin(), behind.end()) > 900);
    const auto engine = make_reference_engine(sample.model);
    const PosteriorCase posteriors = posterior_case(*engine, sample, {0, sample.length});
    double share = 0;
    for (std::size_t t = 0; t < behind.size(); ++t)
      if (behind[t] > 900) share = std::max(share, posteriors.labels[t * 4]);
    if (share > 0.01) ++needed;
    if (share > 1e-6 && share < 1 - 1e-6) ++contested;
  }
  CHECK(needed >= 40);
  CHECK(contested >= 2);
}

TEST_CASE("steep tables forbid nothing, and best paths use entries far down") {
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ModelCase sample = make_case(CaseKind::kSteepTables, {200, 20, 4}, seed);
    INFO(sample.description);
    const auto [lowest_transition, best_transition] = finite_range(sample.model.transition);
    const auto [lowest_duration, best_duration] = finite_range(sample.model.duration_bias);
    CHECK(best_transition - lowest_transition > 200);
    CHECK(best_transition - lowest_transition < 500);
    CHECK(best_duration - lowest_duration > 300);
    CHECK(best_duration - lowest_duration < 900);
    const auto engine = make_reference_engine(sample.model);
    double lowest = best_duration;
    for (const Segment& segment : decode_case(*engine, sample, {0, sample.length}).path)
      lowest = std::min(lowest, sample.model.duration_score(segment.end - segment.begin, segment.label));
    if (lowest < best_duration - 87) ++used;
  }
  CHECK(used >= 10);
}

TEST_CASE("minimum durations of -1e9 are kept where the length allows it, else broken") {
  int kept = 0;
  int broken = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const ModelCase sample =
        make_case(CaseKind::kMinimumDurationsMasked, {seed % 2 == 0 ? 257 : 17, 60, 3}, seed);
    INFO(sample.description);
    CHECK(!sample.start_scores.empty());
    CHECK(!sample.end_scores.empty());
    const auto [lowest, highest] = finite_range(sample.model.duration_bias);
    CHECK(lowest == -1e9);
    CHECK(highest > -10);  // K is allowed
    const auto engine = make_reference_engine(sample.model);
    const double score = decode_case(*engine, sample, {0, sample.length}).score;
    ++(score < -5e8 ? broken : kept);
  }
  CHECK(kept >= 20);
  CHECK(broken >= 3);
}
