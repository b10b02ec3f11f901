// The program: command line in, exit code out.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/console/help_format.h"
#include "apps/manual/command_tree.h"
#include "apps/options/common_options.h"
#include "apps/options/given_values.h"
#include "apps/options/option_groups.h"
#include "core/error.h"
#include "core/process_memory.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/files/file_errors.h"
#include "io/files/output_file.h"
#include "io/files/signal_cleanup.h"
#include "train/ranks/ranks.h"

namespace semicrf {
namespace {

constexpr int kClosedPipe = 141;
constexpr const char kOutOfMemory[] = "out of memory; use a machine with more memory";

// One of several processes that train together tells what all of them find wrong with the command line.
bool is_told_by_another(ExitCode code, int argc, char** argv) {
  return code == ExitCode::kUsage && argc > 1 && std::string_view(argv[1]) == "train" && is_other_rank();
}

int status(ExitCode code) { return static_cast<int>(code); }

int fail(ExitCode code, const std::string& message) {
  const std::string line = "semicrf: error: " + message;
  std::fprintf(stderr, "%s\n", line.c_str());
  log_fatal(message);
  return status(code);
}

int fail_by_bug(const std::exception& error) {
  return fail(ExitCode::kInternal,
              message_text(error.what()) + "; this is a bug in semicrf, please report it");
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

void set_up(CLI::App& program) {
  program.name("semicrf");
  program.formatter(std::make_shared<HelpFormat>());  // commands take it over
  program.set_version_flag("--version", "semicrf " SEMICRF_VERSION);
  program.require_subcommand(1);
  program.footer(
      "semicrf COMMAND --help describes the options of a command that most need, --help-all all of them\n"
      "and its output files.\n\n" +
      exit_code_help());
  add_count_command(program);
  add_decode_command(program);
  add_posterior_command(program);
  add_query_command(program);
  add_eval_command(program);
  add_describe_command(program);
  add_enrich_command(program);
  add_compare_command(program);
  add_reproducibility_command(program);
  add_report_command(program);
  add_train_command(program);
  add_learn_command(program);
  add_genes_command(program);
  add_train_genes_command(program);
  add_eval_genes_command(program);
  add_simulate_command(program);
  add_import_command(program);
  add_export_command(program);
  add_edit_command(program);
  add_info_command(program);
  add_bench_command(program);
  add_manual_commands(program);
  name_file_values(program);
  group_options(program);
  require_known_files(program);
  program.parse_complete_callback([&program] { check_given_values(*given_command(program).first); });
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
  const std::string help = words + (command == &program ? " --help" : " --help-all");
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

// Advice that the command can follow.
MemoryError out_of_memory(const CLI::App& command) {
  std::vector<std::string> options;
  for (const char* option : {"--max-memory", "--threads"})
    if (command.get_option_no_throw(option) != nullptr) options.emplace_back(option);
  return MemoryError({"", "", "out of memory",
                      (options.empty() ? "" : "lower " + joined(options, " or ") + ", or ") +
                          std::string("use a machine with more memory")});
}

// The words behind the program's name, from the last to the first, as CLI11 wants them. It takes "--name="
// for an option without a value, and the next word for its value: here the value is empty, which
// check_given_values() refuses.
std::vector<std::string> reversed_words(int argc, char** argv) {
  std::vector<std::string> words;
  bool may_be_option = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    may_be_option = may_be_option && word != "--";
    if (may_be_option && word.starts_with("--") && word.find('=') + 1 == word.size()) {
      words.emplace_back(word.substr(0, word.size() - 1));
      words.emplace_back();
    } else {
      words.emplace_back(word);
    }
  }
  std::ranges::reverse(words);
  return words;
}

int run(int argc, char** argv) {
  CLI::App program("Exact inference of semi-Markov conditional random fields on genome tracks.");
  set_up(program);
  if (argc <= 1) {
    std::fputs(program.help().c_str(), stderr);
    return status(ExitCode::kUsage);
  }
  try {
    program.parse(reversed_words(argc, argv));
    check_log();
    return status(ExitCode::kOk);
  } catch (const std::bad_alloc&) {
    throw out_of_memory(*given_command(program).first);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      program.exit(error, text, text);
      print(text.str());
      return status(ExitCode::kOk);
    }
    refuse_unknown_names(program);
    throw UsageError(error.what());
  }
}

// Turns whatever was thrown into a line and an exit code.
int guarded_run(int argc, char** argv) {
  try {
    install_signal_cleanup();
    constexpr std::int64_t kManyFiles = std::int64_t{1} << 20;
    allow_open_files(kManyFiles);
    return run(argc, argv);
  } catch (const ClosedPipe&) {
    return kClosedPipe;
  } catch (const Error& error) {
    if (is_told_by_another(error.code(), argc, argv)) return status(error.code());
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kOutOfMemory, kOutOfMemory);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return fail_by_bug(error);
    return fail(ExitCode::kOutOfMemory,
                "the system allows no more threads; give fewer (-t), or raise the limit "
                "on processes or memory (ulimit -u, ulimit -v)");
  } catch (const std::exception& error) {
    return fail_by_bug(error);
  }
}

// What ends the program where no catch above sees it: memory that ends before main() begins, or in a thread
// that is being started. Nothing here asks for memory.
[[noreturn]] void end_without_catch() {
  remove_temporaries();
  const auto tell = [](ExitCode code, std::string_view message) {
    for (const std::string_view part :
         {std::string_view("semicrf: error: "), message, std::string_view("\n")})
      if (write(STDERR_FILENO, part.data(), part.size()) < 0) break;
    _exit(status(code));
  };
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    tell(ExitCode::kOutOfMemory, kOutOfMemory);
  } catch (...) {
  }
  tell(ExitCode::kInternal, "an error was not caught; this is a bug in semicrf, please report it");
  std::abort();
}

// Before the constructors of global objects, which ask for memory.
[[gnu::constructor(101)]] void set_end_without_catch() { std::set_terminate(end_without_catch); }

}  // namespace
}  // namespace semicrf

int main(int argc, char** argv) {
  semicrf::reserve_standard_descriptors();
  semicrf::keep_freed_memory();
  const int exit_code = semicrf::guarded_run(argc, argv);
  semicrf::finish_ranks(exit_code);
  return exit_code;
}
