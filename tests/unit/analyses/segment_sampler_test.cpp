// Draws of the segmentation: their frequencies are those of the enumeration, their likelihoods those of the
// path, and windows and threads change none.
#include "analyses/draws/segment_sampler.h"

#include <cmath>
#include <map>
#include <numeric>

#include "core/error.h"
#include "engine/options.h"
#include "inputs/rows/random_stream.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/windowed.h"
#include "support/slow_build.h"
#include "support/truth/all_paths.h"
#include "support/truth/enumerate.h"
#include "support/truth/rescore.h"
#include "support/truth/segments_of.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

DrawResult draw(Engine& engine, const ModelCase& sample, std::int64_t chunks, DrawRequest request) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  return draw_segmentations(engine, source, plan_in_windows(engine, sample.length, chunks), {}, request);
}

// How often each path of `expected` was drawn; draws that are none of them fail.
std::vector<double> counts_of(const std::vector<PathProbability>& expected, const DrawResult& result) {
  std::map<std::vector<std::int64_t>, std::size_t> index;
  const auto key_of = [](const std::vector<Segment>& path) {
    std::vector<std::int64_t> key;
    for (const Segment& segment : path) key.insert(key.end(), {segment.end, segment.label});
    return key;
  };
  for (std::size_t i = 0; i < expected.size(); ++i) index[key_of(expected[i].path)] = i;
  std::vector<double> counts(expected.size());
  for (const Draw& one : result.draws) {
    const std::vector<Segment> path = segments_of(one.segments);
    REQUIRE(!path.empty());
    REQUIRE(path.front().begin == 0);
    const auto found = index.find(key_of(path));
    REQUIRE(found != index.end());
    ++counts[found->second];
    REQUIRE(std::fabs(one.log_likelihood - std::log(expected[found->second].probability)) < 1e-4);
  }
  return counts;
}

// Standard deviations by which Pearson's chi-square exceeds its mean; rare cells are taken together.
double excess(const std::vector<PathProbability>& expected, const std::vector<double>& counts) {
  const double draws = std::accumulate(counts.begin(), counts.end(), 0.0);
  double statistic = 0;
  double rare_expected = 0;
  double rare_count = 0;
  int cells = 0;
  const auto add = [&](double count, double mean) {
    statistic += (count - mean) * (count - mean) / mean;
    ++cells;
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double mean = draws * expected[i].probability;
    if (mean >= 5) {
      add(counts[i], mean);
    } else {
      rare_expected += mean;
      rare_count += counts[i];
    }
  }
  if (rare_expected >= 1) add(rare_count, rare_expected);
  if (cells < 2) return 0;
  return (statistic - (cells - 1)) / std::sqrt(2.0 * (cells - 1));
}

}  // namespace

TEST_CASE("draws come as often as their probabilities say") {
  constexpr int kDraws = kSlowBuild ? 1000 : 2000;
  std::uint64_t seed = 0;
  for (const CaseKind kind : all_case_kinds()) {
    for (const CaseShape shape :
         {CaseShape{4, 2, 2}, {5, 1, 2}, {5, 3, 2}, {1, 2, 3}, {3, 7, 3}, {7, 2, 1}}) {
      const ModelCase sample = make_case(kind, shape, ++seed);
      INFO(sample.description);
      const std::vector<PathProbability> expected = all_paths(sample);
      for (const EngineOptions& options : engines_to_test()) {
        const auto engine = make_engine(options, sample.model);
        INFO(engine->description());
        const DrawResult result = draw(*engine, sample, 0, {kDraws, sequence_key(seed, "test"), 0});
        REQUIRE(result.feasible == !expected.empty());
        if (!result.feasible) continue;
        CHECK(excess(expected, counts_of(expected, result)) < 5);
      }
    }
  }
}

TEST_CASE("the test of frequencies sees wrong ones") {
  const ModelCase sample = make_case(CaseKind::kPlain, {4, 2, 2}, 1);
  std::vector<PathProbability> expected = all_paths(sample);
  const auto engine = make_engine(engines_to_test().front(), sample.model);
  const std::vector<double> counts = counts_of(expected, draw(*engine, sample, 0, {20'000, 7, 0}));
  CHECK(excess(expected, counts) < 5);
  double sum = 0;
  for (PathProbability& one : expected) sum += one.probability *= one.path.size() > 2 ? 1.25 : 1.0;
  for (PathProbability& one : expected) one.probability /= sum;
  CHECK(excess(expected, counts) > 5);
}

TEST_CASE("long draws: the likelihood is that of the path, windows and threads change nothing") {
  std::uint64_t seed = 70;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kBoundaryScores, CaseKind::kMasks, CaseKind::kSteps,
                              CaseKind::kPeriodicLate, CaseKind::kSinglePath, CaseKind::kInfeasible}) {
    const ModelCase sample = make_case(kind, {of_long_test(40'000), 7, 3}, ++seed);
    INFO(sample.description);
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      const DrawResult whole = draw(*engine, sample, 0, {2, seed, 0});
      REQUIRE(whole.feasible == (kind != CaseKind::kInfeasible));
      if (!whole.feasible) continue;
      EngineOptions other = options;
      other.threads = 3;
      const auto again = make_engine(other, sample.model);
      for (std::size_t d = 0; d < 2; ++d) {
        const std::vector<Segment> path = segments_of(whole.draws[d].segments);
        REQUIRE(tiles(path, sample.length, sample.model.num_labels));
        const double expected = rescore(sample, path, InitialSources::kAll) - whole.log_partition;
        const double scale = std::max(1e4, std::fabs(whole.log_partition));
        CHECK(whole.draws[d].log_likelihood == Approx(expected).margin(1e-6 * scale));
      }
      for (const std::int64_t chunks : {1, 3}) {
        const DrawResult windows = draw(*again, sample, chunks, {2, seed, 0});
        for (std::size_t d = 0; d < 2; ++d) {
          CHECK(segments_of(windows.draws[d].segments) == segments_of(whole.draws[d].segments));
          CHECK(windows.draws[d].log_likelihood == whole.draws[d].log_likelihood);
        }
      }
    }
  }
}

TEST_CASE("draws of different number, key or place differ; equal ones are equal") {
  const ModelCase sample = make_case(CaseKind::kPlain, {300, 5, 3}, 5);
  const auto engine = make_engine(engines_to_test().front(), sample.model);
  const auto path = [&](DrawRequest request, std::size_t d) {
    return segments_of(draw(*engine, sample, 0, request).draws[d].segments);
  };
  CHECK(path({3, 9, 0}, 1) == path({2, 9, 0}, 1));
  CHECK(path({3, 9, 0}, 0) != path({3, 9, 0}, 1));
  CHECK(path({1, 9, 0}, 0) != path({1, 10, 0}, 0));
  CHECK(path({1, 9, 0}, 0) != path({1, 9, 1000}, 0));
}
