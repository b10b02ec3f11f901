// semicrf info: what is in a file; and a parameter file to start from.
#include <memory>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/logging.h"
#include "apps/print.h"
#include "core/error.h"
#include "io/params/params_write.h"
#include "pipeline/inputs/describe_input.h"

namespace semicrf {
namespace {

struct InfoArguments {
  std::string path;
  bool params_template = false;
  std::vector<std::string> labels, tracks;
};

void info(const InfoArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  if (arguments.params_template) {
    if (!arguments.path.empty())
      throw UsageError("--template does not read a file", "give only -L labels and -T tracks");
    if (arguments.labels.empty()) throw UsageError("--template needs label names", "give -L NAME,NAME");
    print(params_template(arguments.labels, arguments.tracks));
    return;
  }
  if (arguments.path.empty())
    throw UsageError("no file is given", "give a parameter file or a track, or --template");
  print(describe_input(arguments.path));
}

}  // namespace

void add_info_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "info", "Check and describe a parameter file or track, or print a template.",
      "Output: text on standard output; with --template a valid parameter file to start from (JSON).\n");
  const auto arguments = std::make_shared<InfoArguments>();
  command->add_option("FILE", arguments->path, "parameter file, bigWig file, or NPY or NPZ array");
  command->add_flag("--template", arguments->params_template,
                    "print a parameter file for these labels and tracks");
  command->add_option("-L,--labels", arguments->labels, "with --template: label names, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option(
          "-T,--tracks", arguments->tracks,
          "with --template: track names, separated by commas; without it the inputs are label scores")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->callback([arguments] { info(*arguments); });
}

}  // namespace semicrf
