// semicrf train: parameters from labelled tracks.
#include "train/train.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/logging.h"
#include "apps/print.h"
#include "core/error.h"
#include "io/memory_size.h"
#include "io/files/output_file.h"
#include "model/centering.h"
#include "model/feature_transform.h"

namespace semicrf {
namespace {

struct TrainArguments {
  EngineArguments engine;
  TrainOptions options;
  std::string boundary_window = "auto", margin = "auto", centering, duration, transform = "auto",
              missing = "zero", optimizer = "lbfgs";
  std::string max_memory, progress = "auto", log_file;
  bool dry_run = false, quiet = false, verbose = false;
};

// "A,B", two whole numbers.
std::pair<int, int> parse_window(const std::string& text) {
  std::pair<int, int> window;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, window.first);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ',') {
    const auto last = std::from_chars(first.ptr + 1, end, window.second);
    if (last.ec == std::errc() && last.ptr == end) return window;
  }
  throw UsageError("--boundary-window: \"" + text + "\" is no window",
                   "give two offsets in bins, such as -10,10");
}

double parse_margin(const std::string& text) {
  double margin = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, margin);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(margin >= 0) || !std::isfinite(margin))
    throw UsageError("--margin: \"" + text + "\" is no margin", "give auto, or a number from 0 on");
  return margin;
}

DurationKind parse_duration(std::string name) {
  if (name == "negative-binomial") name = "negative_binomial";
  return duration_kind_from_name(name).value();  // checked when it was read
}

std::vector<std::string> paths_of(const TrainOptions& options) {
  std::vector<std::string> paths = {
      options.labels_file,        options.input.parameters,       options.input.regions_file,
      options.input.exclude_file, options.input.chrom_sizes_file, options.resume};
  for (const std::string& input : options.input.inputs) {
    paths.push_back(input);
    paths.push_back(input.substr(input.find('=') + 1));
  }
  std::erase(paths, std::string());
  return paths;
}

TrainOptions train_options(const TrainArguments& arguments) {
  TrainOptions options = arguments.options;
  if (!arguments.log_file.empty()) {
    const std::vector<OutputSpec> log = {{arguments.log_file, IndexKind::kNone}};
    check_outputs(log, paths_of(options));
  }
  const Verbosity loud = arguments.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
  set_up_logging(arguments.quiet ? Verbosity::kQuiet : loud, arguments.log_file);
  options.engine = engine_options(arguments.engine);
  options.no_boundary = arguments.boundary_window == "none";
  if (arguments.boundary_window != "auto" && !options.no_boundary)
    options.boundary_window = parse_window(arguments.boundary_window);
  if (arguments.margin != "auto") options.margin = parse_margin(arguments.margin);
  if (!arguments.centering.empty()) options.centering = centering_from_name(arguments.centering);
  if (!arguments.duration.empty()) options.duration = parse_duration(arguments.duration);
  if (arguments.transform != "auto") options.transform = transform_from_name(arguments.transform);
  options.missing = missing_policy_from_name(arguments.missing).value();
  options.optimizer = arguments.optimizer == "adamw" ? Optimizer::kAdamW : Optimizer::kLbfgs;
  options.max_memory = memory_limit(arguments.max_memory, options.engine);
  options.version = SEMICRF_VERSION;
  return options;
}

void show_iteration(const IterationReport& report) {
  std::string validation;
  if (report.validation) validation = fmt::format(", validation {:.6f}", *report.validation);
  spdlog::info(
      "iteration {}: NLL {:.6f}{}, objective {:.6f}, gradient {:.3g}, step {:.3g}, {:.3g} positions/s",
      report.iteration, report.nll, validation, report.loss, report.gradient_norm, report.step,
      report.positions_per_second);
}

void train(const TrainArguments& arguments) {
  const TrainOptions options = train_options(arguments);
  if (arguments.dry_run) {
    print(plan_train(options));
    return;
  }
  TrainLog log;
  log.info = [](const std::string& line) { spdlog::info("{}", line); };
  log.warn = [](const Warning& warning) { spdlog::warn("{}: {}", warning.code, warning.message); };
  if (arguments.progress != "off") log.iteration = show_iteration;
  run_train(options, log);
}

void add_data_options(CLI::App& command, TrainArguments& arguments) {
  TrainOptions& options = arguments.options;
  InputOptions& input = options.input;
  const auto add_repeatable = [&](const std::string& names, std::vector<std::string>& values,
                                  const std::string& help) {
    command.add_option(names, values, help)->allow_extra_args(false);
  };
  command.add_option("--labels", options.labels_file, "BED file, the label in column 4: the true segments")
      ->required();
  command
      .add_option("TRACK", input.inputs,
                  "[name=]PATH: a bigWig file per track, or NPY/NPZ arrays (bins, tracks), one per sequence")
      ->required();
  command.add_option("--init", input.parameters,
                     "parameters to start from; their labels, tracks and transforms are kept");
  add_repeatable("-r,--region", input.regions,
                 "train here: chr or chr:beg-end, 1-based inclusive; repeatable");
  command.add_option("-L,--regions-file", input.regions_file, "BED file of regions to train on");
  command.add_option("--exclude", input.exclude_file, "BED file of regions to leave out");
  add_repeatable("--val-region", options.val_regions, "validate here, and never train there; repeatable");
  command.add_option("-g,--chrom-sizes", input.chrom_sizes_file,
                     "two columns or .fai: chromosomes and lengths");
  command.add_option("-b,--bin-size", input.bin_size, "bases per bin (default 1, or that of --init)");
  command
      .add_option("--missing", arguments.missing, "bases without a value: zero, skip (cut there) or error")
      ->check(CLI::IsMember({"zero", "skip", "error"}))
      ->capture_default_str();
  command
      .add_option("--transform", arguments.transform,
                  "of all tracks: auto (chosen for each), none, log1p or asinh")
      ->check(CLI::IsMember({"auto", "none", "log1p", "asinh"}))
      ->capture_default_str();
}

void add_model_options(CLI::App& command, TrainArguments& arguments) {
  TrainOptions& options = arguments.options;
  command
      .add_option("--max-duration", options.max_duration,
                  "K in bins (default: 99.5th percentile of the training segments, with a tail); 1: a linear "
                  "chain, where every bin is a segment")
      ->check(CLI::PositiveNumber);
  command.add_flag("--tail", options.tail, "with --max-duration: a geometric tail beyond K");
  command
      .add_option("--duration", arguments.duration,
                  "table (default), geometric, negative-binomial, poisson or uniform")
      ->check(CLI::IsMember(
          {"table", "geometric", "negative-binomial", "negative_binomial", "poisson", "uniform"}));
  command
      .add_option(
          "--boundary-window", arguments.boundary_window,
          "A,B: also learn scores of starts and ends from the tracks in bins A..B around them; none; auto: "
          "-2,2 unless --max-duration, --duration or --init is given")
      ->capture_default_str();
  command
      .add_option("--centering", arguments.centering, "none (default), mean, position-max or mean-preserving")
      ->check(CLI::IsMember({"none", "mean", "position-max", "mean-preserving"}));
  command
      .add_option(
          "--freeze", options.freeze,
          "keep a part as it starts: emission (weights and bias), weights, bias, boundary, transition, "
          "duration, tail, start or end; repeatable, or separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_fit_options(CLI::App& command, TrainArguments& arguments) {
  TrainOptions& options = arguments.options;
  PenaltyOptions& penalty = options.penalty;
  const auto add_weight = [&](const std::string& name, double& value, const std::string& help) {
    command.add_option(name, value, help)->check(CLI::NonNegativeNumber)->capture_default_str();
  };
  add_weight("--l2", penalty.l2, "L2 penalty of the emission weights: 1 / variance of a Gaussian prior");
  add_weight("--l2-boundary", penalty.l2_boundary, "of the boundary weights");
  add_weight("--l2-transition", penalty.l2_transition,
             "of transitions, and of the change of start and end scores");
  add_weight("--smoothness", penalty.smoothness,
             "roughness penalty of duration tables, and prior of their tails");
  command
      .add_option("--margin", arguments.margin,
                  "another segmentation must be less likely by this much (log units) for every bin it gets "
                  "wrong; auto: 16 / mean training duration, or 0 (likelihood alone) where --max-duration, "
                  "--duration or --init is given")
      ->capture_default_str();
  command
      .add_option("--optimizer", arguments.optimizer,
                  "lbfgs (full passes) or adamw (windows, for very long data)")
      ->check(CLI::IsMember({"lbfgs", "adamw"}))
      ->capture_default_str();
  command
      .add_option("--max-iterations", options.max_iterations, "iterations; for adamw passes over the data")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      .add_option("--tolerance", options.tolerance,
                  "stop when ten iterations lower the objective by less than this share")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--patience", options.patience, "stop after so many iterations without a better validation")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--learning-rate", options.adamw.learning_rate, "adamw: step per coordinate")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_weight("--weight-decay", options.adamw.weight_decay, "adamw: decoupled decay towards the start");
  command.add_option("--window", options.adamw.window, "adamw: bins per window, cut at true boundaries")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--batch", options.adamw.batch, "adamw: windows per step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--seed", options.seed, "adamw: of the order of the windows")->capture_default_str();
  command.add_option("--checkpoint", options.checkpoint,
                     "write the state here, every 50 iterations (adamw: every pass) and at the end");
  command.add_option("--resume", options.resume, "go on from a checkpoint of the same data and options");
}

void add_run_options(CLI::App& command, TrainArguments& arguments) {
  command.add_option("-o,--output", arguments.options.output,
                     "parameter file, - for standard output (default)");
  add_engine_options(command, arguments.engine);
  command.add_option("--max-memory", arguments.max_memory, "limit for all memory of the program, such as 8G");
  command.add_flag("--dry-run", arguments.dry_run, "print data, model and memory; train nothing");
  command.add_option("--stats", arguments.options.stats_path,
                     "write statistics and warnings to this JSON file");
  command.add_option("--progress", arguments.progress, "a line per iteration unless off")
      ->check(CLI::IsMember({"auto", "bar", "line", "off"}))
      ->capture_default_str();
  command.add_flag("-q,--quiet", arguments.quiet, "only errors on standard error");
  command.add_flag("-v,--verbose", arguments.verbose, "more on standard error");
  command.add_option("--log-file", arguments.log_file, "append notes and warnings to this file");
}

}  // namespace

void add_train_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "train",
      "Parameters from labelled tracks, by maximum likelihood.\n\n"
      "Outputs:\n"
      "  -o FILE            parameter file (JSON, format 1); its `training` section says how it was made\n"
      "  --checkpoint FILE  state of the fit, for --resume\n"
      "  --stats FILE       statistics, JSON\n"
      "  --log-file FILE    notes and warnings, appended\n");
  const auto arguments = std::make_shared<TrainArguments>();
  add_data_options(*command, *arguments);
  add_model_options(*command, *arguments);
  add_fit_options(*command, *arguments);
  add_run_options(*command, *arguments);
  command->footer(exit_code_help());
  command->callback([arguments] { train(*arguments); });
}

}  // namespace semicrf
