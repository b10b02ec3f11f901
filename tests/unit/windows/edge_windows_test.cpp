// Cut pieces with windows of their own at the edges equal those whose labels have roles everywhere, which are
// checked against enumeration (cut_pieces_test.cpp).
#include "windows/edge_windows.h"

#include <algorithm>
#include <cmath>

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
      const ModelCase sample = make_case(kind, shape, ++seed);
      INFO(sample.description);
      for (const CutEdges cut : kCuts) {
        INFO("cut " << (cut.left ? "left " : "") << (cut.right ? "right" : ""));
        const CutPieceResult expected = with_roles_everywhere(reference, sample, cut);
        // Just longer than K, and unlike. Between them the warm-ups begin at the edges, and give other states
        // than the edges have. Beside masks floats can't tell these apart (agreement() allows for 4 units of
        // the last place of the largest entry): in float the windows have the lengths of a run.
        const EdgeLengths shortest = of_cut(cut, 16 * (shape.max_duration / 16 + 1),
                                            shape.length - (shape.length - shape.max_duration - 1) / 16 * 16);
        check_equal(with_edge_windows(cpu(Precision::kDouble), sample, cut, shortest), expected, sample,
                    1e-9);
        const EdgeLengths usual =
            edge_lengths(*make_engine(cpu(Precision::kFloat), sample.model), cut, sample.length);
        if (!usual.any()) continue;
        check_equal(with_edge_windows(cpu(Precision::kFloat), sample, cut, usual), expected, sample, 1e-4);
        check_equal(with_edge_windows(cpu(Precision::kDouble), sample, cut, usual), expected, sample, 1e-9);
      }
    }
}

TEST_CASE("windows between those at cut edges change nothing") {
  if (available_instruction_sets().empty()) return;  // there is no cpu engine
  std::uint64_t seed = 8300;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kBoundaryScores, CaseKind::kMasks, CaseKind::kPeriodicLate}) {
    const ModelCase sample = make_case(kind, {of_long_test(30'000), 7, 3}, ++seed);
    INFO(sample.description);
    for (const CutEdges cut : kCuts)
      for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
        const auto engine = make_engine(cpu(precision), sample.model);
        const EdgeLengths lengths = edge_lengths(*engine, cut, sample.length);
        REQUIRE(lengths.any());
        const CutPieceResult whole = with_edge_windows(cpu(precision), sample, cut, lengths);
        if (!whole.result.feasible) continue;
        for (const bool joined : {false, true}) {
          const CutPieceResult parts = with_edge_windows(cpu(precision, 1), sample, cut, lengths, 1, joined);
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
        }
        const CutPieceResult roles = with_roles_everywhere(cpu(precision), sample, cut);
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
