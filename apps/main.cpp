// The program: command line in, exit code out.
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/console/help_format.h"
#include "apps/console/logging.h"
#include "apps/manual/command_tree.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "io/files/output_file.h"
#include "io/files/temporary_names.h"
#include "io/nearest_name.h"
#include "train/ranks/ranks.h"

namespace semicrf {
namespace {

constexpr int kClosedPipe = 141;

// Of several processes that train together, one tells what all of them find wrong with the command line.
bool is_told_by_another(ExitCode code, int argc, char** argv) {
  return code == ExitCode::kUsage && argc > 1 && std::string_view(argv[1]) == "train" && is_other_rank();
}

int fail(ExitCode code, const std::string& message) {
  const std::string line = "semicrf: error: " + message;
  std::fprintf(stderr, "%s\n", line.c_str());
  log_fatal(message);
  return static_cast<int>(code);
}

void set_up(CLI::App& program) {
  program.name("semicrf");
  program.formatter(std::make_shared<HelpFormat>());  // commands take it over
  program.set_version_flag("--version", "semicrf " SEMICRF_VERSION);
  program.require_subcommand(1);
  program.footer("semicrf COMMAND --help describes the options and the output files of a command.\n\n" +
                 exit_code_help());
  add_decode_command(program);
  add_posterior_command(program);
  add_query_command(program);
  add_eval_command(program);
  add_describe_command(program);
  add_enrich_command(program);
  add_compare_command(program);
  add_report_command(program);
  add_train_command(program);
  add_learn_command(program);
  add_simulate_command(program);
  add_import_command(program);
  add_export_command(program);
  add_edit_command(program);
  add_info_command(program);
  add_bench_command(program);
  add_manual_commands(program);
  name_file_values(program);
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known,
                         const std::string& help) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  return "did you mean " + std::string(nearest_name(name, names)) + "? " + help + " lists all";
}

// The command that was given, down to those of `import`, and its words from "semicrf" on.
std::pair<const CLI::App*, std::string> given_command(const CLI::App& program) {
  const CLI::App* command = &program;
  std::string words = program.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    words += " " + command->get_name();
  }
  return {command, words};
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(below->get_name());
  return names;
}

// Refuses a command or option that does not exist, and a command that lacks one of its own. CLI11 would first
// report what else is missing.
void refuse_unknown_names(const CLI::App& program) {
  const auto [command, words] = given_command(program);
  const std::string help = words + " --help";
  const std::vector<std::string> commands = commands_of(*command);
  for (const std::string& argument : program.remaining(true)) {
    if (argument.starts_with('-')) {
      const std::string name = argument.substr(0, argument.find('='));
      if (command->get_option_no_throw(name) != nullptr)
        throw UsageError("option " + name + " must come after the command " + command->get_name());
      std::vector<std::string> known;
      for (const CLI::Option* option : command->get_options())
        for (const std::string& word : option->get_lnames()) known.push_back("--" + word);
      throw UsageError("unknown option " + name,
                       name.starts_with("--") ? did_you_mean(name, known, help) : help + " lists all");
    }
    if (commands.empty()) throw UsageError("unexpected argument '" + argument + "'", "see " + help);
    throw UsageError("unknown command '" + argument + "'", did_you_mean(argument, commands, help));
  }
  if (!commands.empty())
    throw UsageError("a command is missing after " + words, "give one of " + joined(commands, ", "));
}

int run(int argc, char** argv) {
  CLI::App program("Exact inference of semi-Markov conditional random fields on genome tracks.");
  set_up(program);
  if (argc <= 1) {
    std::fputs(program.help().c_str(), stderr);
    return static_cast<int>(ExitCode::kUsage);
  }
  try {
    program.parse(argc, argv);
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    refuse_unknown_names(program);
    throw UsageError(error.what());
  }
}

// Turns whatever was thrown into a line and an exit code.
int guarded_run(int argc, char** argv) {
  try {
    install_signal_cleanup();
    return run(argc, argv);
  } catch (const ClosedPipe&) {
    return kClosedPipe;
  } catch (const Error& error) {
    if (is_told_by_another(error.code(), argc, argv)) return static_cast<int>(error.code());
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kOutOfMemory,
                "out of memory; lower --max-memory or --threads, or use a machine with more memory");
  } catch (const std::exception& error) {
    return fail(ExitCode::kInternal,
                message_text(error.what()) + "; this is a bug in semicrf, please report it");
  }
}

}  // namespace
}  // namespace semicrf

int main(int argc, char** argv) {
  const int exit_code = semicrf::guarded_run(argc, argv);
  semicrf::finish_ranks(exit_code);
  return exit_code;
}
