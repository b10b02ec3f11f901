// The command simulate from options to finished files.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "analyses/draws/segment_sampler.h"
#include "core/error.h"
#include "inputs/arguments/input_arguments.h"
#include "io/files/output_names.h"
#include "outputs/formats.h"
#include "runs/prepared_run.h"
#include "runs/run.h"

namespace semicrf {
namespace {

AnalysisList simulate_analyses(const SimulateOptions& options) {
  AnalysisList analyses;
  analyses.add<Samples>(options.draws, options.seed);
  return analyses;
}

void plan_generated(const SimulateOptions& options, const PreparedRun& run, OutputPlan& plan) {
  if (options.emissions.empty()) return;
  const auto& sequences = run.inputs().sequences();
  const bool one_file = has_ending(options.emissions, {".npy"});
  if (one_file && sequences.size() != 1)
    throw UsageError(
        fmt::format("--emissions with an .npy file needs exactly one sequence, not {}", sequences.size()),
        "give a prefix to write one file per sequence, PREFIX.NAME.npy");
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::string path =
        one_file ? options.emissions : options.emissions + "." + in_file_name(sequences[i].title) + ".npy";
    plan.push_back(generated_output({path}, run.inputs().random_rows(i)));
  }
}

OutputPlan simulate_outputs(const SimulateOptions& options, const PreparedRun& run) {
  OutputPlan plan;
  HeaderOptions named = {{"seed", fmt::to_string(options.seed)}};
  for (const GeneratedSequence& generated : options.run.input.generated)
    named.push_back({"length", fmt::format("{}:{}", generated.name, generated.bins)});
  for (int draw = 0; draw < options.draws; ++draw) {
    HeaderOptions own = named;
    if (options.draws > 1) own.push_back({"draw", fmt::to_string(draw + 1)});
    const std::string path = options.draws > 1 ? numbered_path(options.output, draw + 1) : options.output;
    SegmentOutput output;
    output.file = run.output(path);
    output.header = run.header("simulate", own);
    output.labels = run.parameters().labels;
    output.draw = draw;
    output.chromosomes = run.inputs().chromosomes();
    output.bin_size = run.inputs().bin_size();
    plan.push_back(segment_output(output));
  }
  plan_generated(options, run, plan);
  return plan;
}

void check_options(const SimulateOptions& options) {
  const InputOptions& input = options.run.input;
  if (input.generated.empty() == !has_inputs(input))
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

RunCommand simulate_command(const SimulateOptions& options) {
  check_options(options);
  return {options.run, simulate_analyses(options),
          [&options](const PreparedRun& run) { return simulate_outputs(options, run); }};
}

}  // namespace

std::string numbered_path(const std::string& path, int number) {
  for (const std::string_view ending : {".bed.gz", ".bed.bgz", ".bed", ".gz", ".bgz", ".bb", ".bigbed"}) {
    if (!has_ending(path, {ending})) continue;
    const std::size_t stem = path.size() - ending.size();
    return fmt::format("{}.{}{}", path.substr(0, stem), number, path.substr(stem));
  }
  return fmt::format("{}.{}", path, number);
}

void run_simulate(const SimulateOptions& options, Progress* progress) {
  execute(simulate_command(options), progress);
}
std::string plan_simulate(const SimulateOptions& options) { return describe(simulate_command(options)); }

}  // namespace semicrf
