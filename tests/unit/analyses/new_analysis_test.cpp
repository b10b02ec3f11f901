// An analysis that the product does not have, added as any is: a class, and the line of a command that adds
// it.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <string>

#include "analyses/posteriors/posteriors.h"
#include "analyses/sequence_report.h"
#include "engine/options.h"
#include "runs/prepared_run.h"
#include "support/catch.h"
#include "support/files/npy_fixture.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

[[maybe_unused]] const bool kSilent = (spdlog::set_level(spdlog::level::off), true);

constexpr const char* kParameters = R"({"format": "semicrf-params", "format_version": "1.0",
  "labels": ["a", "b"], "max_duration": 6, "bin_size": 1, "centering": "none",
  "transition": [["-inf", -1], [-1, "-inf"]],
  "duration": {"kind": "geometric", "p": [0.3, 0.2], "tail": "continue"}})";

struct Evidence {
  double log_partition = 0;  // natural logarithm
  std::int64_t sure = 0;     // bins whose boundary posterior is above a half
};

// log Z by a pass of its own, and how many boundaries are more likely than not.
class EvidenceAnalysis : public Analysis {
 public:
  std::string title() const override { return "evidence"; }
  int passes() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const override {
    return log_needs(engine, source);
  }
  void begin_posteriors(const PieceContext&, PieceResult& result) const override { result.put(Evidence{}); }
  void add_posteriors(const PosteriorBlock& block, PieceResult& result) const override {
    result.get<Evidence>().sure += std::ranges::count_if(block.boundary, [](double p) { return p > 0.5; });
  }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink&) const override {
    result.get<Evidence>().log_partition =
        log_partition(context.engine, context.source, plan, context.chain, context.progress);
  }
  void record(const PieceRecord& piece, SequenceReport& report) const override {
    accumulate(report.stats.segments, piece.result.get<Evidence>().sure);
  }
};

class EvidenceSink : public OutputSink {
 public:
  explicit EvidenceSink(OutputFile& file) : file_(file) {}
  void end_piece(const PieceResult& result) override {
    const auto& found = result.get<Evidence>();
    file_.write(std::to_string(found.log_partition) + "\t" + std::to_string(found.sure) + "\n");
  }

 private:
  OutputFile& file_;
};

RunOptions run_options(const TempFolder& folder, std::int64_t rows, int threads) {
  std::mt19937 random(7);
  std::vector<double> values(static_cast<std::size_t>(2 * rows));
  for (double& value : values) value = static_cast<double>(random() % 64) / 8;
  RunOptions options;
  options.input.parameters = folder.add("p.json", kParameters);
  const ByteVector array = npy_array(values, static_cast<std::size_t>(rows), 2);
  options.input.inputs = {
      folder.add("scores.npy", {reinterpret_cast<const char*>(array.data()), array.size()})};
  options.engine.backend = EngineOptions::Backend::kReference;
  options.engine.threads = threads;
  options.stats_path = folder / "stats.json";
  options.version = "test";
  return options;
}

RunCommand evidence_command(const TempFolder& folder, const RunOptions& options) {
  AnalysisList analyses;
  analyses.add<Posteriors>(PosteriorRequest{});
  analyses.add<EvidenceAnalysis>();
  return {options, analyses, [&](const PreparedRun& run) {
            return OutputPlan{{run.output(folder / "evidence.tsv"), "", 1,
                               [](OutputFile& file) { return std::make_unique<EvidenceSink>(file); }}};
          }};
}

}  // namespace

TEST_CASE("a new analysis is a class and the line that adds it") {
  const TempFolder folder;
  const RunOptions options = run_options(folder, 5000, 2);
  const std::string plan = describe(evidence_command(folder, options));
  CHECK(plan.find("\tposterior: ") != std::string::npos);
  CHECK(plan.find("\tevidence: ") != std::string::npos);
  execute(evidence_command(folder, options), nullptr);
  const std::string line = read_file(folder / "evidence.tsv");
  const std::string stats = read_file(folder / "stats.json");
  const auto member = [&](const std::string& name) {
    const std::size_t at = stats.find("\"" + name + "\":");
    REQUIRE(at != std::string::npos);
    return std::stod(stats.substr(at + name.size() + 3));
  };
  // The posteriors say the same of log Z.
  CHECK(std::stod(line) == Approx(member("log_partition")).margin(1e-6));
  const auto sure = std::stoll(line.substr(line.find('\t')));
  CHECK(sure > 10);
  CHECK(member("segments") == static_cast<double>(sure));
}
