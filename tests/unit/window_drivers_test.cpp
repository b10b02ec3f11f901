// The window drivers over every engine: one window, many windows and the reference say the same.
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/score_source.h"
#include "pipeline/posterior_sweep.h"
#include "pipeline/viterbi_decoder.h"
#include "support/catch.h"
#include "support/random_models.h"
#include "support/rescore.h"
#include "support/windowed.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

struct Decoded {
  bool feasible = false;
  double score = 0;
  std::vector<Segment> path;
};

Decoded decode(Engine& engine, const ModelCase& sample, std::int64_t chunks) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  const ViterbiResult result = decode_viterbi(engine, source, plan_in_windows(engine, sample.length, chunks));
  Decoded decoded{result.feasible, result.score, {}};
  SegmentList::Reader reader(result.segments);
  for (Segment segment; reader.next(segment);) decoded.path.push_back(segment);
  return decoded;
}

struct Swept {
  PosteriorResult result;
  std::vector<double> boundary, labels, path_label;
};

Swept sweep(Engine& engine, const ModelCase& sample, std::int64_t chunks, const SegmentList* path) {
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  PosteriorSelection selection;
  selection.labels = true;
  selection.path = path;
  Swept swept;
  std::int64_t next = 0;
  swept.result = sweep_posteriors(
      engine, source, plan_in_windows(engine, sample.length, chunks), selection,
      [&](const PosteriorBlock& block) {
        REQUIRE(block.range.begin == next);
        next = block.range.end;
        swept.boundary.insert(swept.boundary.end(), block.boundary.begin(), block.boundary.end());
        swept.labels.insert(swept.labels.end(), block.labels.begin(), block.labels.end());
        swept.path_label.insert(swept.path_label.end(), block.path_label.begin(), block.path_label.end());
      });
  CHECK(next == (swept.result.feasible ? sample.length : 0));
  return swept;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

std::vector<ModelCase> cases() {
  const CaseShape shape{40'000, 7, 3};
  std::vector<ModelCase> samples;
  std::uint64_t seed = 20;
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
        CaseKind::kBoundaryScores, CaseKind::kDyadic, CaseKind::kPeriodic, CaseKind::kPeriodicLate,
        CaseKind::kPeriodicEndScores, CaseKind::kSinglePath, CaseKind::kInfeasible})
    samples.push_back(make_case(kind, shape, ++seed));
  samples.push_back(make_case(CaseKind::kEverything, {1, 3, 2}, ++seed));
  return samples;
}

EngineOptions reference_options() { return engines_to_test().front(); }

}  // namespace

TEST_CASE("paths do not depend on the windows and have the reference's score") {
  for (const ModelCase& sample : cases()) {
    INFO(sample.description);
    const Decoded expected = decode(*make_engine(reference_options(), sample.model), sample, 0);
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      const Decoded whole = decode(*engine, sample, 0);
      REQUIRE(whole.feasible == expected.feasible);
      if (!whole.feasible) continue;
      REQUIRE(tiles(whole.path, sample.length, sample.model.num_labels));
      CHECK(whole.score == Approx(rescore(sample, whole.path)).epsilon(1e-12));
      CHECK(whole.score == Approx(expected.score).epsilon(1e-9).margin(1e-3));
      if (sample.exact_sums) CHECK(whole.path == expected.path);
      for (const std::int64_t chunks : {1, 3}) {
        const Decoded windows = decode(*engine, sample, chunks);
        CHECK(windows.score == whole.score);
        CHECK(windows.path == whole.path);
      }
    }
  }
}

TEST_CASE("posteriors do not depend on the windows and are the reference's") {
  for (const ModelCase& sample : cases()) {
    INFO(sample.description);
    const Swept expected = sweep(*make_engine(reference_options(), sample.model), sample, 0, nullptr);
    for (const EngineOptions& options : engines_to_test()) {
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description());
      const Swept whole = sweep(*engine, sample, 0, nullptr);
      REQUIRE(whole.result.feasible == expected.result.feasible);
      if (!whole.result.feasible) continue;
      const double tolerance =
          engine->precision() == Precision::kFloat ? 1e-4 : 1e-9;  // tests/parity is strict
      CHECK(whole.result.log_partition == Approx(expected.result.log_partition).epsilon(tolerance));
      CHECK(largest_difference(whole.boundary, expected.boundary) < tolerance);
      CHECK(largest_difference(whole.labels, expected.labels) < tolerance);
      for (const std::int64_t chunks : {1, 3}) {
        const Swept windows = sweep(*engine, sample, chunks, nullptr);
        CHECK(windows.result.log_partition == whole.result.log_partition);
        CHECK(windows.result.boundary_plogp == whole.result.boundary_plogp);
        CHECK(windows.result.label_entropy == whole.result.label_entropy);
        CHECK(windows.result.max_normalization_error == whole.result.max_normalization_error);
        CHECK(windows.result.repaired_chunks == whole.result.repaired_chunks);
        CHECK(windows.boundary == whole.boundary);
        CHECK(windows.labels == whole.labels);
      }
    }
  }
}

TEST_CASE("a phase that only the sequence's end fixes is proven from there") {
  const ModelCase sample = make_case(CaseKind::kPeriodicLate, {40'000, 7, 3}, 5);
  for (const EngineOptions& options : engines_to_test()) {
    if (options.backend == EngineOptions::Backend::kReference) continue;
    const auto engine = make_engine(options, sample.model);
    CHECK(sweep(*engine, sample, 1, nullptr).result.repaired_chunks > 0);
  }
}

TEST_CASE("values along a path are those of its labels") {
  const ModelCase sample = make_case(CaseKind::kPlain, {30'000, 5, 4}, 77);
  for (const EngineOptions& options : engines_to_test()) {
    const auto engine = make_engine(options, sample.model);
    MemoryScoreSource source(sample.whole(), sample.model.num_labels);
    const ViterbiResult path = decode_viterbi(*engine, source, plan_in_windows(*engine, sample.length, 0));
    const Swept swept = sweep(*engine, sample, 1, &path.segments);
    std::vector<double> expected;
    SegmentList::Reader reader(path.segments);
    for (Segment segment; reader.next(segment);)
      for (std::int64_t t = segment.begin; t < segment.end; ++t)
        expected.push_back(swept.labels[static_cast<std::size_t>(t * 4 + segment.label)]);
    CHECK(swept.path_label == expected);
  }
}

TEST_CASE("the entropy of certain and of uniform boundaries") {
  CHECK(boundary_entropy(1, 0) == 0);
  CHECK(boundary_entropy(8, 0) == Approx(std::log(8.0)));
  CHECK(boundary_entropy(0, 0) == 0);
}
