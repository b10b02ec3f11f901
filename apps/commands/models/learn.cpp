// semicrf learn: parameters from tracks alone.
#include "learn/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "apps/options/emission_options.h"
#include "core/error.h"
#include "core/process_memory.h"
#include "inputs/arguments/input_arguments.h"
#include "io/text/region.h"
#include "learn/presets.h"
#include "log/log.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

constexpr int kMostLabels = 200, kMostBins = 1'000'000;
constexpr std::string_view kChromHmmPrefix = "chromhmm:";

struct LearnArguments {
  EngineArguments engine;
  LearnOptions options;
  std::vector<std::string> labels, min_durations;
  EmissionArguments emission;
  std::string preset;
  std::string transform = "auto", missing = "default", durations, init = "kmeans";
  LogArguments log;
  std::string max_memory, val_list;
  bool dry_run = false;
};

// "8", or "2..20" for every number from 2 to 20.
std::vector<int> numbers_of_labels(const std::vector<std::string>& texts) {
  std::vector<int> numbers;
  for (const std::string& text : texts) {
    const std::size_t dots = text.find("..");
    const auto number = [&](std::string_view part) {
      int value = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (error != std::errc() || end != part.data() + part.size() || value < 1 || value > kMostLabels)
        throw UsageError(
            "--labels: '" + text + "' is no number of labels",
            fmt::format("give numbers from 1 to {}, separated by commas, or a range such as 2..20",
                        kMostLabels));
      return value;
    };
    const std::string_view all = text;
    const int first = number(all.substr(0, dots));
    const int last = dots == std::string::npos ? first : number(all.substr(dots + 2));
    if (last < first)
      throw UsageError("--labels: the range '" + text + "' ends before it begins",
                       "give the smaller number first");
    for (int labels = first; labels <= last; ++labels) numbers.push_back(labels);
  }
  return numbers;
}

// N, and LABEL=N.
void take_min_durations(const std::vector<std::string>& texts, LearnOptions& options) {
  for (const std::string& text : texts) {
    if (text.find('=') != std::string::npos) {
      options.min_durations.push_back(text);
      continue;
    }
    const auto bins = number_in<int>(text);
    if (!bins || *bins < 1 || *bins > kMostBins)
      throw UsageError(fmt::format("--min-duration: '{}' is no number of bins from 1 to {}", text, kMostBins),
                       "give N for all labels, or LABEL=N");
    options.law.min_duration = *bins;
  }
}

LearnOptions learn_options(const LearnArguments& arguments) {
  LearnOptions options = arguments.options;
  options.labels = numbers_of_labels(arguments.labels);
  if (has_samples(options.input) && options.input.samples.empty())
    options.input.samples = samples_of(sample_rows(options.input));
  if (!arguments.val_list.empty())
    for (std::string& region : read_region_texts(arguments.val_list))
      options.val_regions.push_back(std::move(region));
  start_logging(arguments.log);
  options.law.durations = law_from_name(arguments.durations);
  take_min_durations(arguments.min_durations, options);
  options.engine = engine_options(arguments.engine);
  options.input.threads = options.engine.threads;
  options.tie = arguments.emission.tie;
  if (!arguments.preset.empty()) apply_preset(arguments.preset, options);
  EmissionArguments emission = arguments.emission;
  emission.tie = options.tie;  // with those of the preset
  add_wishes(emission, options.emissions);
  options.law.tied = std::ranges::find(options.tie, kTiedDurations) != options.tie.end();
  add_frozen(options.freeze, options.emissions);
  if (arguments.transform != "auto") options.transform = transform_from_name(arguments.transform);
  options.input.missing = missing_policy_from_name(arguments.missing).value_or(MissingPolicy::kDefault);
  if (arguments.init == "random") {
    options.start = LearnStart::kRandom;
  } else if (arguments.init.starts_with(kChromHmmPrefix)) {
    options.chromhmm_model = arguments.init.substr(kChromHmmPrefix.size());
  } else if (arguments.init != "kmeans") {
    options.input.parameters = arguments.init;
  }
  if (options.input.sites && !options.law.durations && !options.from_model())
    options.law.durations = LawKind::kGeometric;
  options.max_memory = memory_limit(arguments.max_memory, options.engine);
  options.version = SEMICRF_VERSION;
  return options;
}

void learn(const LearnArguments& arguments) {
  require_inputs(arguments.options.input, "TRACK");
  const LearnOptions options = learn_options(arguments);
  if (arguments.dry_run) {
    print(plan_learn(options));
    return;
  }
  LearnLog log;
  log.info = [](const std::string& line) { log_note(line); };
  log.warn = [](const Warning& warning) { log_warning(warning); };
  if (arguments.log.progress != "off") log.iteration = log.info;
  run_learn(options, log);
}

void add_learn_data_options(CLI::App& command, LearnArguments& arguments) {
  LearnOptions& options = arguments.options;
  InputOptions& input = options.input;
  add_list(command, "--labels", arguments.labels,
           "number of labels; several numbers, separated by commas, or a range such as 2..20, are compared",
           "INT|INT..INT");
  command.add_option("--labels-known", options.known_labels,
                     "BED file with a label in column 4: bins that it labels keep that label (A|B: one of "
                     "these), the others are learned; labels beyond those of the file are new ones");
  command.add_option("TRACK", input.inputs,
                     "one or more [name=]PATH: a bigWig file, BAM, CRAM or text per track, or NPY/NPZ arrays "
                     "(bins, tracks), "
                     "one per sequence");
  add_track_options(command, input, true);
  add_region_options(command, input, "region to learn from");
  add_repeatable(command, "--val-region", options.val_regions,
                 "region that is not learned from; its likelihood is reported")
      ->type_name("REGION");
  command.add_option("--val-list", arguments.val_list,
                     "file of such regions, one in each line, as --val-region has them or as BED");
  command.add_option("-g,--chrom-sizes", input.chrom_sizes_file,
                     "chromosomes and their lengths: two columns, or a .fai index");
  add_chromosomes_option(command, input);
  command.add_option("-b,--bin-size", input.bin_size,
                     "bases per bin (default: that of --init FILE; 200 for bigWig files, 1 for arrays)");
  add_sites_option(command, input);
  add_choice(
      command, "--missing", arguments.missing,
      "values that tracks lack, bases without a value in bigWigs and NaN in arrays: zero (count as 0),\n"
      "skip (leave out bins where a track has no value; the sequence is cut there), marginal (the track\n"
      "says nothing in such a bin), mean (of the track) or error; default: that of --init FILE, or zero for\n"
      "bigWig files, marginal for arrays",
      {"default", "zero", "skip", "marginal", "mean", "error"});
  add_missing_track_option(command, input);
}

void add_learn_model_options(CLI::App& command, LearnArguments& arguments) {
  LearnOptions& options = arguments.options;
  command
      .add_option(
          "--preset", arguments.preset,
          "a model with labels of its own: copy-number learns purity, ploidy and copies from the track "
          "log2 (log ratios) and, for both parents' copies, baf (allele fractions of heterozygous "
          "positions, 0 to 1) or alt and depth (reads of one allele, and all). copy-number:8 has up to 8 "
          "copies (default: 5). methylation (unmethylated, low, partial, full; --sites) takes the tracks "
          "methylated and total, as files of calls have them")
      ->type_name("copy-number[:MOST]|methylation");
  add_emission_options(command, arguments.emission, " (default)");
  add_choice(command, "--transform", arguments.transform,
             "transform of Gaussian tracks: auto (chosen for each track), none, log1p or asinh",
             {"auto", "none", "log1p", "asinh"});
  CLI::Option* tail =
      command
          .add_option(
              "--binarize-tail", options.binarize_tail,
              "bernoulli, where tracks are not 0 and 1: the threshold of a track is the smallest whole "
              "number that a Poisson variable with the track's mean reaches with less than this "
              "probability; a bin at or above it counts as 1")
          ->check(CLI::Range(1e-300, 0.5))
          ->capture_default_str();
  command
      .add_option("--threshold", options.threshold,
                  "bernoulli: a bin at or above this value counts as 1, in every track")
      ->excludes(tail);
  command
      .add_option("--max-duration", options.law.max_duration,
                  "longest segment K in bins (default: 100, with a tail; 1 with geometric durations)")
      ->check(CLI::Range(1, 1000000));
  add_repeatable(command, "--min-duration", arguments.min_durations,
                 "shortest segment in bins: keeps labels from fitting single bins of noise; N for all "
                 "labels, LABEL=N for one of --init, --preset or --labels-known")
      ->type_name("N|LABEL=N");
  command.add_flag("--tail", options.law.tail,
                   "with --max-duration: allow longer segments, by a geometric tail");
  add_choice(
      command, "--duration", arguments.durations,
      "law of durations: table (default; a probability of every duration up to K), negative-binomial, or "
      "geometric (a hidden Markov model)",
      {"table", "negative-binomial", "negative_binomial", "geometric"});
  command.add_flag("--self-transitions", options.law.self_transitions,
                   "allow a segment to follow one of the same label");
}

void add_learn_fit_options(CLI::App& command, LearnArguments& arguments) {
  LearnOptions& options = arguments.options;
  command
      .add_option(
          "--init", arguments.init,
          "where fits start: kmeans (clusters of bins, and of means over bins), random (bins drawn at "
          "random), or a parameter file to go on from, whose labels and tracks are kept, and durations "
          "unless --duration, --max-duration or --tail is given; chromhmm:FILE goes on from a model of "
          "ChromHMM, with durations")
      ->type_name("kmeans|random|FILE|chromhmm:FILE")
      ->capture_default_str();
  add_list(command, "--freeze", options.freeze,
           "parts that stay as the file of --init has them: emission, or means, scales, sizes of densities; "
           "start, transition, duration",
           "PART,...");
  add_number(command, "--restarts", options.restarts,
             "number of fits, each from a start of its own; the likeliest is kept", CLI::Range(1, 10000));
  add_number(command, "--max-iterations", options.max_iterations, "most iterations of a fit",
             CLI::Range(0, 1000000));
  add_number(command, "--tolerance", options.tolerance,
             "stop when an iteration raises the log likelihood by less than this fraction",
             CLI::NonNegativeNumber);
  command.add_option("--seed", options.seed, "seed of the first start; the others follow")
      ->capture_default_str();
  add_checkpoint_options(command, options.checkpoint);
  add_number(command, "--checkpoint-every", *options.checkpoint.every,
             "iterations of each fit from one checkpoint to the next", CLI::PositiveNumber);
}

}  // namespace

void add_learn_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "learn", "Learn labels and parameters from tracks alone, by expectation maximization.",
      "Outputs:\n"
      "  -o FILE            parameter file (JSON, format 1); its `training` section says how it was made\n"
      "  --checkpoint FILE  state of the fits, to --resume from\n"
      "  --solutions FILE   purities and ploidies, TSV\n"
      "  --stats FILE       statistics, JSON: log likelihoods, AIC, BIC\n"
      "  --log-file FILE    notes, warnings and errors, appended\n");
  const auto arguments = std::make_shared<LearnArguments>();
  add_learn_data_options(*command, *arguments);
  add_learn_model_options(*command, *arguments);
  add_learn_fit_options(*command, *arguments);
  command->add_option("-o,--output", arguments->options.output,
                      "parameter file to write; - for standard output (default)");
  add_engine_options(*command, arguments->engine);
  add_memory_option(*command, arguments->max_memory);
  command
      ->add_option(
          "--solutions", arguments->options.solutions_path,
          "--preset copy-number: write purities, ploidies and their log likelihoods to this file (TSV)")
      ->needs(command->get_option("--preset"));
  command
      ->add_option("--purity", arguments->options.purity,
                   "--preset copy-number: the share of tumour cells, where it is known; 0.99 for cell lines")
      ->check(CLI::Range(0.05, 0.99));
  command
      ->add_option("--ploidy", arguments->options.ploidy,
                   "--preset copy-number: the copies that have the log ratio 0, where they are known")
      ->check(CLI::Range(1.0, 8.0));
  for (const char* other : {"--labels", "--labels-known", "--emission", "--outliers", "--init", "--transform",
                            "--restarts", "--self-transitions"})
    command->get_option("--preset")->excludes(command->get_option(other));
  command->add_flag("--dry-run", arguments->dry_run, "print data, models and memory; do not learn");
  command->add_option("--stats", arguments->options.stats_path,
                      "write statistics and warnings to this JSON file");
  add_log_options(*command, arguments->log);
  command->get_option("--progress")->description("auto, bar, line: one line per iteration; off: none");
  command->callback([arguments] { learn(*arguments); });
}

}  // namespace semicrf
