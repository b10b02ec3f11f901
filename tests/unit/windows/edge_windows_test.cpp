// Cut pieces with windows of their own at the edges equal those whose labels have roles everywhere, which are
// checked against enumeration (cut_pieces_test.cpp).
#include "windows/edge_windows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "support/catch.h"
#include "support/cut_piece.h"
#include "support/models/resolution.h"
#include "support/slow_build.h"
#include "support/truth/segments_of.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

constexpr CutEdges kCuts[] = {{true, false}, {false, true}, {true, true}};

EngineOptions cpu(Precision precision, int threads = 2) {
  EngineOptions options;
  options.backend = EngineOptions::Backend::kCpu;
  options.precision = precision;
  options.threads = threads;
  return options;
}

// Lengths for the edges that are cut.
EdgeLengths of_cut(CutEdges cut, std::int64_t left, std::int64_t right) {
  return {cut.left ? left : 0, cut.right ? right : 0};
}

void check_close(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) most = std::max(most, std::fabs(found[i] - expected[i]));
  CHECK(most < tolerance);
}

// `tolerance`: of counts; an entropy is a difference of sums as large as `score`, and says how uncertain it
// is.
void check_equal_sums(const PosteriorSums& found, const PosteriorSums& expected, double tolerance,
                      double score) {
  check_close(found.counts.transition, expected.counts.transition, tolerance);
  check_close(found.counts.duration, expected.counts.duration, tolerance);
  check_close(found.counts.tail, expected.counts.tail, tolerance);
  check_close(found.label_bins, expected.label_bins, tolerance);
  check_close(found.label_segments, expected.label_segments, tolerance);
  check_close(found.label_entropies, expected.label_entropies, 20 * tolerance);
  check_close(found.last_bin, expected.last_bin, tolerance);
  CHECK(std::fabs(found.entropy - expected.entropy) <
        found.entropy_uncertainty + expected.entropy_uncertainty + 1e-9 * score + 1e-5);
}

// Analyses whose answers follow the path, where both have found the same one.
void check_along_path(const CutPieceResult& found, const CutPieceResult& expected, const ModelCase& sample,
                      double tolerance) {
  SpooledNumbers::Reader mine(found.result.get<SegmentShares>().logs),
      theirs(expected.result.get<SegmentShares>().logs);
  for (double a = 0, b = 0; mine.next(a);) {
    REQUIRE(theirs.next(b));
    CHECK(std::fabs(std::exp(a) - std::exp(b)) < 10 * tolerance);
  }
  if (sample.kind == CaseKind::kPeriodicLate) return;  // neighbours are equally probable
  BoundaryIntervals::Reader own(found.result.get<BoundaryIntervals>()),
      other(expected.result.get<BoundaryIntervals>());
  const std::size_t segments = found.result.get<ViterbiResult>().segments.size();
  std::size_t unlike = 0;
  for (std::size_t i = 0; i < segments; ++i) {
    const std::optional<BoundaryInterval> a = own.next(), b = other.next();
    const bool same = a.has_value() == b.has_value() && (!a || a->upper - a->lower == b->upper - b->lower);
    unlike += same ? 0 : 1;
  }
  // Rounding chooses one of two neighbours that are as probable, and in float an interval may be larger by a
  // position where its probability is the wanted one within rounding.
  CHECK(unlike <= (tolerance > 1e-6 ? 1 + segments / 50 : 0));
}

void check_ranks(const CutPieceResult& found, const CutPieceResult& expected, double tolerance) {
  const auto &mine = found.result.get<BestPaths>().ranks, &theirs = expected.result.get<BestPaths>().ranks;
  REQUIRE(mine.size() == theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    CHECK(std::fabs(mine[i].score - theirs[i].score) < tolerance);
    CHECK(std::fabs(mine[i].log_probability - theirs[i].log_probability) < 2 * tolerance);
  }
}

void check_claims(const CutPieceResult& found, const CutPieceResult& expected, double tolerance) {
  const auto &mine = found.result.get<ClaimFindings>().swept.results,
             &theirs = expected.result.get<ClaimFindings>().swept.results;
  REQUIRE(mine.size() == theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    INFO("claim " << i);
    CHECK(std::fabs(std::exp(mine[i].log_true) - std::exp(theirs[i].log_true)) < tolerance);
    CHECK(std::fabs(std::exp(mine[i].log_false) - std::exp(theirs[i].log_false)) < tolerance);
  }
}

// Equal random numbers choose equal segments, but where they fall on the edge of a probability.
void check_draws(const CutPieceResult& found, const CutPieceResult& expected, double tolerance) {
  const auto &mine = found.result.get<DrawResult>(), &theirs = expected.result.get<DrawResult>();
  CHECK(std::fabs(mine.log_partition - theirs.log_partition) < tolerance);
  if (tolerance > 1e-6) return;
  for (std::size_t i = 0; i < mine.draws.size(); ++i) {
    CHECK(segments_of(mine.draws[i].segments) == segments_of(theirs.draws[i].segments));
    CHECK(std::fabs(mine.draws[i].log_likelihood - theirs.draws[i].log_likelihood) < tolerance);
  }
}

void check_equal(const CutPieceResult& found, const CutPieceResult& expected, const ModelCase& sample,
                 double tolerance) {
  REQUIRE(found.result.feasible == expected.result.feasible);
  if (!expected.result.feasible) return;
  const std::vector<Segment> best = segments_of(expected.result.get<ViterbiResult>().segments);
  const double resolution = resolution_of(sample, best);
  const double largest = std::max(1.0, std::fabs(expected.result.get<ViterbiResult>().score.value()));
  CHECK(std::fabs(found.result.get<ViterbiResult>().score.value() -
                  expected.result.get<ViterbiResult>().score.value()) < (1e-9 + resolution) * largest);
  const PosteriorResult &mine = found.result.get<PosteriorResult>(),
                        &theirs = expected.result.get<PosteriorResult>();
  CHECK(std::fabs(mine.log_partition - theirs.log_partition) < tolerance * largest + resolution);
  const double bins = static_cast<double>(sample.length);
  CHECK(std::fabs(mine.boundary_mass - theirs.boundary_mass) < bins * (tolerance + resolution));
  CHECK(std::fabs(mine.label_entropy - theirs.label_entropy) < 20 * bins * (tolerance + resolution));
  check_equal_sums(*mine.sums, *theirs.sums, bins * (tolerance + resolution), largest);
  check_close(found.boundary, expected.boundary, tolerance + resolution);
  check_close(found.labels, expected.labels, tolerance + resolution);
  check_close(found.starts, expected.starts, tolerance + resolution);
  check_close(found.ends, expected.ends, tolerance + resolution);
  const double scale = tolerance * largest + resolution;
  if (segments_of(found.result.get<ViterbiResult>().segments) == best)
    check_along_path(found, expected, sample, tolerance + resolution);
  check_ranks(found, expected, scale);
  check_claims(found, expected, 10 * (tolerance + resolution));
  check_draws(found, expected, scale);
}

}  // namespace

TEST_CASE("windows of their own at cut edges equal roles everywhere") {
  if (available_instruction_sets().empty()) return;  // there is no cpu engine
  EngineOptions reference;
  reference.backend = EngineOptions::Backend::kReference;
  std::uint64_t seed = 8200;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape :
         {CaseShape{640, 9, 3}, {97, 15, 2}, {49, 1, 3}, {801, 31, 2}, {641, 30, 1}}) {
      if (!testing::is_tried(++seed)) continue;
      const ModelCase sample = make_case(kind, shape, seed);
      INFO(sample.description);
      for (const CutEdges cut : kCuts) {
        INFO("cut " << (cut.left ? "left " : "") << (cut.right ? "right" : ""));
        // Just longer than K, and unlike. Between them the warm-ups begin at the edges, and give other states
        // than the edges have. Beside masks floats can't tell these apart (agreement() allows for 4 units of
        // the last place of the largest entry): in float the windows have the lengths of a run.
        const EdgeLengths shortest = of_cut(cut, 16 * (shape.max_duration / 16 + 1),
                                            shape.length - (shape.length - shape.max_duration - 1) / 16 * 16);
        const EdgeLengths usual =
            edge_lengths(*make_engine(cpu(Precision::kFloat), sample.model), cut, sample.length);
        const std::vector<Claim> claims =
            claims_near({shortest.left, shape.length - shortest.right, usual.left, shape.max_duration + 1},
                        shape.length, shape.num_labels);
        const CutPieceResult expected = with_roles_everywhere(reference, sample, cut, {claims, {}});
        const auto check = [&](Precision precision, EdgeLengths lengths, double tolerance) {
          check_equal(with_edge_windows(cpu(precision), sample, cut, lengths, {claims, {}}), expected, sample,
                      tolerance);
        };
        check(Precision::kDouble, shortest, 1e-9);
        if (!usual.any()) continue;
        check(Precision::kFloat, usual, 1e-4);
        check(Precision::kDouble, usual, 1e-9);
      }
    }
}

TEST_CASE("constraints act in windows at cut edges and between them") {
  if (available_instruction_sets().empty()) return;  // there is no cpu engine
  using Kind = Constraint::Kind;
  EngineOptions reference;
  reference.backend = EngineOptions::Backend::kReference;
  std::uint64_t seed = 8250;
  int met = 0;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kLongTail, CaseKind::kEverything,
                              CaseKind::kBoundaryScores})
    for (const CaseShape shape : {CaseShape{640, 9, 3}, {801, 31, 2}}) {
      const ModelCase sample = make_case(kind, shape, ++seed);
      INFO(sample.description);
      const std::int64_t length = shape.length, middle = length / 2;
      CutPieceQuestions asked;
      asked.constraints = {{Kind::kForbidden, 2, 4, {0}, 0},
                           {Kind::kBoundary, 6, 7, {}, 1},
                           {Kind::kBoundary, middle, middle + 1, {}, 2},
                           {Kind::kForbidden, middle + 3, middle + 5, {1}, 3},
                           {Kind::kNoBoundary, length - 6, length - 4, {}, 4}};
      for (const CutEdges cut : kCuts) {
        INFO("cut " << (cut.left ? "left " : "") << (cut.right ? "right" : ""));
        const EdgeLengths lengths =
            edge_lengths(*make_engine(cpu(Precision::kDouble), sample.model), cut, length);
        REQUIRE(lengths.any());
        asked.claims = claims_near({6, middle, length - 5, lengths.left}, length, shape.num_labels);
        std::optional<CutPieceResult> expected;
        try {
          expected = with_roles_everywhere(reference, sample, cut, asked);
        } catch (const InputError&) {
          CHECK_THROWS_AS(with_edge_windows(cpu(Precision::kDouble), sample, cut, lengths, asked),
                          InputError);
          continue;
        }
        ++met;
        const CutPieceResult found = with_edge_windows(cpu(Precision::kDouble), sample, cut, lengths, asked);
        check_equal(found, *expected, sample, 1e-8);
        // Where the boundaries need the third penalty, scores beside them are known to 7e-9.
        CHECK(std::fabs(found.result.log_constraint_probability.value() -
                        expected->result.log_constraint_probability.value()) < 1e-7);
      }
    }
  CHECK(met > 20);
}

TEST_CASE("windows between those at cut edges change nothing") {
  if (available_instruction_sets().empty()) return;  // there is no cpu engine
  std::uint64_t seed = 8300;
  for (const CaseKind kind : {CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail, CaseKind::kMasks,
                              CaseKind::kPeriodicLate}) {
    const ModelCase sample = make_case(kind, {of_long_test(30'000), 7, 3}, ++seed);
    INFO(sample.description);
    std::uint64_t number = seed;
    for (const CutEdges cut : kCuts)
      for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
        if (!testing::is_tried(++number)) continue;
        const auto engine = make_engine(cpu(precision), sample.model);
        const EdgeLengths lengths = edge_lengths(*engine, cut, sample.length);
        REQUIRE(lengths.any());
        const std::vector<Claim> claims =
            claims_near({lengths.left, sample.length - lengths.right}, sample.length, 3);
        const CutPieceResult whole = with_edge_windows(cpu(precision), sample, cut, lengths, {claims, {}});
        if (!whole.result.feasible) continue;
        for (const bool joined : {false, true}) {
          const CutPieceResult parts =
              with_edge_windows(cpu(precision, 1), sample, cut, lengths, {claims, {}}, 1, joined);
          CHECK(parts.boundary == whole.boundary);
          CHECK(parts.labels == whole.labels);
          CHECK(parts.starts == whole.starts);
          CHECK(parts.ends == whole.ends);
          CHECK(parts.path_label == whole.path_label);
          CHECK(parts.result.get<ViterbiResult>().score == whole.result.get<ViterbiResult>().score);
          CHECK(parts.result.get<PosteriorResult>().label_entropy ==
                whole.result.get<PosteriorResult>().label_entropy);
          CHECK(parts.result.get<PosteriorResult>().log_partition ==
                whole.result.get<PosteriorResult>().log_partition);
          CHECK(parts.result.get<PosteriorResult>().sums->entropy ==
                whole.result.get<PosteriorResult>().sums->entropy);
          CHECK(parts.result.get<PosteriorResult>().sums->counts.duration ==
                whole.result.get<PosteriorResult>().sums->counts.duration);
          check_ranks(parts, whole, 1e-9);
          check_along_path(parts, whole, sample, 1e-12);
          for (std::size_t i = 0; i < 5; ++i)
            CHECK(segments_of(parts.result.get<DrawResult>().draws[i].segments) ==
                  segments_of(whole.result.get<DrawResult>().draws[i].segments));
        }
        const CutPieceResult roles = with_roles_everywhere(cpu(precision), sample, cut, {claims, {}});
        check_equal(whole, roles, sample, precision == Precision::kFloat ? 1e-4 : 1e-9);
      }
  }
}

TEST_CASE("pieces that are too short have no windows of their own at their edges") {
  if (available_instruction_sets().empty()) return;  // there is no cpu engine
  const ModelCase sample = make_case(CaseKind::kPlain, {64, 9, 2}, 8400);
  const auto engine = make_engine(cpu(Precision::kFloat), sample.model);
  const std::int64_t shortest = engine->grid(64).warmup + kBlockPositions;
  for (const CutEdges cut : kCuts) {
    const std::int64_t edges = (cut.left ? shortest : 0) + (cut.right ? shortest : 0);
    CHECK_FALSE(edge_lengths(*engine, cut, edges).any());
    for (const std::int64_t length : {edges + 16, edges + 17, edges + 31, 10 * edges + 5}) {
      const EdgeLengths found = edge_lengths(*engine, cut, length);
      CHECK(found.any());
      CHECK((found.left > 0) == cut.left);
      CHECK((found.right > 0) == cut.right);
      CHECK(found.left % 16 == 0);
      CHECK((!cut.right || (length - found.right) % 16 == 0));
      CHECK((!cut.right || found.right >= shortest));
      CHECK(found.left + found.right < length);
    }
  }
  CHECK_FALSE(edge_lengths(*engine, {}, 1 << 20).any());
  EngineOptions reference;
  reference.backend = EngineOptions::Backend::kReference;
  CHECK_FALSE(edge_lengths(*make_engine(reference, sample.model), {true, true}, 1 << 20).any());
}
