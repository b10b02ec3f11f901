// P(exactly this segment): against the enumeration, and over windows.
#include "analyses/draws/segment_shares.h"

#include <cmath>
#include <map>
#include <tuple>

#include "analyses/viterbi/viterbi_decoder.h"
#include "engine/options.h"
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

SegmentList list_of(const std::vector<Segment>& path) {
  SegmentList list;
  const std::vector<Segment> reversed(path.rbegin(), path.rend());
  list.append_reversed(reversed);
  return list;
}

std::vector<double> shares(Engine& engine, const ModelCase& sample, std::int64_t chunks,
                           const SegmentList& path) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  const SegmentShares result =
      segment_shares(engine, source, plan_in_windows(engine, sample.length, chunks), {}, path);
  std::vector<double> values;
  SpooledNumbers::Reader reader(result.logs);
  for (double value = 0; reader.next(value);) values.push_back(value);
  CHECK(result.logs.size() == path.size());
  return values;
}

double tolerance_of(const Engine& engine) { return engine.precision() == Precision::kFloat ? 1e-5 : 1e-10; }

void check_against_enumeration(const ModelCase& sample) {
  INFO(sample.description);
  const Enumeration marginals = enumerate_segmentations(sample);
  const std::vector<PathProbability> paths = all_paths(sample);
  const double resolution = resolution_of(sample, marginals.best_path);
  std::map<std::tuple<std::int64_t, std::int64_t, int>, double> exact;
  for (const PathProbability& one : paths)
    for (const Segment& segment : one.path)
      exact[{segment.begin, segment.end, segment.label}] += one.probability;
  for (const EngineOptions& options : engines_to_test()) {
    const auto engine = make_engine(options, sample.model);
    INFO(engine->description());
    for (std::size_t i = 0; i < paths.size(); i += 1 + paths.size() / 20) {
      const std::vector<double> found = shares(*engine, sample, 0, list_of(paths[i].path));
      for (std::size_t n = 0; n < found.size(); ++n) {
        const Segment& segment = paths[i].path[n];
        const auto end =
            static_cast<std::size_t>((segment.end - 1) * sample.model.num_labels + segment.label);
        const double expected = exact[{segment.begin, segment.end, segment.label}];
        REQUIRE(found[n] <= 0);
        REQUIRE(std::fabs(marginals.ends[end] * std::exp(found[n]) - expected) <
                tolerance_of(*engine) + resolution);
      }
    }
  }
}

}  // namespace

TEST_CASE("exact segments equal the enumeration of all segmentations") {
  std::uint64_t seed = 300;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape : {CaseShape{5, 3, 2}, {5, 1, 2}, {6, 2, 2}, {1, 2, 3}, {3, 7, 3}})
      check_against_enumeration(make_case(kind, shape, ++seed));
}

TEST_CASE("shares do not depend on the windows and are the reference's") {
  std::uint64_t seed = 40;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kBoundaryScores, CaseKind::kMasks, CaseKind::kPeriodicLate}) {
    const ModelCase sample = make_case(kind, {of_long_test(40'000), 7, 3}, ++seed);
    INFO(sample.description);
    std::vector<double> expected;
    SegmentList path;
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      if (expected.empty()) {
        MemoryScoreSource source(sample.whole(), sample.model.num_labels);
        path = decode_viterbi(*engine, source, plan_in_windows(*engine, sample.length, 0)).segments;
        expected = shares(*engine, sample, 0, path);
        continue;
      }
      const std::vector<double> whole = shares(*engine, sample, 0, path);
      REQUIRE(whole.size() == expected.size());
      double worst = 0;
      for (std::size_t n = 0; n < whole.size(); ++n)
        worst = std::max(worst, std::fabs(std::exp(whole[n]) - std::exp(expected[n])));
      CHECK(worst < (engine->precision() == Precision::kFloat ? 1e-4 : 1e-9));
      for (const std::int64_t chunks : {1, 3}) CHECK(shares(*engine, sample, chunks, path) == whole);
    }
  }
}
