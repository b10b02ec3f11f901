// semicrf import: parameter files from the models of other programs.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/logging.h"
#include "core/error.h"
#include "io/files/output_file.h"
#include "io/models/chromhmm_model.h"
#include "io/models/segment_durations.h"
#include "io/params/params_json.h"
#include "io/params/params_write.h"
#include "model/chromhmm.h"
#include "model/fit_durations.h"

namespace semicrf {
namespace {

constexpr double kDurationShare = 0.995;  // of segments, that are no longer than the default of K

struct ImportArguments {
  std::string model, segments, output = "-";
  std::int64_t bin_size = 200;
  std::optional<int> max_duration;
};

int chosen_duration(const ImportArguments& arguments, const SegmentDurations& durations) {
  const std::int64_t most =
      std::min(kMaxDuration, kMaxDurationEntries / static_cast<std::int64_t>(durations.seen.size()));
  if (arguments.max_duration) {
    if (*arguments.max_duration > most)
      throw UsageError("--max-duration " + std::to_string(*arguments.max_duration) + " is too long for " +
                           std::to_string(durations.seen.size()) + " states",
                       "at most " + std::to_string(most) + " bins; longer segments are in the tail");
    return *arguments.max_duration;
  }
  std::vector<std::int64_t> all;
  for (const auto& list : durations.seen) all.insert(all.end(), list.begin(), list.end());
  return static_cast<int>(std::min(most, duration_quantile(std::move(all), kDurationShare)));
}

void take_durations(const ImportArguments& arguments, const ChromHmmModel& model, Parameters& parameters,
                    std::vector<Warning>& warnings) {
  const SegmentDurations durations =
      read_segment_durations(arguments.segments, parameters.labels, arguments.bin_size);
  for (std::size_t c = 0; c < parameters.labels.size(); ++c) parameters.labels[c].color = durations.color[c];
  set_explicit_durations(parameters, model, durations.seen, chosen_duration(arguments, durations), warnings);
}

void import_chromhmm(const ImportArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  if (arguments.max_duration && arguments.segments.empty())
    throw UsageError("--max-duration is for durations of a segmentation", "give it with --segments");
  std::vector<std::string> inputs{arguments.model};
  if (!arguments.segments.empty()) inputs.push_back(arguments.segments);
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}}, inputs);
  const ChromHmmModel model = read_chromhmm_model(arguments.model);
  std::vector<Warning> warnings;
  Parameters parameters = parameters_of(model, arguments.bin_size, warnings);
  if (!arguments.segments.empty()) take_durations(arguments, model, parameters, warnings);
  for (const Warning& warning : warnings) spdlog::warn("{} [{}]", warning.message, warning.code);
  parameters.training = chromhmm_record_text(model, arguments.model, arguments.segments);
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
  chromhmm->add_option("--segments", arguments->segments,
                       "segmentation (BED) made with this model: durations of segments become explicit, with "
                       "the distributions that they have there; labels get its colours (column 9)");
  chromhmm
      ->add_option("--max-duration", arguments->max_duration,
                   "with --segments: the longest duration with a score of its own, in bins; longer ones fall "
                   "geometrically (default: 99.5 % of all segments are no longer)")
      ->check(CLI::PositiveNumber);
  chromhmm->add_option("-b,--bin-size", arguments->bin_size, "bases per bin of that model")
      ->check(CLI::Range(std::int64_t{1}, kMaxBinSize))
      ->capture_default_str();
  chromhmm->add_option("-o,--output", arguments->output,
                       "parameter file to write; - for standard output (default)");
  command->require_subcommand(1);
  chromhmm->callback([arguments] { import_chromhmm(*arguments); });
}

}  // namespace semicrf
