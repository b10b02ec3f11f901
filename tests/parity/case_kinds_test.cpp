// The random cases are what their names say: a test kit that quietly became easy would prove nothing.
#include <algorithm>
#include <cmath>

#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/enumerate.h"
#include "support/random_models.h"

using namespace semicrf;
using namespace semicrf::testing;

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
