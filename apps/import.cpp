// semicrf import: parameter files from the models of other programs.
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/logging.h"
#include "io/files/output_file.h"
#include "io/models/chromhmm_model.h"
#include "io/params/params_json.h"
#include "io/params/params_write.h"

namespace semicrf {
namespace {

struct ImportArguments {
  std::string model, output = "-";
  std::int64_t bin_size = 200;
};

void import_chromhmm(const ImportArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}}, std::vector{arguments.model});
  const ChromHmmModel model = read_chromhmm_model(arguments.model);
  std::vector<Warning> warnings;
  Parameters parameters = parameters_of(model, arguments.bin_size, warnings);
  for (const Warning& warning : warnings) spdlog::warn("{} [{}]", warning.message, warning.code);
  parameters.training = chromhmm_record_text(model, arguments.model);
  OutputFile output({arguments.output, IndexKind::kNone});
  output.write(write_params_json(parameters));
  output.commit();
}

}  // namespace

void add_import_command(CLI::App& program) {
  CLI::App* command = add_command(program, "import", "Make a parameter file of another program's model.",
                                  "Output:\n"
                                  "  -o FILE           parameter file (JSON, format 1)\n");
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* chromhmm = command->add_subcommand(
      "chromhmm", "A model of ChromHMM (model_N.txt): its tracks are 0 and 1, one value per bin.");
  chromhmm->add_option("MODEL", arguments->model, "model_N.txt as LearnModel writes it")->required();
  chromhmm->add_option("-b,--bin-size", arguments->bin_size, "bases per bin of that model")
      ->check(CLI::Range(std::int64_t{1}, kMaxBinSize))
      ->capture_default_str();
  chromhmm->add_option("-o,--output", arguments->output,
                       "parameter file to write; - for standard output (default)");
  command->require_subcommand(1);
  chromhmm->callback([arguments] { import_chromhmm(*arguments); });
}

}  // namespace semicrf
