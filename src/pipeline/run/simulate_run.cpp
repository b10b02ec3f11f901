// The command simulate from options to finished files.
#include <algorithm>
#include <string>
#include <string_view>

#include "core/error.h"
#include "pipeline/run/prepared_run.h"
#include "pipeline/run/run.h"

namespace semicrf {
namespace {

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

Analysis simulate_analysis(const SimulateOptions& options) {
  Analysis analysis;
  analysis.draws = options.draws;
  analysis.seed = options.seed;
  return analysis;
}

void plan_generated(const SimulateOptions& options, const PreparedRun& run, OutputPlan& plan) {
  if (options.emissions.empty()) return;
  const auto& sequences = run.inputs().sequences();
  if (!ends_with(options.emissions, ".npy")) {
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      std::string name = sequences[i].title;
      std::replace(name.begin(), name.end(), '/', '_');  // which cannot be in a file's name
      plan.generated.push_back({{options.emissions + "." + name + ".npy", IndexKind::kNone}, i});
    }
    return;
  }
  if (sequences.size() != 1)
    throw UsageError(
        "--emissions with an .npy file needs exactly one sequence, not " + std::to_string(sequences.size()),
        "give a prefix to write one file per sequence, PREFIX.NAME.npy");
  plan.generated.push_back({{options.emissions, IndexKind::kNone}, 0});
}

OutputPlan simulate_outputs(const SimulateOptions& options, const PreparedRun& run) {
  OutputPlan plan;
  HeaderOptions header = {{"seed", std::to_string(options.seed)}};
  for (const GeneratedSequence& generated : options.run.input.generated)
    header.push_back({"length", generated.name + ":" + std::to_string(generated.bins)});
  for (int number = 1; number <= options.draws; ++number) {
    HeaderOptions own = header;
    if (options.draws > 1) own.push_back({"draw", std::to_string(number)});
    const std::string path = options.draws > 1 ? draw_path(options.output, number) : options.output;
    plan.draws.push_back({run.output(path), run.header("simulate", own)});
  }
  plan_generated(options, run, plan);
  run.check(plan);
  return plan;
}

void check_options(const SimulateOptions& options) {
  const InputOptions& input = options.run.input;
  if (input.generated.empty() == input.inputs.empty())
    throw UsageError("give either inputs or --length", "see semicrf simulate --help");
  if (!input.generated.empty()) {
    if (!input.start_scores.empty() || !input.end_scores.empty())
      throw UsageError("--start-scores and --end-scores go with inputs, not with --length");
    if (!input.chrom_sizes_file.empty())
      throw UsageError("--chrom-sizes goes with inputs; with --length the lengths are known");
  } else if (!options.emissions.empty()) {
    throw UsageError("--emissions writes what --length generates; with inputs there is nothing to write");
  }
  if (options.draws > 1 && options.output == "-")
    throw UsageError("several draws cannot go to standard output: each is a file",
                     "give --output, for example out.bed");
}

}  // namespace

std::string draw_path(const std::string& path, int number) {
  for (const std::string_view ending : {".bed.gz", ".bed", ".gz"})
    if (ends_with(path, ending))
      return path.substr(0, path.size() - ending.size()) + "." + std::to_string(number) + std::string(ending);
  return path + "." + std::to_string(number);
}

void run_simulate(const SimulateOptions& options, Progress* progress) {
  check_options(options);
  PreparedRun run(options.run, simulate_analysis(options));
  run.execute(simulate_outputs(options, run), progress);
}

std::string plan_simulate(const SimulateOptions& options) {
  check_options(options);
  const PreparedRun run(options.run, simulate_analysis(options));
  return run.describe(simulate_outputs(options, run));
}

}  // namespace semicrf
