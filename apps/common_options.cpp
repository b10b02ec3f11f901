#include "apps/common_options.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include "apps/logging.h"
#include "core/error.h"
#include "io/memory_size.h"
#include "io/files/output_file.h"

namespace semicrf {
namespace {

// One value per use, so that positional inputs may follow.
void add_repeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                    const std::string& help) {
  command.add_option(names, values, help)->allow_extra_args(false);
}

void add_input_options(CLI::App& command, InputOptions& input) {
  command.add_option("-p,--params", input.parameters, "parameter file (JSON, format 1)")->required();
  command
      .add_option("INPUT", input.inputs,
                  "[name=]PATH: a bigWig file per track (or label), or NPY/NPZ arrays, one per sequence;"
                  " chr1:1001-2000=PATH places an array on a part of a chromosome")
      ->required();
  add_repeatable(command, "--start-scores", input.start_scores,
                 "[name=]PATH: scores of starting a segment, shaped as the inputs");
  add_repeatable(command, "--end-scores", input.end_scores, "[name=]PATH: scores of ending a segment");
  add_repeatable(command, "-r,--region", input.regions, "chr:beg-end, 1-based inclusive; may be repeated");
  command.add_option("-L,--regions-file", input.regions_file, "BED file of regions");
  command.add_option("--exclude", input.exclude_file, "BED file of regions to leave out");
  command.add_option("-g,--chrom-sizes", input.chrom_sizes_file,
                     "two columns or .fai: chromosomes, their lengths and the order of the output");
  command.add_option("-b,--bin-size", input.bin_size, "bases per bin; must be the parameters' bin_size");
  command.add_flag("--all-chromosomes", input.all_chromosomes,
                   "also chromosomes on which no track has a value");
}

std::string joined_names() {
  std::string names;
  for (const std::string& name : available_instruction_sets()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

// Inputs as typed, for the check that the log is none of them.
std::vector<std::string> typed_paths(const InputOptions& input) {
  std::vector<std::string> paths = {input.parameters, input.regions_file, input.exclude_file,
                                    input.chrom_sizes_file};
  for (const auto* arguments : {&input.inputs, &input.start_scores, &input.end_scores})
    for (const std::string& argument : *arguments) {
      paths.push_back(argument);
      paths.push_back(argument.substr(argument.find('=') + 1));
    }
  std::erase(paths, std::string());
  return paths;
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
      throw UsageError("--device: " + device + " is not a list such as cuda:0,2");
    numbers.push_back(number);
    at = next;
  }
  return numbers;
}

}  // namespace

void add_engine_options(CLI::App& command, EngineArguments& arguments) {
  command.add_option("-t,--threads,-@", arguments.threads, "threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("-x,--device", arguments.device, "auto, cpu, cuda, cuda:0,2 or reference")
      ->capture_default_str();
  command.add_option("--precision", arguments.precision, "float or double")
      ->check(CLI::IsMember({"float", "double"}))
      ->capture_default_str();
  command
      .add_option("--instruction-set", arguments.instruction_set,
                  "force one of the processor's instruction sets: " + joined_names())
      ->group("Advanced");
}

void add_common_options(CLI::App& command, CommonArguments& arguments) {
  add_input_options(command, arguments.input);
  command.add_option("-o,--output", arguments.output,
                     "main output, - for standard output (default); .gz: bgzip");
  command.add_option("--prefix", arguments.prefix,
                     "begin of the names of all outputs that are not named otherwise");
  command.add_flag("--write-index", arguments.write_index,
                   "write .tbi (or .csi past 512 Mb) beside .gz outputs");
  command.add_option("--digits", arguments.digits, "decimals of bedGraph values")
      ->check(CLI::Range(0, 15))
      ->capture_default_str();
  add_engine_options(command, arguments.engine);
  command.add_option("--max-memory", arguments.max_memory, "limit for all memory of the program, such as 8G");
  command
      .add_option("--infeasible", arguments.infeasible,
                  "pieces without any possible segmentation: error or skip")
      ->check(CLI::IsMember({"error", "skip"}))
      ->capture_default_str();
  command.add_flag("--dry-run", arguments.dry_run, "print bins, memory, order and binding; compute nothing");
  command.add_option("--stats", arguments.stats, "write statistics and warnings to this JSON file");
  command.add_option("--progress", arguments.progress, "auto, bar, line or off")
      ->check(CLI::IsMember({"auto", "bar", "line", "off"}))
      ->capture_default_str();
  command.add_flag("-q,--quiet", arguments.quiet, "only errors on standard error");
  command.add_flag("-v,--verbose", arguments.verbose, "more on standard error");
  command.add_option("--log-file", arguments.log_file, "append notes and warnings to this file");
  command.footer(exit_code_help());
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
  } else if (device == "cuda" || device.rfind("cuda:", 0) == 0) {
    options.backend = EngineOptions::Backend::kCuda;
    options.devices = device_numbers(device);
    if (!options.instruction_set.empty())
      throw UsageError("--instruction-set: " + device + " has no instruction sets to choose from");
  } else if (device != "auto") {
    throw UsageError("--device: " + device + " is none of auto, cpu, cuda, reference");
  }
  return options;
}

std::optional<std::int64_t> memory_limit(const std::string& max_memory, EngineOptions& engine) {
  std::optional<std::int64_t> limit;
  if (!max_memory.empty()) limit = parse_memory_size(max_memory, "--max-memory");
  engine.device_memory = static_cast<std::size_t>(limit.value_or(0));
  return limit;
}

RunOptions run_options(const CommonArguments& arguments) {
  if (!arguments.log_file.empty()) {
    const std::vector<OutputSpec> log = {{arguments.log_file, IndexKind::kNone}};
    check_outputs(log, typed_paths(arguments.input));
  }
  const Verbosity loud = arguments.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
  set_up_logging(arguments.quiet ? Verbosity::kQuiet : loud, arguments.log_file);
  RunOptions options;
  options.input = arguments.input;
  options.engine = engine_options(arguments.engine);
  options.max_memory = memory_limit(arguments.max_memory, options.engine);
  options.infeasible = arguments.infeasible == "skip" ? InfeasiblePolicy::kSkip : InfeasiblePolicy::kError;
  options.write_index = arguments.write_index;
  options.digits = arguments.digits;
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

std::string exit_code_help() {
  return "Exit codes: 0 done, 2 usage, 3 bad input data or parameters, 4 an input cannot be read,\n"
         "5 an output cannot be written, 6 out of memory, 7 the demanded device cannot run, 70 a bug,\n"
         "130 and 143 signals, 141 a closed pipe. An error is one line on standard error; outputs appear\n"
         "under their names only when they are complete.";
}

}  // namespace semicrf
