// semicrf export: models of other programs from parameter files.

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "io/files/output_file.h"
#include "io/models/chromhmm_model.h"
#include "io/params/params_json.h"
#include "log/log.h"
#include "model/exchange/chromhmm.h"

namespace semicrf {
namespace {

struct ExportArguments {
  std::string parameters, output = "-";
};

void export_chromhmm(const ExportArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}},
                std::vector{arguments.parameters});
  const Parameters parameters = read_params_json(arguments.parameters).parameters;
  std::vector<Warning> warnings;
  ChromHmmModel model = chromhmm_model_of(parameters, arguments.parameters, warnings);
  take_chromhmm_record(parameters.training, model);
  for (const Warning& warning : warnings) log_warning(warning);
  write_whole_output(arguments.output, chromhmm_model_text(model));
}

}  // namespace

void add_export_command(CLI::App& program) {
  CLI::App* command =
      add_command(program, "export", "Convert a parameter file to a model of another program.",
                  "Output:\n"
                  "  -o FILE           model of that program\n");
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* chromhmm = command->add_subcommand(
      "chromhmm",
      "A model of ChromHMM (model_N.txt): for hidden Markov models of 0/1 tracks, without explicit "
      "durations.");
  chromhmm->add_option("FILE", arguments->parameters, "parameter file")->required();
  chromhmm->add_option("-o,--output", arguments->output, "model to write; - for standard output (default)");
  command->require_subcommand(1);
  chromhmm->callback([arguments] { export_chromhmm(*arguments); });
}

}  // namespace semicrf
