// The intervals of boundaries against an enumeration of all segmentations.
#include "analyses/intervals/boundary_intervals.h"

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "analyses/analyse.h"
#include "analyses/posteriors/posteriors.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "engine/options.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/models/windowed.h"
#include "support/truth/enumerate.h"
#include "support/truth/interval_truth.h"
#include "support/truth/segments_of.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

PieceResult analyse(Engine& engine, const ModelCase& sample, double level, std::int64_t chunks, int threads) {
  AnalysisList analyses;
  analyses.add<ViterbiDecoding>();
  PosteriorRequest request;
  request.along_path = request.path_edges = request.path_next = true;
  analyses.add<Posteriors>(request);
  analyses.add<CredibleIntervals>(level);
  PiecePlan plan;
  plan.windows.assign(analyses.size(), plan_in_windows(engine, sample.length, chunks));
  plan.threads = threads;
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  return analyse_piece(engine, source, {}, analyses, plan, {"s", {}, sample.length},
                       [](const PieceResult&, const PosteriorBlock&) {}, {});
}

double tolerance_of(const Engine& engine) {
  if (engine.precision() == Precision::kFloat) return 1e-5;
  return 1e-9;
}

}  // namespace

TEST_CASE("intervals of boundaries are those of all segmentations") {
  std::uint64_t seed = 4400;
  IntervalCounts all;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape :
         {CaseShape{6, 3, 2}, {7, 1, 2}, {7, 2, 2}, {5, 2, 3}, {3, 7, 3}, {8, 2, 1}}) {
      const ModelCase sample = make_case(kind, shape, ++seed);
      const std::vector<PathProbability> paths = all_paths(sample);
      if (paths.empty()) continue;
      const double resolution = resolution_of(sample, enumerate_segmentations(sample).best_path);
      for (const EngineOptions& options : engines_to_test()) {
        const auto engine = make_engine(options, sample.model);
        INFO(engine->description());
        for (const double level : {0.3, 0.6, 0.9}) {
          const PieceResult result = analyse(*engine, sample, level, 0, 2);
          const IntervalCounts counts =
              check_intervals(sample, paths, segments_of(result.path()), level,
                              result.get<BoundaryIntervals>(), tolerance_of(*engine) + resolution);
          all.checked += counts.checked;
          all.none += counts.none;
          all.wide += counts.wide;
          all.repeated += counts.repeated;
        }
      }
    }
  CHECK(all.checked > 1500);
  CHECK(all.none > 100);
  CHECK(all.wide > 100);
  CHECK(all.repeated > 20);
}

TEST_CASE("intervals of boundaries are the same in any windows, with any threads") {
  std::uint64_t seed = 4800;
  int wide = 0;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kForbiddenPositions, CaseKind::kBoundaryScores}) {
    const ModelCase sample = make_case(kind, {6000, 9, 3}, ++seed);
    INFO(sample.description);
    std::optional<std::vector<std::optional<BoundaryInterval>>> expected;
    for (const EngineOptions& options : engines_to_test()) {
      if (options.precision == Precision::kFloat) continue;
      const auto engine = make_engine(options, sample.model);
      for (const std::int64_t chunks : {0, 1, 3}) {
        const PieceResult result = analyse(*engine, sample, 0.9, chunks, 1 + static_cast<int>(chunks));
        if (!result.feasible) continue;
        std::vector<std::optional<BoundaryInterval>> found;
        BoundaryIntervals::Reader reader(result.get<BoundaryIntervals>());
        for (std::int64_t i = 0; i < result.path().size(); ++i) found.push_back(reader.next());
        if (!expected) expected = found;
        REQUIRE(found.size() == expected->size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          REQUIRE(found[i].has_value() == (*expected)[i].has_value());
          if (!found[i]) continue;
          CHECK((found[i]->lower == (*expected)[i]->lower && found[i]->upper == (*expected)[i]->upper));
          wide += found[i]->lower < found[i]->upper ? 1 : 0;
        }
      }
    }
  }
  CHECK(wide > 1000);
}
