// The program: command line in, exit code out.
#include <cstdio>
#include <exception>
#include <new>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/logging.h"
#include "core/error.h"
#include "io/files/output_file.h"
#include "io/files/temporary_names.h"

namespace semicrf {
namespace {

constexpr int kClosedPipe = 141;

int fail(ExitCode code, const std::string& message) {
  const std::string line = "semicrf: error: " + message;
  std::fprintf(stderr, "%s\n", line.c_str());
  log_fatal(message);
  return static_cast<int>(code);
}

void set_up(CLI::App& program) {
  program.name("semicrf");
  program.set_version_flag("--version", "semicrf " SEMICRF_VERSION);
  program.require_subcommand(1);
  program.footer(exit_code_help() + "\nsemicrf COMMAND --help tells a command's options and output files.");
  add_decode_command(program);
  add_posterior_command(program);
  add_eval_command(program);
  add_train_command(program);
  add_simulate_command(program);
  add_info_command(program);
  add_bench_command(program);
}

int run(int argc, char** argv) {
  CLI::App program("Exact semi-Markov CRF inference on genome tracks.");
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
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kOutOfMemory,
                "out of memory; lower --max-memory or --threads, or use a larger machine");
  } catch (const std::exception& error) {
    return fail(ExitCode::kInternal, escape_control(error.what()) + "; this is a bug, please report it");
  }
}

}  // namespace
}  // namespace semicrf

int main(int argc, char** argv) { return semicrf::guarded_run(argc, argv); }
