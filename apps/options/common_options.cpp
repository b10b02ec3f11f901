#include "apps/options/common_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <thread>

#include "apps/console/console.h"
#include "core/error.h"
#include "core/process_memory.h"
#include "core/text/text.h"
#include "engine/options.h"
#include "inputs/arguments/input_arguments.h"
#include "inputs/arguments/sample_arguments.h"
#include "io/files/output_file.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

void add_input_options(CLI::App& command, InputOptions& input) {
  command.add_option("-p,--params", input.parameters, "parameter file (JSON, format 1)")->required();
  command.add_option(
      "INPUT", input.inputs,
      "one or more [name=]PATH: a bigWig file, BAM, CRAM or text per track (or label), or NPY/NPZ "
      "arrays, one per sequence; chr1:1001-2000=PATH places an array on a part of a chromosome");
  add_track_options(command, input, false);
  add_label_names_option(command, input);
  add_missing_options(command, input);
  add_boundary_options(command, input);
  add_region_options(command, input, "region to compute");
  command.add_option("-g,--chrom-sizes", input.chrom_sizes_file,
                     "chromosomes, their lengths and the order of the output: two columns, or a .fai index");
  add_chromosomes_option(command, input);
  command.add_option("-b,--bin-size", input.bin_size,
                     "bases per bin; must equal bin_size of the parameter file where that has one");
  command.add_flag("--all-chromosomes", input.all_chromosomes,
                   "include chromosomes on which no track has a value");
}

// The numbers of "cuda:0,2"; none for "cuda".
std::vector<int> device_numbers(const std::string& device) {
  std::vector<int> numbers;
  const char* at = device.data() + std::string("cuda").size();
  const char* end = device.data() + device.size();
  while (at != end) {
    int number = -1;
    const auto [next, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc() || number < 0 || (next != end && *next != ','))
      throw UsageError("--device: '" + device + "' does not name GPUs by number",
                       "write for example cuda:0,2");
    numbers.push_back(number);
    at = next;
  }
  return numbers;
}

}  // namespace

CLI::Option* add_repeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                            const std::string& help) {
  return command.add_option(names, values, help + "; one value per option: repeat the option for more")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// CLI11's own lists take the next word of the command line where a value has no name.
CLI::Option* add_list(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                      const std::string& help, const std::string& type) {
  const std::string name = names.substr(names.find("--"));
  const auto take = [&values, name](const std::vector<std::string>& given) {
    values.clear();
    for (const std::string& list : given) {
      const std::size_t before = values.size();
      for (const std::string_view one : split_at(',', list))
        if (!one.empty()) values.emplace_back(one);
      if (values.size() == before && !list.empty())
        throw UsageError(name + ": '" + list + "' has no name between its commas",
                         "give one, or several separated by commas");
    }
  };
  return command.add_option_function<std::vector<std::string>>(names, take, help)
      ->type_name(type)
      ->allow_extra_args(false);
}

CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& value,
                        const std::string& help, const std::vector<std::string>& choices) {
  const auto check = [choices](const std::string& given) {
    const bool known = std::find(choices.begin(), choices.end(), given) != choices.end();
    return known ? std::string() : "must be one of " + joined(choices, ", ") + ", not '" + given + "'";
  };
  return command.add_option(names, value, help)
      ->type_name(joined(choices, "|"))
      ->check(check)
      ->capture_default_str();
}

void add_region_options(CLI::App& command, InputOptions& input, const std::string& use) {
  add_repeatable(command, "-r,--region", input.regions,
                 use + ": chr, or chr:begin-end counted from 1 with both ends included")
      ->type_name("REGION");
  command.add_option("-L,--regions-file", input.regions_file,
                     "BED file of regions, used together with --region");
  command.add_option("--exclude", input.exclude_file, "BED file of regions to leave out");
}

// NAME,NAME of a sheet, or NAME=FILES without one.
CLI::Option* add_samples_option(CLI::App& command, InputOptions& input) {
  const auto take = [&input](const std::vector<std::string>& given) {
    for (const std::string& text : given) {
      if (has_sample_files({text})) {
        input.samples.push_back(text);
        continue;
      }
      std::istringstream names(text);
      for (std::string name; std::getline(names, name, ',');)
        if (!name.empty()) input.samples.push_back(name);
    }
  };
  return command
      .add_option_function<std::vector<std::string>>("--sample", take,
                                                     "samples of the sheet, all with the same labels: NAME, "
                                                     "or a list separated by commas; or NAME=FILE,FILE "
                                                     "in place of a sheet, where a FILE is [track=]PATH or a "
                                                     "pattern in quotes: --sample 'K562=k562/*.bw'. "
                                                     "Give it once for each sample")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME[=FILE,...]");
}

void add_track_options(CLI::App& command, InputOptions& input, bool several) {
  command
      .add_option(
          "--track-pattern", input.track_pattern,
          "names tracks by their file names: '{sample}.{track}.bw' makes GM12878.CTCF.bw the track CTCF;\n"
          "all files must have the same {sample}; NAME=PATH keeps its name")
      ->type_name("PATTERN");
  command.add_option(
      "--samples", input.samples_file,
      "sample sheet in place of the files: columns sample, track and path (of a bigWig, relative to\n"
      "the sheet), separated by tabs, with a header line");
  if (several) {
    add_samples_option(command, input);
  } else {
    add_list(command, "--sample", input.samples, "sample to take from the sheet, where it has several",
             "NAME");
  }
  add_list(command, "--track-names", input.track_names,
           "names of the columns of arrays; a list separated by commas, checked against the parameters");
}

void add_label_names_option(CLI::App& command, InputOptions& input) {
  add_list(command, "--label-names", input.label_names,
           "names of the columns of arrays of label scores; a list separated by commas, checked against the "
           "parameters");
}

void require_inputs(const InputOptions& input, const std::string& name) {
  if (!has_inputs(input))
    throw UsageError(name + " is required", "give files, or a sample sheet with --samples");
}

void add_checkpoint_options(CLI::App& command, CheckpointOptions& checkpoint) {
  command.add_option(
      "--checkpoint", checkpoint.file,
      "write the state of the fit to this file: see --checkpoint-every; at the end; and when SIGINT, SIGTERM "
      "or SIGHUP ends the program");
  command.add_option(
      "--resume", checkpoint.resume,
      "continue from a checkpoint of the same data and options; start anew, with a note, where "
      "the file is not there");
  command.add_flag("--resume-must-exist", checkpoint.resume_must_exist,
                   "with --resume: a file that is not there is an error");
}

CLI::Option* add_missing_track_option(CLI::App& command, InputOptions& input) {
  return add_repeatable(command, "--missing-track", input.missing_tracks,
                        "a track of the parameters that the inputs lack: its term is left out where the "
                        "model's tracks are\n"
                        "independent (models of learn and import), else it counts as its mean")
      ->type_name("NAME");
}

void add_missing_options(CLI::App& command, InputOptions& input) {
  add_missing_track_option(command, input);
  command
      .add_option_function<std::string>(
          "--missing",
          [&input](const std::string& given) {
            const auto policy = missing_policy_from_name(given);
            if (!policy)
              throw UsageError("--missing must be zero, skip, error, mean or marginal, not '" + given + "'");
            input.missing = *policy;
          },
          "what becomes of bins where a track has no value, whatever the parameters say: zero, skip, error,\n"
          "mean (of the track), or marginal (the track is ignored there; in models\nwhose tracks are not "
          "independent, mean)")
      ->type_name("zero|skip|error|mean|marginal");
}

CLI::Option* add_edges_option(CLI::App& command, InputOptions& input, const std::string& help,
                              const std::vector<std::string>& also) {
  return command
      .add_option_function<std::string>(
          "--edges",
          [&input, also](const std::string& given) {
            input.edges = edge_rule_from_name(given);
            if (!input.edges && std::ranges::find(also, given) == also.end())
              throw UsageError("--edges must be " + (also.empty() ? "" : joined(also, ", ") + ", ") +
                               "complete or censored, not '" + given + "'");
          },
          help)
      ->type_name((also.empty() ? "" : joined(also, "|") + "|") + "complete|censored");
}

CLI::Option* add_chromosomes_option(CLI::App& command, InputOptions& input) {
  const std::map<std::string, ChromosomePolicy> names = {{"error", ChromosomePolicy::kError},
                                                         {"common", ChromosomePolicy::kCommon},
                                                         {"union", ChromosomePolicy::kUnion}};
  return command
      .add_option_function<std::string>(
          "--chromosomes",
          [&input, names](const std::string& given) {
            const auto found = names.find(given);
            if (found == names.end())
              throw UsageError("--chromosomes must be error, common or union, not '" + given + "'");
            input.chromosomes = found->second;
          },
          "what becomes of chromosomes that some bigWig files lack: error (default; those outside of "
          "--region\n"
          "do not count), common (only those in all files) or union (a file has no value on those it lacks)")
      ->type_name("error|common|union");
}

void add_sites_option(CLI::App& command, InputOptions& input) {
  command.add_flag(
      "--sites", input.sites,
      "rows of text and values of bigWig are sites at the base where they begin (calls of methylation, "
      "probes): segments "
      "last so many bases, and bases between sites cost nothing");
}

void add_boundary_options(CLI::App& command, InputOptions& input) {
  add_repeatable(command, "--start-scores", input.start_scores,
                 "[name=]PATH: scores of starting a segment, shaped as the inputs");
  add_repeatable(command, "--end-scores", input.end_scores,
                 "[name=]PATH: scores of ending a segment, shaped as the inputs");
}

void add_engine_options(CLI::App& command, EngineArguments& arguments) {
  add_number(command, "-t,--threads,-@", arguments.threads, "number of threads", CLI::Range(1, 1024));
  command
      .add_option(
          "-x,--device", arguments.device,
          "auto (a GPU if there is one and the work is worth its start, else cpu), cpu, cuda, or a list of\n"
          "GPUs: cuda:0,2; reference and cuda-plain are slow, to compare with: the algorithm written "
          "plainly\n"
          "for the processor and for a GPU")
      ->type_name("auto|cpu|cuda|cuda:N,...|cuda-plain|reference")
      ->capture_default_str();
  add_choice(command, "--precision", arguments.precision, "float or double", {"float", "double"});
  command
      .add_option(
          "--instruction-set", arguments.instruction_set,
          "use this instruction set of the processor, such as AVX2; any other name gives an error that "
          "lists those it has")
      ->type_name("NAME");
}

CLI::Option* add_memory_option(CLI::App& command, std::string& max_memory) {
  return command
      .add_option("--max-memory", max_memory,
                  "limit on the program's host memory, such as 8G; with a GPU the same amount also"
                  " limits, separately, the GPU memory it uses")
      ->type_name("SIZE");
}

CLI::Option* add_progress_option(CLI::App& command, LogArguments& arguments) {
  return add_choice(command, "--progress", arguments.progress,
                    "auto (a bar on a terminal, else off), bar, line (one per tenth of the work) or off",
                    {"auto", "bar", "line", "off"});
}

void add_log_options(CLI::App& command, LogArguments& arguments) {
  add_progress_option(command, arguments);
  command.add_flag("-q,--quiet", arguments.quiet, "write only errors to standard error");
  command.add_flag("-v,--verbose", arguments.verbose, "write more details to standard error");
  command.add_option("--log-file", arguments.log_file, "append notes, warnings and errors to this file");
}

void add_multiqc_options(CLI::App& command, MultiqcTarget& target) {
  command
      .add_option("--multiqc", target.folder,
                  "also write documents for MultiQC (custom content) to this folder, which must exist")
      ->type_name("DIR");
  command
      .add_option("--multiqc-name", target.sample,
                  "name of the sample in these documents (default: that of the file with the segments "
                  "or parameters, without endings such as .segments.bed.gz)")
      ->type_name("NAME");
}

MultiqcTarget multiqc_target(const MultiqcTarget& given, const std::string& output) {
  if (!given.wanted() && !given.sample.empty())
    throw UsageError("--multiqc-name is given, but no folder for the documents", "add --multiqc DIR");
  return settled(given, output);
}

std::string multiqc_help() {
  return "  --multiqc DIR     DIR/SAMPLE.semicrf_*_mqc.json: documents that MultiQC shows without a "
         "plug-in\n";
}

void add_entropy_option(CLI::App& command, bool& no_entropy) {
  command.add_flag(
      "--no-entropy", no_entropy,
      "do not compute the entropy of the segmentation, nor the expected numbers of each label and piece, "
      "for --stats; saves time");
}

void add_header_option(CLI::App& command, bool& no_header_comments) {
  command.add_flag(
      "--no-header-comments", no_header_comments,
      "leave out the lines that begin with #: tables then begin with the names of their columns, "
      "as pandas and R read them");
}

void add_common_options(CLI::App& command, CommonArguments& arguments) {
  add_input_options(command, arguments.input);
  command.add_option(
      "-o,--output", arguments.output,
      "main output; - for standard output (default); a name ending in .gz is bgzip-compressed");
  command.add_option("--prefix", arguments.prefix, "prefix for outputs without an explicit name")
      ->type_name("PREFIX");
  command.add_flag(
      "--write-index", arguments.write_index,
      "write a .tbi index (.csi past 512 Mb) beside every .gz output; bigWig and bigBed need none");
  add_header_option(command, arguments.no_header_comments);
  add_number(command, "--digits", arguments.digits, "decimals of bedGraph values", CLI::Range(0, 15));
  add_engine_options(command, arguments.engine);
  add_memory_option(command, arguments.max_memory);
  command.add_option("--constraints", arguments.constraints,
                     "what if: compute under the constraints of this BED file, whose name column (4) has\n"
                     "label:A,B (every bin of the interval has one of these labels), not:A (none has it),\n"
                     "boundary (a segment starts at the first bin) or no-boundary (none starts in it);\n"
                     "--stats has log_constraint_probability, the logarithm of their probability");
  add_repeatable(
      command, "--bias", arguments.biases,
      "LABEL=X: every segment of this label scores X more, so that it is e^X times as probable before "
      "scores are normalised; above 0 for more segments of it, below 0 for fewer")
      ->type_name("LABEL=X");
  add_choice(command, "--infeasible", arguments.infeasible,
             "what to do with a piece that has no possible segmentation: error or skip", {"error", "skip"});
  add_edges_option(
      command, arguments.input,
      "how to score the first and last segment of a piece that regions, missing data or the name "
      "of an array cut out of something longer: complete, as if they began and ended at the cuts; "
      "or censored, by how likely they are to go on (default: as the parameters say)");
  command.add_flag("--dry-run", arguments.dry_run,
                   "print bins, memory, order and which file is which track; compute nothing");
  command.add_option("--stats", arguments.stats, "write statistics and warnings to this JSON file");
  add_log_options(command, arguments.log);
  add_unit_options(command, arguments.unit);
}

EngineOptions engine_options(const EngineArguments& arguments) {
  EngineOptions options;
  options.threads = arguments.threads;
  options.precision = arguments.precision == "double" ? Precision::kDouble : Precision::kFloat;
  options.instruction_set = arguments.instruction_set;
  const std::string& device = arguments.device;
  if (device == "cpu") {
    options.backend = EngineOptions::Backend::kCpu;
  } else if (device == "reference") {
    options.backend = EngineOptions::Backend::kReference;
  } else if (device == "cuda" || device.starts_with("cuda:")) {
    options.backend = EngineOptions::Backend::kCuda;
    options.devices = device_numbers(device);
    if (!options.instruction_set.empty())
      throw UsageError("--instruction-set does not apply to --device " + device, "use --device cpu");
  } else if (device == "cuda-plain") {
    options.backend = EngineOptions::Backend::kCudaPlain;
    if (!options.instruction_set.empty())
      throw UsageError("--instruction-set does not apply to --device " + device, "use --device cpu");
  } else if (device != "auto") {
    throw UsageError("--device must be one of auto, cpu, cuda, cuda:N,..., cuda-plain, reference, not '" +
                     device + "'");
  }
  return options;
}

std::optional<std::int64_t> memory_limit(const std::string& max_memory, EngineOptions& engine) {
  std::optional<std::int64_t> limit;
  if (!max_memory.empty()) limit = parse_memory_size(max_memory, "--max-memory");
  engine.device_memory = limit.value_or(0);
  return limit;
}

void start_logging(const LogArguments& arguments) {
  const Verbosity loud = arguments.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
  set_up_logging(arguments.quiet ? Verbosity::kQuiet : loud, arguments.log_file);
}

RunOptions run_options(const CommonArguments& arguments) {
  apply_units(arguments.unit);
  start_logging(arguments.log);
  RunOptions options;
  options.input = arguments.input;
  options.engine = engine_options(arguments.engine);
  options.input.threads = options.engine.threads;
  options.max_memory = memory_limit(arguments.max_memory, options.engine);
  options.infeasible = arguments.infeasible == "skip" ? InfeasiblePolicy::kSkip : InfeasiblePolicy::kError;
  options.write_index = arguments.write_index;
  options.digits = arguments.digits;
  options.constraints = arguments.constraints;
  options.biases = arguments.biases;
  options.header_comments = !arguments.no_header_comments;
  options.stats_path = arguments.stats;
  if (options.stats_path.empty() && !arguments.prefix.empty())
    options.stats_path = arguments.prefix + ".stats.json";
  options.version = SEMICRF_VERSION;
  return options;
}

std::string output_path(const CommonArguments& arguments, const std::string& ending) {
  if (!arguments.output.empty()) return arguments.output;
  return arguments.prefix.empty() ? "-" : arguments.prefix + "." + ending;
}

CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& summary,
                      const std::string& details) {
  CLI::App* command = program.add_subcommand(name, summary);
  command->set_help_all_flag("--help-all", "Print all options, outputs and exit codes and exit");
  command->footer(details + "\n" + exit_code_help());
  return command;
}

std::string shared_outputs_help() {
  return "  --write-index     FILE.gz.tbi (or .csi) beside each BED and bedGraph output whose name ends in "
         ".gz\n"
         "  --stats FILE      statistics, JSON\n"
         "  --log-file FILE   notes, warnings and errors, appended\n";
}

const std::vector<ExitCodeMeaning>& exit_codes() {
  static const std::vector<ExitCodeMeaning> meanings = {{0, "success"},
                                                        {2, "wrong command line"},
                                                        {3, "wrong input data or parameters"},
                                                        {4, "input cannot be read"},
                                                        {5, "output cannot be written"},
                                                        {6, "out of memory"},
                                                        {7, "requested device unavailable"},
                                                        {70, "bug in the program"},
                                                        {130, "interrupted"},
                                                        {143, "terminated"},
                                                        {141, "closed pipe"}};
  return meanings;
}

std::string exit_code_notes() {
  return "An error is one line on standard error.\n"
         "An output appears under its name only when it is complete.";
}

std::string exit_code_help() {
  constexpr std::size_t kWidth = 100;
  std::string text = "Exit codes:";
  for (const ExitCodeMeaning& meaning : exit_codes())
    text +=
        fmt::format("{}{} {}", &meaning == &exit_codes().front() ? " " : ", ", meaning.code, meaning.text);
  text += ". " + exit_code_notes();
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin > kWidth) end = text.rfind(' ', begin + kWidth);
    lines += (lines.empty() ? "" : "\n") + text.substr(begin, end - begin);
    begin = end + 1;
  }
  return lines;
}

}  // namespace semicrf
