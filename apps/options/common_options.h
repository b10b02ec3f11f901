// Options that several commands share, as they are typed and as the library takes them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/options/unit_options.h"
#include "core/text/statistic.h"
#include "engine/options.h"
#include "io/checkpoint/checkpoint.h"
#include "io/json/multiqc_json.h"
#include "runs/run_options.h"

namespace semicrf {

// Which engine, as typed.
struct EngineArguments {
  int threads = 1;
  std::string device = "auto";
  std::string precision = "float";
  std::string instruction_set;
};

// What a command tells while it runs.
struct LogArguments {
  std::string progress = "auto";
  std::string log_file;
  bool quiet = false;
  bool verbose = false;
};

// The options of decode, posterior, query and simulate.
struct CommonArguments {
  InputOptions input;
  EngineArguments engine;
  LogArguments log;
  UnitArguments unit;
  std::string output;  // empty: not given
  std::string prefix;
  std::string max_memory;
  std::string infeasible = "error";
  std::string stats;
  std::string constraints;  // empty: not given
  std::vector<std::string> biases;
  int digits = 6;
  bool write_index = false;
  bool dry_run = false;
  bool no_header_comments = false;
};

// For the help of an output: a line per column of a table, those in front and those of a list.
template <class Of>
std::string columns_help(std::size_t margin, std::size_t width,
                         std::vector<std::pair<std::string, std::string>> columns,
                         const StatisticList<Of>& list) {
  for (const Statistic<Of>& one : list) columns.emplace_back(one.name, described(one));
  std::string text;
  for (const auto& [name, meaning] : columns)
    text += std::string(margin, ' ') + name + std::string(width - name.size(), ' ') + meaning + "\n";
  return text;
}

// An option that takes one value each time it is given, so that inputs may follow it.
CLI::Option* add_repeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                            const std::string& help);
// An option whose value is a list separated by commas of at least one name; empty ones are left out. Given
// again, it adds names.
CLI::Option* add_list(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                      const std::string& help, const std::string& type = "NAME,...");
// An option whose value must be one of `choices`.
CLI::Option* add_choice(CLI::App& command, const std::string& names, std::string& value,
                        const std::string& help, const std::vector<std::string>& choices);
// An option for a number that `check` allows; the help tells its default.
template <class Number, class Check>
void add_number(CLI::App& command, const std::string& names, Number& value, const std::string& help,
                const Check& check) {
  command.add_option(names, value, help)->check(check)->capture_default_str();
}
// -r, -L and --exclude; `use` completes the help: "region to decode".
void add_region_options(CLI::App& command, InputOptions& input, const std::string& use);
// --track-pattern, --samples, --sample and --track-names; `several`: --sample may name several.
void add_track_options(CLI::App& command, InputOptions& input, bool several);
// --multiqc and --multiqc-name.
void add_multiqc_options(CLI::App& command, MultiqcTarget& target);
// The target with its sample: --multiqc-name, else the name of `output`. UsageError where it has none, or for
// a name without --multiqc.
MultiqcTarget multiqc_target(const MultiqcTarget& given, const std::string& output);
// Its lines in the outputs of a command's help.
std::string multiqc_help();
// --no-entropy.
void add_entropy_option(CLI::App& command, bool& no_entropy);
// --label-names.
void add_label_names_option(CLI::App& command, InputOptions& input);
// UsageError where no track is given; `name` is what the help calls them.
void require_inputs(const InputOptions& input, const std::string& name);
// --checkpoint, --resume and --resume-must-exist of fits.
void add_checkpoint_options(CLI::App& command, CheckpointOptions& checkpoint);
// --missing-track.
CLI::Option* add_missing_track_option(CLI::App& command, InputOptions& input);
// --missing-track and --missing.
void add_missing_options(CLI::App& command, InputOptions& input);
// --edges; `help` says what it does to the command.
CLI::Option* add_edges_option(CLI::App& command, InputOptions& input, const std::string& help,
                              const std::vector<std::string>& also = {});
// --sites.
void add_sites_option(CLI::App& command, InputOptions& input);
// --chromosomes.
CLI::Option* add_chromosomes_option(CLI::App& command, InputOptions& input);
// --start-scores and --end-scores.
void add_boundary_options(CLI::App& command, InputOptions& input);
void add_engine_options(CLI::App& command, EngineArguments& arguments);
CLI::Option* add_memory_option(CLI::App& command, std::string& max_memory);
CLI::Option* add_progress_option(CLI::App& command, LogArguments& arguments);
void add_log_options(CLI::App& command, LogArguments& arguments);  // --progress, -q, -v and --log-file
// --no-header-comments.
void add_header_option(CLI::App& command, bool& no_header_comments);
void add_common_options(CLI::App& command, CommonArguments& arguments);

// DeviceError for a device this program cannot run on, UsageError for one it does not know.
EngineOptions engine_options(const EngineArguments& arguments);
// Bytes of --max-memory, nothing where it was not given; the engine gets the limit for its device.
std::optional<std::int64_t> memory_limit(const std::string& max_memory, EngineOptions& engine);
// Sets up the logging. WriteError where the log file cannot be written.
void start_logging(const LogArguments& arguments);
// Also starts the logging.
RunOptions run_options(const CommonArguments& arguments);
// The main output: -o, else PREFIX.`ending`, else standard output.
std::string output_path(const CommonArguments& arguments, const std::string& ending);

// A command whose help begins with `summary`, a line, and ends with `details` and the exit codes.
CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& summary,
                      const std::string& details);
// The last lines of "Outputs:" in the help of decode, posterior, query and simulate.
std::string shared_outputs_help();

struct ExitCodeMeaning {
  int code;
  std::string text;
};
// Every exit code of the program; what --help says of them, in lines; and what follows them there.
const std::vector<ExitCodeMeaning>& exit_codes();
std::string exit_code_help();
std::string exit_code_notes();

}  // namespace semicrf
