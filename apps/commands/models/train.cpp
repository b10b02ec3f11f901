// semicrf train: parameters from labelled tracks.
#include "train/train.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "apps/options/emission_options.h"
#include "core/error.h"
#include "core/process_memory.h"
#include "core/text/text.h"
#include "inputs/arguments/input_arguments.h"
#include "io/files/output_file.h"
#include "io/text/region.h"
#include "log/log.h"
#include "model/scores/centering.h"
#include "model/scores/feature_transform.h"
#include "train/ranks/ranks.h"

namespace semicrf {
namespace {

struct TrainArguments {
  EngineArguments engine;
  TrainOptions options;
  std::string boundary_window = "auto", margin = "auto", centering, duration, transform = "auto",
              missing = "default", optimizer = "lbfgs", unlabeled = "auto", schedule = "linear";
  EmissionArguments emission;
  LogArguments log;
  UnitArguments unit;
  std::vector<std::string> labels;  // FILE or SAMPLE=FILE, as typed
  std::string max_memory, val_list;
  bool dry_run = false;
};

// "A,B", two whole numbers.
std::pair<int, int> parse_window(const std::string& text) {
  const std::string_view all = text;
  const std::size_t comma = std::min(all.find(','), all.size());
  const auto first = number_in<int>(all.substr(0, comma));
  const auto last = number_in<int>(all.substr(std::min(comma + 1, all.size())));
  if (first && last) return {*first, *last};
  throw UsageError("--boundary-window: '" + text + "' is not a window",
                   "give two offsets in bins, such as -10,10, or none, or auto");
}

double parse_margin(const std::string& text) {
  const auto margin = number_in<double>(text);
  if (!margin || !(*margin >= 0) || !std::isfinite(*margin))
    throw UsageError("--margin must be auto or a number, 0 or more, not '" + text + "'");
  return *margin;
}

// Names of the kinds of durations, each also with - in place of _.
std::vector<std::string> duration_names() {
  std::vector<std::string> names;
  for (const DurationKind* kind : duration_kinds()) {
    const std::string name(kind->name());
    std::string hyphened = name;
    std::replace(hyphened.begin(), hyphened.end(), '_', '-');
    names.push_back(hyphened);
    if (name != hyphened) names.push_back(name);
  }
  return names;
}

const DurationKind* parse_duration(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return find_duration_kind(name);  // the name was checked when it was read
}

// Whether a value of --labels is SAMPLE=FILE.
bool is_of_sample(const std::string& text, const InputOptions& input) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !has_samples(input)) return false;
  const std::vector<std::string> samples = chosen_samples(input);
  return std::ranges::find(samples, text.substr(0, equals)) != samples.end();
}

// Whether the values of --labels are SAMPLE=FILE. Of several, a name that no sample has is a mistake.
bool are_of_samples(const std::vector<std::string>& labels, const InputOptions& input) {
  if (labels.size() == 1) return is_of_sample(labels.front(), input);
  return has_samples(input) &&
         std::ranges::any_of(labels, [](std::string text) { return !take_sequence_name(text).empty(); });
}

TrainOptions train_options(const TrainArguments& arguments) {
  TrainOptions options = arguments.options;
  apply_units(arguments.unit);
  if (!arguments.val_list.empty())
    for (std::string& region : read_region_texts(arguments.val_list))
      options.val_regions.push_back(std::move(region));
  const std::vector<std::string>& labels = arguments.labels;
  // A sheet with a column of labels: all of its samples, as `learn` takes them.
  if (labels.empty() && options.input.samples.empty() && !options.input.samples_file.empty())
    options.input.samples = samples_of(sample_rows(options.input));
  (are_of_samples(labels, options.input) ? options.labels.of_samples : options.labels.files) = labels;
  options.labels.times = label_times(arguments.unit);
  start_logging(arguments.log);
  options.engine = engine_options(arguments.engine);
  options.input.threads = options.engine.threads;
  ShapeOptions& shape = options.shape;
  shape.no_boundary = arguments.boundary_window == "none";
  if (arguments.boundary_window != "auto" && !shape.no_boundary)
    shape.boundary_window = parse_window(arguments.boundary_window);
  check_resume(options.checkpoint);
  if (arguments.margin != "auto") options.margin = parse_margin(arguments.margin);
  options.emission = arguments.emission.emissions;
  add_wishes(arguments.emission, options.emissions);
  options.tie = arguments.emission.tie;
  if (!arguments.centering.empty()) shape.centering = centering_from_name(arguments.centering);
  if (!arguments.duration.empty()) shape.duration = parse_duration(arguments.duration);
  if (arguments.transform != "auto") shape.transform = transform_from_name(arguments.transform);
  shape.missing =
      missing_policy_from_name(arguments.missing).value_or(MissingPolicy::kDefault);  // the name was checked
  if (arguments.unlabeled != "auto")
    options.labels.unlabeled = arguments.unlabeled == "cut" ? Unlabeled::kCut : Unlabeled::kFree;
  options.optimizer = arguments.optimizer == "adamw" ? Optimizer::kAdamW : Optimizer::kLbfgs;
  if (arguments.schedule != "linear")
    options.adamw.schedule = arguments.schedule == "cosine" ? RateSchedule::kCosine : RateSchedule::kConstant;
  options.max_memory = memory_limit(arguments.max_memory, options.engine);
  options.multiqc = multiqc_target(options.multiqc, options.output);
  options.version = SEMICRF_VERSION;
  return options;
}

// Rank 0 alone says something.
TrainArguments silent(TrainArguments arguments) {
  arguments.log.quiet = true;
  arguments.log.verbose = false;
  arguments.log.log_file.clear();
  return arguments;
}

void show_iteration(const IterationReport& report) {
  std::string validation;
  if (report.validation) validation = fmt::format(", validation {:.6f}", *report.validation);
  spdlog::info(
      "iteration {}: NLL {:.6f}{}, objective {:.6f}, gradient {:.3g}, step {:.3g}, {:.3g} positions/s",
      report.iteration, report.nll, validation, report.loss, report.gradient_norm, report.step,
      report.positions_per_second);
}

void train_on(Ranks& ranks, const TrainArguments& arguments) {
  TrainOptions options;
  ranks.gather([&] {
    require_inputs(arguments.options.input, "TRACK");
    options = train_options(ranks.is_first() ? arguments : silent(arguments));
    return std::string();
  });
  if (arguments.dry_run) {
    ranks.others_serve();
    if (ranks.is_first()) print(plan_train(options));
    return;
  }
  TrainLog log;
  if (ranks.is_first()) {
    log.info = [](const std::string& line) { log_note(line); };
    log.warn = [](const Warning& warning) { log_warning(warning); };
    if (arguments.log.progress != "off") log.iteration = show_iteration;
  }
  run_train(options, log, ranks);
}

void train(const TrainArguments& arguments) {
  Ranks& ranks = all_ranks();
  try {
    train_on(ranks, arguments);
  } catch (const OtherRankFailed&) {  // rank 0 tells why
  }
  if (!ranks.is_first()) ranks.serve([](const std::string&) {});
}

void add_data_options(CLI::App& command, TrainArguments& arguments) {
  TrainOptions& options = arguments.options;
  InputOptions& input = options.input;
  add_repeatable(
      command, "--labels", arguments.labels,
      "the true segments: BED file with the label in column 4 (A|B: one of these; A:0.7|B:0.3: with "
      "weights); "
      "or, with --rate, [sequence=]PATH of a Praat TextGrid, a folder of them, or a table with the columns "
      "begin, end (seconds) and label; several files have the labels of different sequences; SAMPLE=FILE: "
      "those of one of several samples")
      ->type_name("FILE");
  add_tier_option(command, arguments.unit);
  command.add_option("TRACK", input.inputs,
                     "one or more [name=]PATH: a bigWig file, BAM, CRAM or text per track, or NPY/NPZ arrays "
                     "(bins, tracks), "
                     "one per sequence");
  add_track_options(command, input, true);
  command.get_option("--track-names")
      ->description(
          "names of the columns of arrays (default: track1, track2, ...); a list separated by commas");
  command
      .add_option("--background", options.labels.background,
                  "label of the bases that no line of the labels covers, inside the regions to train on; "
                  "chromosomes without any label only where a region names them")
      ->type_name("LABEL");
  add_choice(command, "--unlabeled", arguments.unlabeled,
             "bins between labelled ones that have no label themselves: free (they may have any label), cut\n"
             "(they are left out, and training sees two pieces); auto (default): free where fewer bins than\n"
             "K (--max-duration) lie between two lines, else cut",
             {"auto", "cut", "free"});
  command.add_option("--init", input.parameters,
                     "parameter file to start from; its labels, tracks and transforms are kept");
  add_boundary_options(command, input);
  for (const char* name : {"--start-scores", "--end-scores"})
    command.get_option(name)->description(
        std::string("[name=]PATH: scores of ") +
        (std::string(name) == "--start-scores" ? "starting" : "ending") +
        " a segment, which are added to what is learned: bigWig files per label, or arrays (bins, labels) in "
        "the order of the parameter file; decode then needs them too; one value per option: repeat "
        "the option for more");
  add_region_options(command, input, "region to train on");
  add_repeatable(command, "--val-region", options.val_regions,
                 "region for validation, which is left out of training")
      ->type_name("REGION");
  command.add_option("--val-list", arguments.val_list,
                     "file of such regions, one in each line, as --val-region has them or as BED");
  command.add_option("-g,--chrom-sizes", input.chrom_sizes_file,
                     "chromosomes and their lengths: two columns, or a .fai index");
  add_chromosomes_option(command, input);
  command.add_option("-b,--bin-size", input.bin_size,
                     "bases per bin (default: bin_size of --init; else 200 for bigWig files, 1 for arrays)");
  add_choice(
      command, "--missing", arguments.missing,
      "values that tracks lack, bases without a value in bigWigs and NaN in arrays: zero (count as 0),\n"
      "skip (leave out bins where a track has no value; the sequence is cut there), mean (of the track),\n"
      "marginal (with --emission: the track says nothing there) or error; default: zero for bigWig files, "
      "skip\n"
      "for arrays, marginal with --emission",
      {"default", "zero", "skip", "marginal", "mean", "error"});
  add_choice(command, "--transform", arguments.transform,
             "transform of every track: auto (chosen for each track), none, log1p or asinh",
             {"auto", "none", "log1p", "asinh"});
}

void add_model_options(CLI::App& command, TrainArguments& arguments) {
  ShapeOptions& shape = arguments.options.shape;
  add_emission_options(command, arguments.emission, ". Without it, scores are linear in the tracks");
  command
      .add_option(
          "--max-duration", shape.max_duration,
          "longest segment K in bins (default: 99.5th percentile of the training segments, with a tail); "
          "1 makes a linear chain, where every bin is a segment")
      ->check(CLI::PositiveNumber);
  add_repeatable(
      command, "--min-duration", shape.min_durations,
      "shortest segment in bins: N for all labels, LABEL=N for one; a shorter true segment is an error")
      ->type_name("N|LABEL=N");
  command.add_flag("--tail", shape.tail, "with --max-duration: allow longer segments, by a geometric tail");
  add_choice(command, "--duration", arguments.duration,
             "kind of duration scores: table (default), geometric, negative-binomial, poisson or uniform",
             duration_names());
  command
      .add_option(
          "--boundary-window", arguments.boundary_window,
          "A,B: also learn scores of starts and ends from the tracks in bins A..B around them; none: do not; "
          "auto: -2,2, or none where --max-duration, --duration or --init is given")
      ->type_name("auto|none|A,B")
      ->capture_default_str();
  add_edges_option(
      command, arguments.options.input,
      "how to learn from the first and last segment of a piece that regions, missing data or unlabelled "
      "bins cut out of a chromosome: complete, as if they began and ended at the cuts; censored, by how "
      "likely they are to go on; auto (default): censored where there are such pieces",
      {"auto"});
  add_choice(command, "--centering", arguments.centering,
             "centring of the scores: none (default), mean, position-max or mean-preserving",
             {"none", "mean", "position-max", "mean-preserving"});
  add_list(command, "--freeze", arguments.options.freeze,
           "hold these parameters at their initial values: emission (weights and bias, or those of "
           "--emission), weights, bias, means, scales, sizes, boundary, transition, duration, tail, start or "
           "end; a list separated by commas; may be repeated",
           "PART,...");
}

void add_fit_options(CLI::App& command, TrainArguments& arguments) {
  TrainOptions& options = arguments.options;
  PenaltyOptions& penalty = options.penalty;
  const auto add_weight = [&](const std::string& name, double& value, const std::string& help) {
    add_number(command, name, value, help, CLI::NonNegativeNumber);
  };
  add_weight("--l2", penalty.l2, "L2 penalty on the emission weights: 1 / variance of a Gaussian prior");
  add_weight("--l2-boundary", penalty.l2_boundary, "L2 penalty on the boundary weights");
  add_weight("--l2-transition", penalty.l2_transition,
             "L2 penalty on transitions, and on the change of start and end scores");
  add_weight("--smoothness", penalty.smoothness,
             "penalty on the roughness of duration tables, and prior of their tails");
  command
      .add_option(
          "--margin", arguments.margin,
          "natural logarithms by which the score of a segmentation with wrong bins must be lower, for each "
          "wrong bin; auto: 16 / mean training duration, or 0 (likelihood alone) where "
          "--max-duration, --duration or --init is given")
      ->type_name("auto|NUMBER")
      ->capture_default_str();
  add_choice(command, "--optimizer", arguments.optimizer,
             "lbfgs (passes over all data) or adamw (steps on windows, for very long data)",
             {"lbfgs", "adamw"});
  add_number(command, "--max-iterations", options.stop.max_iterations,
             "most iterations; with adamw: passes over the data", CLI::Range(1, 1000000));
  add_number(command, "--tolerance", options.stop.tolerance,
             "stop when ten iterations lower the objective by less than this fraction",
             CLI::NonNegativeNumber);
  add_number(command, "--patience", options.stop.patience,
             "stop after this many iterations without a better validation NLL", CLI::PositiveNumber);
  add_number(command, "--learning-rate", options.adamw.learning_rate, "adamw: size of a step per parameter",
             CLI::PositiveNumber);
  add_choice(command, "--schedule", arguments.schedule,
             "adamw: how the learning rate falls over --max-iterations: linear (default) or cosine, to a "
             "twentieth, or constant",
             {"linear", "cosine", "constant"});
  add_number(command, "--warm-up", options.adamw.warm_up,
             "adamw: steps over which the learning rate rises from 0", CLI::NonNegativeNumber);
  add_weight("--clip-norm", options.adamw.clip_norm,
             "adamw: longest gradient; longer ones are shortened to this length; 0: no limit");
  add_weight("--weight-decay", options.adamw.weight_decay,
             "adamw: decoupled decay towards the initial values");
  add_number(command, "--window", options.adamw.window, "adamw: bins per window, cut at true boundaries",
             CLI::PositiveNumber);
  add_number(command, "--batch", options.adamw.batch, "adamw: windows per step", CLI::PositiveNumber);
  command.add_option("--seed", options.adamw.seed, "adamw: seed of the order of the windows")
      ->capture_default_str();
  add_checkpoint_options(command, options.checkpoint);
  command
      .add_option("--checkpoint-every", options.checkpoint.every,
                  "iterations from one checkpoint to the next (default: 50, after which a resumed fit gives "
                  "the same bytes as one without a stop; adamw: 1 pass)")
      ->check(CLI::PositiveNumber);
}

void add_run_options(CLI::App& command, TrainArguments& arguments) {
  command.add_option("-o,--output", arguments.options.output,
                     "parameter file to write; - for standard output (default)");
  add_engine_options(command, arguments.engine);
  add_memory_option(command, arguments.max_memory);
  command.add_flag("--dry-run", arguments.dry_run, "print data, model and memory; do not train");
  command.add_option("--stats", arguments.options.stats_path,
                     "write statistics and warnings to this JSON file");
  add_multiqc_options(command, arguments.options.multiqc);
  add_log_options(command, arguments.log);
  add_unit_options(command, arguments.unit);
  command.get_option("--progress")->description("auto, bar, line: one line per iteration; off: none");
}

}  // namespace

void add_train_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "train", "Learn parameters from labelled tracks, by maximum likelihood.",
      "Outputs:\n"
      "  -o FILE            parameter file (JSON, format 1); its `training` section says how it was made\n"
      "  --checkpoint FILE  state of the fit, to --resume from\n"
      "  --stats FILE       statistics, JSON\n"
      "  --log-file FILE    notes, warnings and errors, appended\n" +
          multiqc_help());
  const auto arguments = std::make_shared<TrainArguments>();
  add_data_options(*command, *arguments);
  add_model_options(*command, *arguments);
  add_fit_options(*command, *arguments);
  add_run_options(*command, *arguments);
  command->callback([arguments] { train(*arguments); });
}

}  // namespace semicrf
