// Entropies and expected counts of windowed sweeps: against the enumeration, the reference, and each other.
#include "analyses/posteriors/expected_score.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "analyses/posteriors/posterior_summing.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "core/compensated_sum.h"
#include "model/compare.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/models/windowed.h"
#include "support/slow_build.h"
#include "support/truth/all_paths.h"
#include "support/truth/enumerate.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

PosteriorSelection with_counts(int threads = 1) {
  PosteriorSelection selection;
  selection.counts = true;
  selection.threads = threads;
  return selection;
}

PosteriorResult swept(Engine& engine, const ModelCase& sample, std::int64_t chunks,
                      const PosteriorSelection& selection = with_counts()) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  return sweep_posteriors(engine, source, plan_in_windows(engine, sample.length, chunks), selection,
                          [](const PosteriorBlock&) {});
}

bool same(const PosteriorSums& a, const PosteriorSums& b) {
  return a.entropy == b.entropy && a.label_bins == b.label_bins && a.label_segments == b.label_segments &&
         a.label_entropies == b.label_entropies && a.last_bin == b.last_bin &&
         a.counts.transition == b.counts.transition && a.counts.duration == b.counts.duration &&
         a.counts.tail == b.counts.tail;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

// Absolute for numbers up to 1, else relative.
double tolerance_of(const Engine& engine) {
  if (engine.name() == "reference") return 1e-10;
  return engine.precision() == Precision::kFloat ? 1e-5 : 1e-9;
}

// The largest finite score of a case.
double largest_score(const ModelCase& sample) {
  double largest = 0;
  const auto look_at = [&](const auto& scores) {
    for (const auto score : scores)
      if (std::isfinite(score)) largest = std::max(largest, std::fabs(static_cast<double>(score)));
  };
  for (const ScoreTable* table : {&sample.emissions, &sample.start_scores, &sample.end_scores}) {
    look_at(table->f32);
    look_at(table->f64);
  }
  for (const auto* table : {&sample.model.transition, &sample.model.duration_bias, &sample.model.start_scores,
                            &sample.model.end_scores})
    look_at(*table);
  return largest;
}

// A probability is known to the rounding of the sums of scores it is made of, and is multiplied with a score.
double entropy_tolerance(const Engine& engine, const ModelCase& sample, double entropy) {
  const double largest = largest_score(sample);
  const double rounding = 1e-14 * largest * largest;
  const bool single = engine.precision() == Precision::kFloat;
  return (single ? 1e-4 : tolerance_of(engine)) * std::max(1.0, entropy) + rounding +
         (single ? 1e-6 * largest : 0);
}

double entropy_of(const std::vector<PathProbability>& paths) {
  double entropy = 0;
  for (const PathProbability& one : paths)
    if (one.probability > 0) entropy -= one.probability * std::log(one.probability);
  return entropy;
}

// Sums over positions of (T, C) numbers.
std::vector<double> column_sums(const std::vector<double>& rows, int columns) {
  std::vector<double> sums(static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < rows.size(); ++i) sums[i % sums.size()] += rows[i];
  return sums;
}

void check_against_enumeration(const ModelCase& sample) {
  INFO(sample.description);
  const Enumeration expected = enumerate_segmentations(sample);
  const double entropy = entropy_of(all_paths(sample));
  const double resolution = resolution_of(sample, expected.best_path);
  for (const EngineOptions& options : engines_to_test()) {
    const auto engine = make_engine(options, sample.model);
    INFO(engine->description());
    const PosteriorResult result = swept(*engine, sample, 0);
    REQUIRE(result.feasible == (expected.feasible > 0));
    if (!result.feasible) continue;
    const double tolerance = tolerance_of(*engine) + resolution;
    const PosteriorSums& sums = *result.sums;
    // Probabilities times scores of -1e9 say nothing where neither is known better than by 1e-7.
    if (resolution == 0)
      CHECK(std::fabs(sums.entropy - entropy) <= entropy_tolerance(*engine, sample, entropy));
    CHECK(largest_difference(sums.counts.transition, expected.transition) <= tolerance);
    CHECK(largest_difference(sums.counts.duration, expected.duration) <= tolerance);
    CHECK(largest_difference(sums.counts.tail, expected.tail) <= tolerance);
    const int labels = sample.model.num_labels;
    const auto bins = static_cast<double>(sample.length);
    CHECK(largest_difference(sums.label_bins, column_sums(expected.labels, labels)) <= tolerance * bins);
    CHECK(largest_difference(sums.label_segments, column_sums(expected.starts, labels)) <= tolerance * bins);
    std::vector<double> entropies = expected.labels;
    for (double& p : entropies) p = p > 0 ? -p * std::log(p) : 0;
    CHECK(largest_difference(sums.label_entropies, column_sums(entropies, labels)) <= 20 * tolerance * bins);
    const std::vector<double> last(expected.labels.end() - labels, expected.labels.end());
    CHECK(largest_difference(sums.last_bin, last) <= tolerance);
  }
}

// -sum over the segmentations of P times log Q; the largest probability in P of those that Q forbids.
struct CrossEntropy {
  double value = 0;
  double forbidden = 0;
};
CrossEntropy cross_entropy_of(const ModelCase& p, const ModelCase& q) {
  const double log_partition = enumerate_segmentations(q).log_partition;
  CrossEntropy cross;
  for (const PathProbability& one : all_paths(p)) {
    const double score = rescore(q, one.path, InitialSources::kAll);
    if (score == kNegativeInfinity) {
      cross.forbidden = std::max(cross.forbidden, one.probability);
    } else if (one.probability > 0) {
      cross.value -= one.probability * (score - log_partition);
    }
  }
  return cross;
}

double cross_entropy(Engine& engine_of_p, const ModelCase& p, const ModelCase& q, double log_partition_q) {
  MemoryScoreSource source(p.whole(), p.model.num_labels);
  ExpectedScore score(p.model, q.model, engine_of_p.precision(), 2);
  PosteriorSelection selection = with_counts();
  selection.labels = selection.starts = selection.ends = true;
  const PosteriorResult result =
      sweep_posteriors(engine_of_p, source, plan_in_windows(engine_of_p, p.length, 0), selection,
                       [&](const PosteriorBlock& block) { score.add(block, p.whole(), q.whole()); });
  return score.minus_expectation(log_partition_q, result.sums->counts);
}

void check_cross_entropy(const ModelCase& p, const ModelCase& q) {
  INFO(p.description << " against " << q.description);
  const Enumeration of_p = enumerate_segmentations(p), of_q = enumerate_segmentations(q);
  if (of_p.feasible == 0 || of_q.feasible == 0) return;
  const CrossEntropy expected = cross_entropy_of(p, q);
  if (expected.forbidden > 0 && expected.forbidden < 1e-200) return;  // too rare to be a double everywhere
  const double resolution = resolution_of(p, of_p.best_path) + resolution_of(q, of_q.best_path);
  if (resolution > 0) return;
  for (const EngineOptions& options : engines_to_test()) {
    const auto engine = make_engine(options, p.model);
    INFO(engine->description());
    const double found = cross_entropy(*engine, p, q, of_q.log_partition);
    if (expected.forbidden > (engine->name() == "reference" ? 0 : 1e-9)) {
      CHECK(found == -kNegativeInfinity);
    } else if (expected.forbidden == 0) {
      const double tolerance = tolerance_of(*engine) * std::max(1.0, expected.value);
      CHECK(std::fabs(found - expected.value) <= 10 * tolerance);
    }
  }
}

}  // namespace

TEST_CASE("entropies and expected counts equal the enumeration of all segmentations") {
  std::uint64_t seed = 700;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape : {CaseShape{5, 3, 2}, {5, 1, 2}, {6, 2, 2}, {1, 2, 3}, {3, 7, 3}, {4, 1, 3}})
      check_against_enumeration(make_case(kind, shape, ++seed));
}

TEST_CASE("entropies of any scores are as exact as their uncertainty says") {
  std::uint64_t seed = 1700;
  int uncertain = 0;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape : {CaseShape{300, 5, 3}, {1000, 20, 2}}) {
      const ModelCase sample = make_case(kind, shape, ++seed);
      INFO(sample.description);
      const PosteriorResult expected =
          swept(*make_engine(engines_to_test().front(), sample.model), sample, 0);
      if (!expected.feasible) continue;
      const double entropy = expected.sums->entropy, own = expected.sums->entropy_uncertainty;
      for (const EngineOptions& options : engines_to_test()) {
        const auto engine = make_engine(options, sample.model);
        INFO(engine->description());
        PosteriorResult result = swept(*engine, sample, 0);
        CHECK(std::fabs(result.sums->entropy - entropy) <= result.sums->entropy_uncertainty + own + 1e-6);
        if (engine->precision() == Precision::kDouble) continue;
        uncertain += is_certain(result.sums->entropy, result.sums->entropy_uncertainty) ? 0 : 1;
        MemoryScoreSource source(sample.whole(), sample.model.num_labels);
        make_entropy_certain(options, sample.model, source, with_counts(), std::size_t{1} << 30, result);
        CHECK(std::fabs(result.sums->entropy - entropy) <= kCertainShare * entropy + own + 1e-5);
      }
    }
  CHECK(uncertain > 5);  // else nothing was computed again
}

TEST_CASE("the score of another model is expected as the enumeration has it") {
  std::uint64_t seed = 900;
  for (const CaseKind of_p : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails,
                              CaseKind::kForbiddenTransitions, CaseKind::kForbiddenPositions})
    for (const CaseKind of_q :
         {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kForbiddenTransitions,
          CaseKind::kForbiddenDurations, CaseKind::kBoundaryScores, CaseKind::kForbiddenPositions})
      for (const CaseShape shape : {CaseShape{5, 3, 2}, {4, 2, 3}, {1, 2, 2}, {6, 1, 2}}) {
        const ModelCase p = make_case(of_p, shape, ++seed);
        check_cross_entropy(p, make_case(of_q, shape, ++seed));
      }
}

TEST_CASE("tails are compared with longer tables") {
  std::uint64_t seed = 1300;
  for (const CaseKind of_q : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kForbiddenDurations})
    for (const int durations : {3, 4, 6}) {
      ModelCase p = make_case(CaseKind::kTails, {6, 2, 2}, ++seed);
      p.model = with_durations(p.model, durations);
      check_cross_entropy(p, make_case(of_q, {6, durations, 2}, ++seed));
    }
}

TEST_CASE("what makes a cross-entropy infinite is named with its leftmost place") {
  using Kind = ForbiddenPart::Kind;
  const auto found = [](const ModelCase& p, const ModelCase& q) {
    const auto engine = make_engine(engines_to_test().front(), p.model);
    MemoryScoreSource source(p.whole(), p.model.num_labels);
    ExpectedScore score(p.model, q.model, engine->precision());
    PosteriorSelection selection = with_counts();
    selection.labels = selection.starts = selection.ends = true;
    const PosteriorResult result =
        sweep_posteriors(*engine, source, plan_in_windows(*engine, p.length, 0), selection,
                         [&](const PosteriorBlock& block) { score.add(block, p.whole(), q.whole()); });
    const auto part = score.first_forbidden(result.sums->counts);
    CHECK(part.has_value() == (score.minus_expectation(0, result.sums->counts) == -kNegativeInfinity));
    return part;
  };
  // One bin long segments, so that every label may be everywhere.
  ModelCase p = make_case(CaseKind::kPlain, {7, 2, 2}, 5);
  p.model.initial = InitialTerm::kNone;
  CHECK_FALSE(found(p, p));
  ModelCase q = p;
  q.model.transition[1] = kNegativeInfinity;  // from 0 to 1
  auto part = found(p, q);
  REQUIRE(part);
  CHECK((part->kind == Kind::kTransition && part->position == 1 && part->from == 0 && part->label == 1));
  q = p;
  q.model.duration_bias[3] = kNegativeInfinity;  // 2 positions of label 1
  part = found(p, q);
  REQUIRE(part);
  CHECK((part->kind == Kind::kDuration && part->duration == 2 && part->label == 1));
  q = p;
  q.model.end_scores = {kNegativeInfinity, 0};
  part = found(p, q);
  REQUIRE(part);
  CHECK((part->kind == Kind::kEnd && part->position == 6 && part->label == 0));
  q = p;
  if (q.emissions.f32.empty()) q.emissions.f64[2 * 4 + 1] = kNegativeInfinity;
  if (!q.emissions.f32.empty()) q.emissions.f32[2 * 4 + 1] = -std::numeric_limits<float>::infinity();
  part = found(p, q);
  REQUIRE(part);
  CHECK((part->kind == Kind::kEmission && part->position == 4 && part->label == 1));
  q.model.transition[1] = kNegativeInfinity;
  part = found(p, q);
  REQUIRE(part);
  CHECK((part->kind == Kind::kTransition && part->position == 1));
}

TEST_CASE("more durations than the counts of tails tell apart are refused") {
  const ModelCase p = make_case(CaseKind::kTails, {5, 3, 2}, 3);
  const ModelCase q = make_case(CaseKind::kPlain, {5, 4, 2}, 3);
  CHECK_THROWS_AS(ExpectedScore(p.model, q.model, Precision::kDouble), std::logic_error);
  CHECK_NOTHROW(ExpectedScore(q.model, p.model, Precision::kDouble));
}

TEST_CASE("sums do not depend on windows or threads and are the reference's") {
  const CaseShape shape{of_long_test(40'000), 7, 3};
  std::uint64_t seed = 60;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kBoundaryScores, CaseKind::kPeriodic, CaseKind::kPeriodicLate,
                              CaseKind::kPeriodicEndScores, CaseKind::kSinglePath, CaseKind::kInfeasible}) {
    const ModelCase sample = make_case(kind, shape, ++seed);
    INFO(sample.description);
    const PosteriorResult expected = swept(*make_engine(engines_to_test().front(), sample.model), sample, 0);
    for (EngineOptions options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      const PosteriorResult whole = swept(*engine, sample, 0);
      REQUIRE(whole.feasible == expected.feasible);
      if (!whole.feasible) continue;
      // Sums of so many positions, of which each has the engine's tolerance.
      const double tolerance = tolerance_of(*engine) * std::max(1.0, expected.boundary_mass);
      CHECK(largest_difference(whole.sums->counts.duration, expected.sums->counts.duration) < tolerance);
      CHECK(largest_difference(whole.sums->counts.transition, expected.sums->counts.transition) < tolerance);
      CHECK(std::fabs(whole.sums->entropy - expected.sums->entropy) <
            2 * tolerance + 1e-12 * std::fabs(expected.log_partition));
      for (const std::int64_t chunks : {1, 3}) {
        CHECK(same(*swept(*engine, sample, chunks).sums, *whole.sums));
        options.threads = 3;
        CHECK(same(*swept(*make_engine(options, sample.model), sample, chunks, with_counts(3)).sums,
                   *whole.sums));
      }
      if (kind == CaseKind::kPeriodicLate && engine->name() != "reference")
        CHECK(swept(*engine, sample, 1).repaired_chunks > 0);  // windows were added up again
    }
  }
}
