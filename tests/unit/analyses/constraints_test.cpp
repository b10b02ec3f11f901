// What is computed under constraints: against the segmentations that meet them, and over windows.
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "analyses/claims/claim_sweep.h"
#include "analyses/claims/message_sweep.h"
#include "analyses/constraints/constrained_source.h"
#include "analyses/draws/segment_sampler.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/models/windowed.h"
#include "support/truth/all_paths.h"
#include "support/truth/enumerate.h"
#include "support/truth/rescore.h"
#include "support/truth/segments_of.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

using Kind = Constraint::Kind;

bool meets(const std::vector<Segment>& path, const Constraint& constraint) {
  bool starts = false, forbidden = false;
  for (const Segment& segment : path) {
    starts |= segment.begin >= constraint.begin && segment.begin < constraint.end;
    if (segment.begin < constraint.end && segment.end > constraint.begin)
      for (const int label : constraint.forbidden) forbidden |= segment.label == label;
  }
  switch (constraint.kind) {
    case Kind::kBoundary:
      return starts;
    case Kind::kNoBoundary:
      return !starts;
    default:
      return !forbidden;
  }
}

bool meets_all(const std::vector<Segment>& path, Constraints constraints) {
  for (const Constraint& constraint : constraints)
    if (!meets(path, constraint)) return false;
  return true;
}

// Sorted; at most one boundary at a position.
std::vector<Constraint> random_constraints(std::mt19937_64& random, std::int64_t length, int labels,
                                           int count) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::vector<Constraint> all;
  std::vector<char> taken(static_cast<std::size_t>(length), 0);
  for (int i = 0; i < count && length > 1; ++i) {
    Constraint one;
    one.kind = static_cast<Kind>(below(3));
    one.begin = 1 + below(length - 1);
    one.end = one.kind == Kind::kBoundary
                  ? one.begin + 1
                  : std::min(length, one.begin + 1 + below(std::min<std::int64_t>(length, 6)));
    if (one.kind == Kind::kForbidden) one.forbidden = {static_cast<int>(below(labels))};
    if (one.kind == Kind::kBoundary && std::exchange(taken[static_cast<std::size_t>(one.begin)], 1) == 1)
      continue;
    all.push_back(one);
  }
  std::ranges::stable_sort(all, {}, &Constraint::begin);
  return all;
}

// The segmentations that meet constraints, with their probabilities.
struct Truth {
  Truth(const ModelCase& sample, const std::vector<PathProbability>& scored, Constraints constraints) {
    double best_score = kNegativeInfinity, top = kNegativeInfinity;
    for (const PathProbability& one : scored) {
      all_top = std::max(all_top, one.probability);
      if (!meets_all(one.path, constraints)) continue;
      paths.push_back(one);
      top = std::max(top, one.probability);
      best_score = std::max(best_score, rescore(sample, one.path));
    }
    best = best_score;
    double all = 0, kept = 0;
    for (const PathProbability& one : scored) all += std::exp(one.probability - all_top);
    for (PathProbability& one : paths) kept += one.probability = std::exp(one.probability - top);
    for (PathProbability& one : paths) one.probability /= kept;
    log_probability = top - all_top + std::log(kept) - std::log(all);
  }
  // P(of).
  template <class Of>
  double probability(Of of) const {
    double sum = 0;
    for (const PathProbability& one : paths) sum += of(one.path) ? one.probability : 0;
    return sum;
  }

  std::vector<PathProbability> paths;
  double best = 0;  // max semiring
  double log_probability = 0;
  double all_top = kNegativeInfinity;
};

double tolerance_of(const EngineOptions& options) {
  if (options.backend == EngineOptions::Backend::kReference) return 1e-10;
  return options.precision == Precision::kFloat ? 1e-5 : 1e-9;
}

// An engine and the scores of a case.
struct Setting {
  Setting(const EngineOptions& options, const ModelCase& sample, std::int64_t chunks)
      : engine(make_engine(options, sample.model)),
        source(sample.whole(), sample.model.num_labels),
        plan(plan_in_windows(*engine, sample.length, chunks)),
        passes(*engine, source, {}, plan, 2) {}
  std::unique_ptr<Engine> engine;
  MemoryScoreSource source;
  WindowPlan plan;
  ConstraintPasses passes;
};

void check_posteriors(Setting& setting, ConstrainedSource& source, const Truth& truth, double tolerance) {
  PosteriorSelection selection;
  selection.labels = selection.starts = selection.ends = true;
  const int labels = setting.engine->model().num_labels;
  const PosteriorResult result =
      sweep_posteriors(*setting.engine, source, setting.plan, selection, [&](const PosteriorBlock& block) {
        for (std::int64_t t = 0; t < block.range.size(); ++t)
          for (int c = 0; c < labels; ++c) {
            const auto entry = static_cast<std::size_t>(t * labels + c);
            double label = 0, start = 0, end = 0;
            for (const PathProbability& one : truth.paths)
              for (const Segment& segment : one.path) {
                if (segment.label != c) continue;
                label += segment.begin <= t && segment.end > t ? one.probability : 0;
                start += segment.begin == t ? one.probability : 0;
                end += segment.end == t + 1 ? one.probability : 0;
              }
            INFO("position " << t << ", label " << c);
            REQUIRE(std::fabs(block.labels[entry] - label) < tolerance);
            REQUIRE(std::fabs(block.starts[entry] - start) < tolerance);
            REQUIRE(std::fabs(block.ends[entry] - end) < tolerance);
          }
      });
  REQUIRE(result.feasible);
}

void check_paths(Setting& setting, ConstrainedSource& source, const ModelCase& sample, const Truth& truth,
                 Constraints constraints, double tolerance) {
  const ViterbiResult best = decode_viterbi(*setting.engine, source, setting.plan);
  REQUIRE(best.feasible);
  const std::vector<Segment> path = segments_of(best.segments);
  REQUIRE(meets_all(path, constraints));
  const double score = rescore(sample, path);
  const double scale = std::max(1.0, std::fabs(truth.best));
  REQUIRE(std::fabs(score - truth.best) < tolerance * scale);
  REQUIRE(std::fabs(best.score.value() - score) < 1e-9 * scale + tolerance);
  const DrawResult draws = draw_segmentations(*setting.engine, source, setting.plan, {}, {20, 7, 0});
  REQUIRE(draws.feasible);
  for (const Draw& one : draws.draws) REQUIRE(meets_all(segments_of(one.segments), constraints));
}

void check_claims(Setting& setting, ConstrainedSource& source, const EngineOptions& options,
                  const Truth& truth, double tolerance) {
  const std::int64_t length = source.length();
  std::vector<Claim> claims;
  for (std::int64_t begin = 0; begin < length; ++begin)
    for (std::int64_t end = begin + 1; end <= length; ++end) {
      claims.push_back({ClaimKind::kBoundary, -1, begin, end});
      claims.push_back({ClaimKind::kLabel, 0, begin, end});
    }
  ReversedPiece mirror(options, *setting.engine, source, {});
  const ClaimSweep found =
      sweep_claims(*setting.engine, source, {}, setting.plan, mirror, setting.plan, claims, 2);
  REQUIRE(found.feasible);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const bool boundary = claims[i].kind == ClaimKind::kBoundary;
    Constraint same{boundary ? Kind::kBoundary : Kind::kForbidden, claims[i].begin, claims[i].end, {}, 0};
    for (int c = 1; !boundary && c < setting.engine->model().num_labels; ++c) same.forbidden.push_back(c);
    const double expected = truth.probability([&](const auto& path) { return meets(path, same); });
    REQUIRE(std::fabs(std::exp(found.results[i].log_true) - expected) < 2 * tolerance);
  }
}

void check_impossible(Setting& setting, const ModelCase& sample, const std::vector<PathProbability>& scored,
                      Constraints constraints) {
  const std::optional<std::size_t> first = setting.passes.first_impossible(constraints);
  REQUIRE(first.has_value() == !scored.empty());
  if (!first) return;
  REQUIRE(Truth(sample, scored, constraints.first(*first + 1)).paths.empty());
  REQUIRE(!Truth(sample, scored, constraints.first(*first)).paths.empty());
}

// Whether the constraints could be met.
bool check_against_enumeration(const ModelCase& sample, Constraints constraints) {
  std::vector<PathProbability> scored;
  std::vector<Segment> path;
  extend_paths(sample, path, scored);
  const Truth truth(sample, scored, constraints);
  for (const EngineOptions& options : engines_to_test()) {
    INFO("engine " << static_cast<int>(options.backend) << static_cast<int>(options.precision));
    Setting setting(options, sample, 0);
    const std::optional<ConstraintFindings> found = setting.passes.find(constraints);
    REQUIRE(found.has_value() == !truth.paths.empty());
    if (!found) {
      check_impossible(setting, sample, scored, constraints);
      continue;
    }
    // Scores beside a penalty are known to its last digits.
    const double tolerance = tolerance_of(options) + resolution_of(sample, truth.paths.front().path) +
                             2e-16 * static_cast<double>(constraints.size()) *
                                 (require_boundaries(constraints) ? found->penalty : 0);
    const double scale = std::max(1.0, 1e-2 * std::fabs(truth.log_probability));
    REQUIRE(std::fabs(found->log_probability - truth.log_probability) < tolerance * scale);
    ConstrainedSource source(setting.source, sample.model, constraints, 2, found->penalty);
    check_posteriors(setting, source, truth, tolerance);
    check_paths(setting, source, sample, truth, constraints, tolerance);
    check_claims(setting, source, options, truth, tolerance);
  }
  return !truth.paths.empty();
}

}  // namespace

TEST_CASE("what is computed under constraints is that of the segmentations that meet them") {
  std::uint64_t seed = 4000;
  int possible = 0, impossible = 0;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape :
         {CaseShape{5, 3, 2}, {5, 1, 2}, {6, 2, 2}, {4, 2, 3}, {3, 7, 3}, {7, 2, 1}, {1, 2, 3}}) {
      const ModelCase sample = make_case(kind, shape, ++seed);
      std::mt19937_64 random(seed);
      for (int i = 0; i < 3; ++i) {
        const std::vector<Constraint> constraints =
            random_constraints(random, shape.length, shape.num_labels, 1 + i);
        std::string what = sample.description;
        for (const Constraint& one : constraints)
          what += "; kind " + std::to_string(static_cast<int>(one.kind)) + " at " +
                  std::to_string(one.begin) + " to " + std::to_string(one.end);
        INFO(what);
        ++(check_against_enumeration(sample, constraints) ? possible : impossible);
      }
    }
  CHECK(possible > 100);
  CHECK(impossible > 20);
}

TEST_CASE("constraints on long sequences are the reference's, in any windows") {
  std::uint64_t seed = 90;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kEverything,
                              CaseKind::kLargeScores, CaseKind::kSteepTables, CaseKind::kMinimumDurations}) {
    const ModelCase sample = make_case(kind, {3000, 9, 3}, ++seed);
    INFO(sample.description);
    std::mt19937_64 random(seed);
    std::vector<Constraint> constraints = random_constraints(random, sample.length, 3, 120);
    const std::vector<EngineOptions> engines = engines_to_test();
    Setting expected(engines.front(), sample, 0);
    std::optional<ConstraintFindings> truth = expected.passes.find(constraints);
    while (!truth) {
      const std::optional<std::size_t> first = expected.passes.first_impossible(constraints);
      REQUIRE(first);
      constraints.erase(constraints.begin() + static_cast<std::ptrdiff_t>(*first));
      truth = expected.passes.find(constraints);
    }
    CHECK(constraints.size() > 60);
    for (std::size_t e = 1; e < engines.size(); ++e)
      for (const std::int64_t chunks : {0, 1, 3}) {
        Setting setting(engines[e], sample, chunks);
        const std::optional<ConstraintFindings> found = setting.passes.find(constraints);
        REQUIRE(found);
        CHECK(found->penalty == truth->penalty);
        const double digits = engines[e].precision == Precision::kFloat ? 1e-6 : 1e-11;
        CHECK(std::fabs(found->log_probability - truth->log_probability) <
              digits * (100 + std::fabs(truth->log_probability)));
        ConstrainedSource source(setting.source, sample.model, constraints, 2, found->penalty);
        const ViterbiResult best = decode_viterbi(*setting.engine, source, setting.plan);
        REQUIRE(best.feasible);
        CHECK(meets_all(segments_of(best.segments), constraints));
        CHECK(std::fabs(best.score.value() - rescore(sample, segments_of(best.segments))) <
              1e-8 + 1e-13 * std::fabs(best.score.value()));
        const PosteriorResult posteriors =
            sweep_posteriors(*setting.engine, source, setting.plan, {}, [&](const PosteriorBlock& block) {
              for (const Constraint& one : constraints)
                for (std::int64_t t = one.begin; t < one.end && one.kind != Kind::kForbidden; ++t)
                  if (t >= block.range.begin && t < block.range.end)
                    CHECK(std::fabs(block.boundary[static_cast<std::size_t>(t - block.range.begin)] -
                                    (one.kind == Kind::kBoundary ? 1 : 0)) < 1e-5);
            });
        REQUIRE(posteriors.feasible);
      }
  }
}
