// The options that decode and posterior share, as they are typed and as the library takes them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "pipeline/run/run_options.h"

namespace semicrf {

// Which engine, as typed.
struct EngineArguments {
  int threads = 1;
  std::string device = "auto";
  std::string precision = "float";
  std::string instruction_set;
};

struct CommonArguments {
  InputOptions input;
  EngineArguments engine;
  std::string output;  // empty: not given
  std::string prefix;
  std::string max_memory;
  std::string infeasible = "error";
  std::string stats;
  std::string progress = "auto";
  std::string log_file;
  int digits = 6;
  bool write_index = false;
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
};

void add_engine_options(CLI::App& command, EngineArguments& arguments);
void add_common_options(CLI::App& command, CommonArguments& arguments);

// DeviceError for a device this program cannot run on, UsageError for one it does not know.
EngineOptions engine_options(const EngineArguments& arguments);
// Bytes of --max-memory, nothing where it was not given; the engine gets the limit for its device.
std::optional<std::int64_t> memory_limit(const std::string& max_memory, EngineOptions& engine);
// Also sets up the logging. `command` is "decode" or "posterior"; its name ends the files that --prefix
// names.
RunOptions run_options(const CommonArguments& arguments);
// The main output: -o, else PREFIX.`ending`, else standard output.
std::string output_path(const CommonArguments& arguments, const std::string& ending);

// What every --help ends with.
std::string exit_code_help();

}  // namespace semicrf
