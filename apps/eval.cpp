// semicrf eval: how good a segmentation is.
#include <memory>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/logging.h"
#include "apps/progress_display.h"
#include "core/error.h"
#include "io/memory_size.h"
#include "pipeline/eval/eval_run.h"

namespace semicrf {
namespace {

struct EvalArguments {
  EvalOptions options;
  EngineArguments engine;
  std::string output;  // empty: not given
  std::string max_memory;
  std::string progress = "auto";
  bool quiet = false;
};

void add_region_options(CLI::App& command, InputOptions& input) {
  command.add_option("-r,--region", input.regions, "chr:beg-end, 1-based inclusive; may be repeated")
      ->allow_extra_args(false);
  command.add_option("-L,--regions-file", input.regions_file, "BED file of regions");
  command.add_option("--exclude", input.exclude_file, "BED file of regions to leave out");
  command.add_option("-g,--chrom-sizes", input.chrom_sizes_file,
                     "two columns or .fai: chromosomes and their lengths, which no segment may exceed");
  command.add_flag("--all-chromosomes", input.all_chromosomes,
                   "also chromosomes on which nothing is predicted: their bases are missing");
}

void add_model_options(CLI::App& command, EvalArguments& arguments) {
  const std::string group = "Re-scoring";
  InputOptions& input = arguments.options.input;
  command
      .add_option("-p,--params", input.parameters,
                  "parameter file (JSON, format 1): also score both under it")
      ->group(group);
  command
      .add_option("TRACK", input.inputs,
                  "with -p: [name=]PATH, bigWig files or NPY/NPZ arrays as decode takes them")
      ->group(group);
  for (const auto& [name, values] :
       {std::pair("--start-scores", &input.start_scores), std::pair("--end-scores", &input.end_scores)})
    command.add_option(name, *values, "[name=]PATH: boundary scores, shaped as the inputs")
        ->allow_extra_args(false)
        ->group(group);
  command.add_option("-b,--bin-size", input.bin_size, "bases per bin; must be the parameters' bin_size")
      ->group(group);
  command.add_option("--max-memory", arguments.max_memory, "limit for all memory of the program, such as 8G")
      ->group(group);
  command.add_option("--progress", arguments.progress, "auto, bar, line or off")
      ->check(CLI::IsMember({"auto", "bar", "line", "off"}))
      ->capture_default_str()
      ->group(group);
}

void eval(EvalArguments& arguments) {
  set_up_logging(arguments.quiet ? Verbosity::kQuiet : Verbosity::kNormal, "");
  EvalOptions& options = arguments.options;
  if (options.input.parameters.empty() != options.input.inputs.empty())
    throw UsageError("-p and tracks go together: the model's score needs both",
                     "give -p params.json and TRACK..., or neither");
  if (options.input.parameters.empty() &&
      (!options.input.start_scores.empty() || !options.input.end_scores.empty() || options.input.bin_size))
    throw UsageError("--start-scores, --end-scores and --bin-size are for re-scoring", "give -p as well");
  options.engine = engine_options(arguments.engine);
  options.max_memory = memory_limit(arguments.max_memory, options.engine);
  // The document alone on standard output when it is asked for there.
  options.output = arguments.output.empty() && options.json_path != "-" ? "-" : arguments.output;
  options.version = SEMICRF_VERSION;
  run_eval(options, make_progress(arguments.progress, arguments.quiet).get());
}

}  // namespace

void add_eval_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "eval",
      "How well a predicted segmentation agrees with a true one: bases, boundaries, segments, label "
      "sequence.\n\n"
      "Bases that the truth does not label are not evaluated; bases without a prediction count as missing.\n"
      "With -p and tracks also what the model says of both: score, log likelihood, entropies.\n\n"
      "Outputs:\n"
      "  -o FILE      tables, text\n"
      "  --json FILE  the same and more, JSON (docs/evaluation.md)\n");
  const auto arguments = std::make_shared<EvalArguments>();
  EvalOptions& options = arguments->options;
  command->add_option("--truth", options.truth, "the true segments: BED with a label in column 4")
      ->required();
  command->add_option("PRED", options.predicted, "the predicted segments, likewise; - for standard input")
      ->required();
  command
      ->add_option("--tolerance", options.tolerance,
                   "how far a boundary may be off to be found nearly, in bases")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_flag("--merge-adjacent", options.merge_adjacent,
                    "join touching segments of one label in both files before they are compared");
  command->add_option("-o,--output", arguments->output,
                      "tables, - for standard output (default, unless --json has it)");
  command->add_option("--json", options.json_path, "JSON document, - for standard output");
  add_region_options(*command, options.input);
  add_model_options(*command, *arguments);
  add_engine_options(*command, arguments->engine);
  command->add_flag("-q,--quiet", arguments->quiet, "only errors on standard error");
  command->footer(exit_code_help());
  command->callback([arguments] { eval(*arguments); });
}

}  // namespace semicrf
