// Scores and likelihoods of given segmentations, from the scores of a path up to whole evaluations of files.
#include "eval/eval_rescore.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/error.h"
#include "eval/eval_run.h"
#include "io/json/eval_json.h"
#include "support/catch.h"
#include "support/files/npy_fixture.h"
#include "support/models/random_models.h"
#include "support/temp_folder.h"
#include "support/truth/rescore.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

// The runs' notes would only be noise here.
[[maybe_unused]] const bool kSilent = (spdlog::set_level(spdlog::level::off), true);

std::vector<Segment> random_path(std::mt19937& random, std::int64_t length, int longest, int labels) {
  std::vector<Segment> path;
  for (std::int64_t at = 0; at < length;) {
    const std::int64_t end =
        std::min(length, at + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(longest)));
    path.push_back({at, end, static_cast<int>(random() % static_cast<unsigned>(labels))});
    at = end;
  }
  return path;
}

// Bins of 10 bases, 6 rows of label scores, both initial terms, K = 3 with a tail on one label.
constexpr std::int64_t kBin = 10, kBins = 6;
std::string parameters(const std::string& initial, const std::string& centering) {
  return R"({"format": "semicrf-params", "format_version": "1.0", "labels": ["a", "b"], "max_duration": 3,
    "bin_size": 10, "initial": ")" +
         initial + R"(", "centering": ")" + centering + R"(",
    "transition": [[-0.5, 0.25], [0.75, "-inf"]], "start": [0.5, -1], "end": [0, 0.3],
    "duration": {"kind": "table", "bias": [[0, -0.5], [0.3, 0.1], [-1, 0.2]], "tail": [0.4, null]}})";
}

std::string scores(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(2 * kBins);
  for (double& value : values) value = static_cast<double>(random() % 64) / 16 - 2;
  const ByteVector bytes = npy_array(values, kBins, 2);
  return {bytes.begin(), bytes.end()};
}

std::string bed(const std::vector<Segment>& path) {
  std::string text;
  for (const Segment& segment : path)
    text += "x\t" + std::to_string(segment.begin * kBin) + "\t" + std::to_string(segment.end * kBin) + "\t" +
            (segment.label == 0   ? "a"
             : segment.label == 1 ? "b"
                                  : "c") +
            "\n";
  return text;
}

EvalOptions options_with(const TempFolder& folder, const std::string& truth, const std::string& predicted) {
  EvalOptions options;
  options.truth = folder.add("truth.bed", truth);
  options.predicted = folder.add("pred.bed", predicted);
  options.input.parameters = folder / "p.json";
  options.input.inputs = {folder / "x.npy"};
  options.engine.backend = EngineOptions::Backend::kReference;
  options.engine.precision = Precision::kDouble;
  options.version = "test";
  return options;
}

// All segmentations of the bins.
void for_each_path(std::vector<Segment>& path, const std::function<void()>& visit) {
  const std::int64_t at = path.empty() ? 0 : path.back().end;
  if (at == kBins) return visit();
  for (std::int64_t end = at + 1; end <= kBins; ++end)
    for (const int label : {0, 1}) {
      path.push_back({at, end, label});
      for_each_path(path, visit);
      path.pop_back();
    }
}

std::string problem(const EvalOptions& options) {
  try {
    evaluate(options, nullptr);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const RescoredPath& predicted_of(const EvalReport& report) { return report.model->total.predicted; }

}  // namespace

TEST_CASE("the score of a path is that of the definition, for every kind of model") {
  for (const auto kind : testing::all_case_kinds()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const testing::ModelCase sample = testing::make_case(kind, {40, 5, 3}, seed);
      std::mt19937 random(static_cast<unsigned>(seed));
      const auto path =
          random_path(random, sample.length, sample.model.max_duration, sample.model.num_labels);
      MemoryScoreSource source(sample.whole(), sample.model.num_labels);
      const auto found = score_path(sample.model, source, path);
      const double best = testing::rescore(sample, path, testing::InitialSources::kBest);
      const double all = testing::rescore(sample, path, testing::InitialSources::kAll);
      INFO(sample.description << ", score " << best);
      REQUIRE(found.has_value() == std::isfinite(best));
      if (!found) continue;
      const double scale = 1e-9 + 1e-13 * std::fabs(best);
      CHECK(std::fabs(found->viterbi_score - best) <= scale);
      CHECK(std::fabs(found->log_weight - all) <= scale);
    }
  }
}

TEST_CASE("a path over several slabs, segments across their edges") {
  for (const auto kind : {testing::CaseKind::kPlain, testing::CaseKind::kSteepDurations})
    for (const std::int64_t length : {65'535, 65'536, 65'537, 140'000}) {
      testing::ModelCase sample = testing::make_case(kind, {length, 5, 3}, 11);
      std::mt19937 random(3);
      for (testing::ScoreTable* scores : {&sample.start_scores, &sample.end_scores}) {
        *scores = {};
        for (std::int64_t i = 0; i < 3 * length; ++i)
          scores->f64.push_back(static_cast<double>(random() % 100) / 8);
      }
      const auto path = random_path(random, length, 5, 3);
      MemoryScoreSource source(sample.whole(), 3);
      const auto found = score_path(sample.model, source, path);
      INFO(sample.description);
      REQUIRE(found);
      CHECK(found->viterbi_score == Approx(testing::rescore(sample, path)).epsilon(1e-13));
    }
}

TEST_CASE("the probabilities of all segmentations of a file add up to 1") {
  const TempFolder folder;
  unsigned seed = 1;
  for (const std::string initial : {"uniform", "none"})
    for (const std::string centering : {"none", "mean", "position-max", "mean-preserving"}) {
      // Initial scores and centring are added one by one.
      if (initial == "none" && centering != "none") continue;
      folder.add("p.json", parameters(initial, centering));
      folder.add("x.npy", scores(++seed));
      double sum = 0, best = -1e300;
      int possible = 0;
      std::vector<Segment> path;
      for_each_path(path, [&] {
        const EvalReport report = evaluate(options_with(folder, bed({{0, kBins, 0}}), bed(path)), nullptr);
        const RescoredPath& found = predicted_of(report);
        if (!found.score) return;
        ++possible;
        sum += std::exp(*report.model->total.log_likelihood(found));
        best = std::max(best, found.score->viterbi_score);
      });
      INFO(initial << ", " << centering << ", seed " << seed << ", " << possible << " possible");
      CHECK(sum == Approx(1).epsilon(1e-12));
      CHECK(possible > 50);
      CHECK(best > -1e300);
    }
}

TEST_CASE("what the model cannot give is impossible, with the reason and the place") {
  const TempFolder folder;
  folder.add("p.json", parameters("uniform", "none"));
  folder.add("x.npy", scores(5));
  const std::string truth = bed({{0, 2, 1}, {2, 6, 0}});
  const auto reason = [&](const std::string& predicted) {
    const EvalReport report = evaluate(options_with(folder, truth, predicted), nullptr);
    CHECK(report.model->total.truth.score);
    CHECK_FALSE(predicted_of(report).score);
    CHECK_FALSE(report.model->total.log_likelihood(predicted_of(report)));
    CHECK(eval_json_text(report).find("\"log_likelihood\": null") != std::string::npos);
    return predicted_of(report).impossible;
  };
  CHECK(reason(bed({{0, 4, 1}, {4, 6, 0}})) ==
        "a segment of \"b\" cannot have 4 bins, x:1-40 (max_duration is 3)");
  CHECK(reason(bed({{0, 3, 0}, {3, 5, 1}, {5, 6, 1}})) == "\"b\" cannot follow \"b\", x:51-60");
  CHECK(reason(bed({{0, 3, 0}, {3, 6, 2}})) == "the model has no label \"c\", x:31-60");
  CHECK(reason(bed({{1, 6, 0}})) == "no segment at x:1-10");
  CHECK(reason(bed({{0, 2, 0}, {3, 6, 0}})) == "no segment at x:21-30");
  CHECK(reason(bed({{0, 5, 0}})) == "no segment at x:51-60");
}

TEST_CASE("segments off the bins are moved to them and counted") {
  const TempFolder folder;
  folder.add("p.json", parameters("none", "none"));
  folder.add("x.npy", scores(6));
  const std::string aligned = bed({{0, 2, 1}, {2, 6, 0}});
  const EvalReport report = evaluate(
      options_with(folder, aligned, "x\t0\t18\tb\nx\t18\t32\ta\nx\t32\t34\tb\nx\t34\t60\ta\n"), nullptr);
  const RescoredPath& moved = predicted_of(report);
  CHECK(moved.segments ==
        3);  // [18,32) becomes [20,30), [34,60) becomes [30,60), the b between them vanishes
  CHECK(moved.moved == 4);
  CHECK(moved.lost == 1);
  CHECK(report.model->total.truth.moved == 0);
  const EvalReport other =
      evaluate(options_with(folder, aligned, bed({{0, 2, 1}, {2, 3, 0}, {3, 6, 0}})), nullptr);
  CHECK(moved.score->log_weight == predicted_of(other).score->log_weight);
}

TEST_CASE("pieces are those of the regions, cut to what the truth labels") {
  const TempFolder folder;
  folder.add("p.json", parameters("uniform", "none"));
  folder.add("x.npy", scores(7));
  const std::string whole = bed({{0, 2, 1}, {2, 4, 0}, {4, 6, 0}});
  EvalOptions options = options_with(folder, whole, whole);
  options.input.regions = {"x:1-20", "x:21-60"};
  const EvalReport parts = evaluate(options, nullptr);
  CHECK(parts.model->total.pieces == 2);
  CHECK(parts.evaluation->stretches == 2);
  CHECK(parts.model->total.positions == 6);
  // The same as a truth with a hole where the prediction has a segment that is cut away.
  const EvalReport cut = evaluate(options_with(folder, bed({{0, 2, 1}, {4, 6, 0}}), whole), nullptr);
  CHECK(cut.model->total.pieces == 2);
  CHECK(cut.model->total.positions == 4);
  CHECK(cut.model->total.predicted.score->log_weight == cut.model->total.truth.score->log_weight);
  options = options_with(folder, "y\t0\t60\ta\n", "y\t0\t60\ta\n");
  CHECK_THROWS_AS(evaluate(options, nullptr), InputError);
}

TEST_CASE("chromosomes: common ones, missing ones, none") {
  const TempFolder folder;
  EvalOptions options = options_with(folder, "x\t0\t60\ta\ny\t0\t40\tb\n", "x\t0\t60\ta\nz\t0\t9\ta\n");
  options.input.parameters.clear();
  options.input.inputs.clear();
  EvalReport report = evaluate(options, nullptr);
  CHECK(report.evaluation->bases == 100);
  CHECK(report.evaluation->missing() == 40);
  CHECK(report.missing_places == "y");
  CHECK(report.hint == "-r x evaluates only what is predicted");
  REQUIRE(report.chromosomes.size() == 2);
  CHECK(report.chromosomes[0].missing == 0);
  CHECK(report.chromosomes[1].missing == 40);
  REQUIRE(report.warnings.size() == 2);
  CHECK(report.warnings[0].code == "not-in-truth");
  CHECK(report.warnings[1].code == "not-predicted");
  options.input.regions = {"y:1-10"};  // asked for by name
  report = evaluate(options, nullptr);
  CHECK(report.evaluation->bases == 10);
  CHECK(report.evaluation->missing() == 10);
  options.input.regions = {"z"};
  CHECK(contains(problem(options), "has no segment in the evaluated regions"));
  options.input.regions.clear();
  write_file(options.predicted, "chrx\t0\t60\ta\n");
  CHECK(contains(problem(options), "it has chrx, the truth has x, y"));
  write_file(options.predicted, "# nothing\n");
  CHECK(contains(problem(options), "has no segment"));
  options.input.all_chromosomes = true;
  CHECK(evaluate(options, nullptr).evaluation->missing() == 100);
}
