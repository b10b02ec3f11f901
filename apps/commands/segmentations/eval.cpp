// semicrf eval: how good a segmentation is.
#include <memory>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/process_memory.h"
#include "eval/eval_run.h"
#include "inputs/arguments/input_arguments.h"

namespace semicrf {
namespace {

struct EvalArguments {
  EvalOptions options;
  EngineArguments engine;
  std::string output;  // empty: not given
  std::string max_memory;
  LogArguments log;
  UnitArguments unit;
};

void add_region_options(CLI::App& command, InputOptions& input) {
  add_region_options(command, input, "region to evaluate");
  command.add_option(
      "-g,--chrom-sizes", input.chrom_sizes_file,
      "chromosomes and their lengths, which no segment may exceed: two columns, or a .fai index");
  command.add_flag("--all-chromosomes", input.all_chromosomes,
                   "accept a prediction without any segment; with -p, also score chromosomes that have none");
}

void add_model_options(CLI::App& command, EvalArguments& arguments) {
  InputOptions& input = arguments.options.input;
  command.add_option("-p,--params", input.parameters,
                     "parameter file (JSON, format 1): also score both segmentations under it");
  command.add_option(
      "--against", arguments.options.against,
      "parameter file of another model Q: the cross-entropy of the model P of -p with it, and the "
      "divergence KL(P||Q), on the same TRACKs; without --truth nothing else is computed");
  command.add_option("TRACK", input.inputs,
                     "with -p: one or more [name=]PATH, tracks or arrays as decode reads them");
  add_track_options(command, input, false);
  add_missing_options(command, input);
  add_boundary_options(command, input);
  add_chromosomes_option(command, input);
  add_edges_option(
      command, input,
      "with -p: how to score the first and last segment of a piece that was cut out of something "
      "longer, complete or censored (default: as the parameters say)");
  command.add_option("-b,--bin-size", input.bin_size,
                     "bases per bin; must equal bin_size of the parameter file where that has one");
  add_memory_option(command, arguments.max_memory);
  add_progress_option(command, arguments.log);
}

void add_calibration_options(CLI::App& command, CalibrationOptions& calibration) {
  command.add_option(
      "--posterior", calibration.posterior,
      "boundary posterior, bedGraph or bigWig as posterior or decode --posterior wrote it: how often a "
      "true segment starts where it says so");
  command
      .add_option("--labels-posterior", calibration.labels,
                  "label posteriors: the NAME that posterior --labels-out was given, a prefix of bedGraph or "
                  "bigWig files or [sequence=]FILE.npy (needs -p for the names of its labels)")
      ->type_name("PREFIX|FILE");
  command.add_option("--intervals", calibration.intervals,
                     "table of decode --boundaries: how often its intervals hold the true boundary");
  command
      .add_option("--reliability-bins", calibration.bins,
                  "number of equal parts of [0, 1] in the reliability table (default: 10)")
      ->check(CLI::Range(1, 1000));
  command.add_option("--reliability-out", calibration.picture, "picture of the reliability, SVG");
}

// What can be asked for together.
void check_arguments(const EvalOptions& options) {
  const CalibrationOptions& calibration = options.calibration;
  const InputOptions& input = options.input;
  if (!options.against.empty() && (input.parameters.empty() || !has_inputs(input)))
    throw UsageError(
        "--against compares a model with that of -p on the tracks, so that -p and TRACK are required",
        "add -p FILE and TRACK");
  if (options.truth.empty() && options.against.empty())
    throw UsageError("--truth is required: the true segments");
  if (options.truth.empty() && calibration.wanted())
    throw UsageError(
        "--posterior, --labels-posterior and --intervals need the true segments, to be compared with them",
        "add --truth FILE");
  if (options.truth.empty()) return;
  if (options.predicted.empty() && !calibration.wanted())
    throw UsageError(
        "PRED is required: the predicted segments",
        "give them after --truth FILE, or posteriors with --posterior, --labels-posterior or --intervals");
  if (options.predicted.empty() && (options.match || !options.label_map.empty()))
    throw UsageError("--match and --label-map are about the labels of a prediction", "give PRED");
  const bool only_names = calibration.wanted() && !has_inputs(input);  // -p for the labels and the bin size
  if (!only_names && input.parameters.empty() == has_inputs(input))
    throw UsageError("-p and TRACK must be given together: scores under the model need both",
                     "give both, or neither");
  if (input.parameters.empty() && (!input.start_scores.empty() || !input.end_scores.empty()))
    throw UsageError("--start-scores and --end-scores need a model and tracks", "add -p FILE and TRACK");
  if (input.parameters.empty() && input.bin_size && !calibration.wanted())
    throw UsageError("--bin-size needs a model and tracks, or posteriors",
                     "add -p FILE and TRACK, or --posterior FILE");
  if (!calibration.picture.empty() && calibration.posterior.empty() && calibration.labels.empty())
    throw UsageError("--reliability-out is given, but no posterior to draw",
                     "add --posterior FILE or --labels-posterior NAME");
}

void eval(EvalArguments& arguments) {
  start_logging(arguments.log);
  apply_units(arguments.unit);
  EvalOptions& options = arguments.options;
  // Without a truth there is no prediction either.
  if (options.truth.empty() && !options.against.empty() && !options.predicted.empty()) {
    options.input.inputs.insert(options.input.inputs.begin(), options.predicted);
    options.predicted.clear();
  }
  options.truth_times = label_times(arguments.unit, options.truth);
  options.predicted_times = label_times(arguments.unit, options.predicted);
  options.predicted_times.tier_of_others = true;
  if (options.multiqc.wanted() && options.predicted.empty())
    throw UsageError("--multiqc is for a prediction and its truth", "give --truth FILE and PRED");
  options.multiqc = multiqc_target(options.multiqc, options.predicted);
  check_arguments(options);
  options.engine = engine_options(arguments.engine);
  options.input.threads = options.engine.threads;
  options.max_memory = memory_limit(arguments.max_memory, options.engine);
  // The document alone on standard output when it is asked for there.
  options.output = arguments.output.empty() && options.json_path != "-" ? "-" : arguments.output;
  options.version = SEMICRF_VERSION;
  run_eval(options, make_progress(arguments.log.progress, arguments.log.quiet).get());
}

}  // namespace

void add_eval_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "eval", "Compare a predicted segmentation with the true one.",
      "Bases, boundaries, segments and the sequence of labels are compared. Bases that the truth does not\n"
      "label are not evaluated; bases without a prediction count as missing, also on chromosomes without "
      "any.\n"
      "Accuracy is given over all bases and over those with a prediction. With -p and TRACK the score, log\n"
      "likelihood and entropies of both under the model are computed, too. --posterior, --labels-posterior "
      "and\n"
      "--intervals compare probabilities with how often they came true. --against compares two models:\n"
      "semicrf eval -p a.json --against b.json TRACK...\n\n"
      "Outputs:\n"
      "  -o FILE      tables, text\n"
      "  --json FILE  these tables and more, JSON (docs/file-details.md)\n"
      "  --reliability-out FILE.svg  how often predicted probabilities came true, a picture\n" +
          multiqc_help());
  const auto arguments = std::make_shared<EvalArguments>();
  EvalOptions& options = arguments->options;
  command->add_option(
      "--truth", options.truth,
      "the true segments: BED with a label in column 4; or, with --rate, [sequence=]PATH of a Praat"
      " TextGrid, a folder of them, or a table with the columns begin, end (seconds) and label");
  command->add_option(
      "PRED", options.predicted,
      "the predicted segments: BED with a label in column 4; - for standard input. May be left out "
      "where posteriors are given");
  command
      ->add_option("--background", options.background,
                   "label of the bases that no line of the truth covers, for lists of peaks (default: such "
                   "bases are not evaluated); and of the prediction, where that is a list of peaks, too")
      ->type_name("LABEL");
  command
      ->add_option(
          "--tolerance", options.tolerance,
          "bases by which a boundary may be off and still count as nearly right (default: 30, but one bin at "
          "least, where -p or the header of a file says the bin size; with --unit frames or seconds one bin)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  CLI::Option* const match = command->add_flag(
      "--match", options.match,
      "pair the labels of the prediction with those of the truth, one to one, for the largest overlap; all "
      "numbers are then of the paired labels");
  command
      ->add_option("--label-map", options.label_map,
                   "two columns, a label of the prediction and the label of the truth that it is: the same "
                   "with pairs that are known; several labels may become one")
      ->excludes(match);
  command->add_flag("--merge-adjacent", options.merge_adjacent,
                    "join touching segments of one label in both files before they are compared");
  command->add_option("-o,--output", arguments->output,
                      "tables; - for standard output (default, unless --json - is given)");
  command->add_option("--json", options.json_path, "JSON document; - for standard output");
  add_multiqc_options(*command, options.multiqc);
  add_tier_option(*command, arguments->unit);
  add_region_options(*command, options.input);
  add_engine_options(*command, arguments->engine);
  add_unit_options(*command, arguments->unit);
  command->add_flag("-q,--quiet", arguments->log.quiet, "write only errors to standard error");
  add_calibration_options(*command, options.calibration);
  add_model_options(*command, *arguments);
  command->callback([arguments] { eval(*arguments); });
}

}  // namespace semicrf
