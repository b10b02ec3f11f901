// semicrf info: what is in a file; and a parameter file to start from.
#include <memory>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "inputs/describe_input.h"
#include "io/params/params_json.h"
#include "model/compare.h"
#include "model/describe.h"

namespace semicrf {
namespace {

struct InfoArguments {
  UnitArguments unit;
  std::vector<std::string> paths;
  bool params_template = false, transitions = false, weights = false;
  std::vector<std::string> labels, tracks;
};

void info(const InfoArguments& arguments) {
  apply_units(arguments.unit);
  set_up_logging(Verbosity::kNormal, "");
  if (arguments.params_template) {
    if (!arguments.paths.empty())
      throw UsageError("--template does not read a file", "give only -L labels and -T tracks");
    if (arguments.labels.empty()) throw UsageError("--template needs label names", "give -L NAME,NAME");
    print(params_template(arguments.labels, arguments.tracks));
    return;
  }
  if (arguments.paths.empty())
    throw UsageError("no file is given", "give a parameter file or a track, or --template");
  const bool tables = arguments.transitions || arguments.weights;
  if (arguments.paths.size() == 2) {
    if (tables)
      throw UsageError("--transitions and --weights describe one parameter file, and two files are given");
    print(compare_parameters(read_params_json(arguments.paths[0]).parameters,
                             read_params_json(arguments.paths[1]).parameters));
    return;
  }
  if (!tables) return print(describe_input(arguments.paths.front()));
  const Parameters parameters = read_params_json(arguments.paths.front()).parameters;
  if (arguments.transitions) print(describe_transitions(parameters));
  if (arguments.transitions && arguments.weights) print("\n");
  if (arguments.weights) print(describe_weights(parameters));
}

}  // namespace

void add_info_command(CLI::App& program) {
  CLI::App* command =
      add_command(program, "info", "Check and describe a parameter file or track, or print a template.",
                  "Output: text on standard output. One file is described; of two parameter files what "
                  "differs is listed,\n"
                  "first -> second. With --template a valid parameter file to start from (JSON).\n");
  const auto arguments = std::make_shared<InfoArguments>();
  command
      ->add_option("FILE", arguments->paths,
                   "parameter file, bigWig file, track as text, or NPY or NPZ array; or two parameter files")
      ->expected(0, 2);
  command->add_flag("--transitions", arguments->transitions,
                    "print the transition scores of a parameter file with the names of the labels");
  command->add_flag("--weights", arguments->weights,
                    "print the weights of a parameter file with the names of labels and tracks");
  command->add_flag("--template", arguments->params_template,
                    "print a parameter file for these labels and tracks");
  add_list(*command, "-L,--labels", arguments->labels, "with --template: label names, separated by commas");
  add_list(*command, "-T,--tracks", arguments->tracks,
           "with --template: track names, separated by commas; without it the inputs are label scores");
  add_unit_options(*command, arguments->unit);
  command->callback([arguments] { info(*arguments); });
}

}  // namespace semicrf
