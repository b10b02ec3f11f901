// The reference engine against the enumeration of all segmentations, and against itself where there are too
// many.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/differences.h"
#include "support/models/resolution.h"
#include "support/seeds.h"
#include "support/truth/enumerate.h"
#include "support/truth/rescore.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

constexpr double kTolerance = 1e-10;

double scale_of(double score) { return std::max(1.0, std::fabs(score)); }

void check_against_enumeration(const ModelCase& sample) {
  INFO(sample.description);
  const Enumeration expected = enumerate_segmentations(sample);
  const auto engine = make_reference_engine(sample.model);
  const ExpectedCase found = expected_case(*engine, sample);
  if (expected.feasible == 0) {
    CHECK(found.decoded.path.empty());
    CHECK(found.decoded.score == kNegativeInfinity);
    CHECK(found.posteriors.log_partition == kNegativeInfinity);
    CHECK(log_partition(sample.model, sample.whole()) == kNegativeInfinity);
    CHECK(largest_difference(found.posteriors.labels, expected.labels) == 0);
    return;
  }
  const double scale = scale_of(expected.best_score);
  CHECK(std::fabs(found.decoded.score - expected.best_score) <= kTolerance * scale);
  // Paths that differ by rounding only are equally good; exact ties are decided by the tie rule.
  const bool decided = sample.exact_sums || expected.runner_up_gap > 1e-6;
  if (decided) CHECK(found.decoded.path == expected.best_path);
  if (!decided)
    CHECK(std::fabs(rescore(sample, found.decoded.path) - expected.best_score) <= kTolerance * scale);
  CHECK(std::fabs(found.posteriors.log_partition - expected.log_partition) <= kTolerance * scale);
  CHECK(std::fabs(log_partition(sample.model, sample.whole()) - expected.log_partition) <=
        kTolerance * scale);
  const double allowed = kTolerance + resolution_of(sample, expected.best_path);
  CHECK(largest_difference(found.posteriors.boundary, expected.boundary) <= allowed);
  CHECK(largest_difference(found.posteriors.labels, expected.labels) <= allowed);
  CHECK(largest_difference(found.posteriors.starts, expected.starts) <= allowed);
  CHECK(largest_difference(found.posteriors.ends, expected.ends) <= allowed);
}

// log Z from the backward state at 0: LSE of beta_0 with the uniform initial term.
double backward_log_partition(Engine& engine, const ModelCase& sample) {
  const PosteriorWindow window =
      engine.posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, PosteriorArrays{});
  return log_sum(window.left_backward);
}

void check_identities(const ModelCase& sample) {
  INFO(sample.description);
  const auto engine = make_reference_engine(sample.model);
  const ExpectedCase found = expected_case(*engine, sample);
  const double log_z = found.posteriors.log_partition;
  if (log_z == kNegativeInfinity) {
    CHECK(found.decoded.path.empty());
    return;
  }
  REQUIRE(tiles(found.decoded.path, sample.length, sample.model.num_labels));
  const double best = rescore(sample, found.decoded.path);
  CHECK(std::fabs(found.decoded.score - best) <= 1e-12 * scale_of(best));
  CHECK(best <= log_z + 1e-12 * scale_of(log_z));
  if (sample.model.initial == InitialTerm::kUniform) {
    CHECK(std::fabs(backward_log_partition(*engine, sample) - log_z) <= 1e-12 * scale_of(log_z));
  }
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  double worst_cover = 0;
  double worst_balance = 0;
  for (std::size_t t = 0; t < found.posteriors.boundary.size(); ++t) {
    double cover = 0;
    double ended = 0;
    for (std::size_t c = 0; c < labels; ++c) {
      cover += found.posteriors.labels[t * labels + c];
      ended += t > 0 ? found.posteriors.ends[(t - 1) * labels + c] : 0.0;
    }
    worst_cover = std::max(worst_cover, std::fabs(cover - 1));
    if (t > 0) worst_balance = std::max(worst_balance, std::fabs(ended - found.posteriors.boundary[t]));
  }
  const double allowed = kTolerance + resolution_of(sample, found.decoded.path);
  CHECK(worst_cover <= allowed);
  CHECK(worst_balance <= allowed);
  CHECK(found.posteriors.chunks.front().max_normalization_error <= allowed);
  CHECK(found.posteriors.boundary.front() == Approx(1.0).margin(allowed));
}

}  // namespace

TEST_CASE("reference equals the enumeration of all segmentations") {
  for (const CaseKind kind : all_case_kinds()) {
    for (std::int64_t length = 1; length <= 6; ++length) {
      for (int durations = 1; durations <= 7; ++durations) {
        for (int labels = 1; labels <= 3; ++labels) {
          const auto seed = static_cast<std::uint64_t>(1000 * length + std::int64_t{10} * durations + labels);
          check_against_enumeration(make_case(kind, {length, durations, labels}, seed));
        }
      }
    }
  }
}

TEST_CASE("reference equals the enumeration when every option is drawn at random") {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const CaseShape shape{1 + static_cast<std::int64_t>(seed % 5), 1 + static_cast<int>(seed / 5 % 4),
                          1 + static_cast<int>(seed / 20 % 3)};
    check_against_enumeration(make_case(CaseKind::kEverything, shape, test_seed(seed)));
    check_against_enumeration(make_case(CaseKind::kTies, shape, test_seed(seed)));
  }
}

// Scores under which segments of any duration >= 2 cost the same, so that only the tie rule decides, in the
// tail too.
TEST_CASE("reference prefers the shortest of equally good tail segments") {
  for (std::int64_t length = 3; length <= 8; ++length) {
    for (std::size_t forbidden_start = 0; forbidden_start < static_cast<std::size_t>(length);
         ++forbidden_start) {
      ModelCase sample;
      sample.description = "tied tails, T=" + std::to_string(length);
      sample.length = length;
      sample.exact_sums = true;
      sample.model.num_labels = 2;
      sample.model.max_duration = 2;
      sample.model.transition.assign(4, -2.0);
      sample.model.duration_bias = {kNegativeInfinity, kNegativeInfinity, 0.0, 0.0};
      sample.model.log_tail = {-1.0, -1.0};
      const auto labels = static_cast<std::size_t>(sample.model.num_labels);
      sample.emissions.f64.assign(static_cast<std::size_t>(length) * labels, 0.0);
      sample.start_scores.f64 = sample.emissions.f64;
      sample.start_scores.f64[forbidden_start * labels] = kNegativeInfinity;
      sample.start_scores.f64[forbidden_start * labels + 1] = kNegativeInfinity;
      check_against_enumeration(sample);
    }
  }
}

TEST_CASE("reference keeps its identities on longer sequences") {
  for (const CaseKind kind : all_case_kinds()) {
    check_identities(make_case(kind, {300, 20, 4}, 7));
    check_identities(make_case(kind, {150, 200, 3}, 8));
    check_identities(make_case(kind, {1000, 3, 2}, 9));
    check_identities(make_case(kind, {400, 1, 5}, 10));
  }
}

TEST_CASE("reference does not lose precision along a sequence") {
  check_identities(make_case(CaseKind::kPlain, {100000, 4, 2}, 11));
  check_identities(make_case(CaseKind::kTails, {100000, 4, 2}, 12));
}

TEST_CASE("reference takes a sequence as one window") {
  const ModelCase sample = make_case(CaseKind::kPlain, {10, 3, 2}, 1);
  const auto engine = make_reference_engine(sample.model);
  const ViterbiWindow whole = engine->viterbi(sample.whole(), {0, 10}, nullptr, false);
  CHECK(whole.messages == nullptr);
  CHECK_THROWS_AS(engine->viterbi(sample.whole(), {0, 10}, &whole.right, false), std::logic_error);
  CHECK_THROWS_AS(engine->viterbi(sample.window(0, 5), {0, 5}, nullptr, false), std::logic_error);
  CHECK_THROWS_AS(engine->posteriors(sample.whole(), {0, 10}, nullptr, &whole.right, {}), std::logic_error);
}

TEST_CASE("a state's largest entry is 0 and its offset carries the rest") {
  const ModelCase sample = make_case(CaseKind::kTails, {30, 4, 3}, 5);
  const auto engine = make_reference_engine(sample.model);
  const PosteriorWindow window = engine->posteriors(sample.whole(), {0, 30}, nullptr, nullptr, {});
  for (const BoundaryState* state : {&window.right_forward, &window.left_backward}) {
    REQUIRE(state->ring.size() == 12);
    REQUIRE(state->message.size() == 3);
    REQUIRE(state->tail.size() == 3);
    double largest = kNegativeInfinity;
    for (const auto* part : {&state->ring, &state->message, &state->tail}) {
      for (const double entry : *part) largest = std::max(largest, entry);
    }
    CHECK(largest == 0);
  }
  CHECK(window.right_forward.boundary == 30);
  CHECK(window.left_backward.boundary == 0);
  CHECK(window.right_warmed.ring.empty());
}

TEST_CASE("the comparison of engines sees wrong results") {
  const ModelCase sample = make_case(CaseKind::kPlain, {200, 8, 3}, 3);
  const auto reference = make_reference_engine(sample.model);
  const Tolerances tolerances = tolerances_of(Precision::kDouble);
  CHECK(compare_engines(*reference, *reference, sample, tolerances).empty());

  ChainModel shifted = sample.model;
  shifted.duration_bias.front() += 1e-3;
  const auto slightly_wrong = make_reference_engine(shifted);
  CHECK(compare_engines(*slightly_wrong, *reference, sample, tolerances).size() >= 4);

  ExpectedCase expected = expected_case(*reference, sample);
  expected.posteriors.ends[17] += 1e-8;
  CHECK(compare_with(expected, *reference, sample, tolerances).size() == 1);
  expected = expected_case(*reference, sample);
  expected.posteriors.labels[18] = std::nan("");
  CHECK(compare_with(expected, *reference, sample, tolerances).size() == 1);
}
