// semicrf import: parameter files from the models of other programs.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "io/files/output_file.h"
#include "io/models/chromhmm_model.h"
#include "io/models/segway_model.h"
#include "io/params/params_json.h"
#include "io/segments/segmentation.h"
#include "log/log.h"
#include "model/durations/duration_kinds.h"
#include "model/exchange/chromhmm.h"
#include "model/exchange/hidden_markov.h"
#include "model/exchange/segway.h"

namespace semicrf {
namespace {

constexpr double kDurationShare = 0.995;  // share of segments that are no longer than the default of K

struct ImportArguments {
  std::string model, segments, output = "-";
  std::int64_t bin_size = 1;
  std::optional<int> max_duration;
  std::optional<std::int64_t> min_duration;
  std::string distribution;  // distribution of Segway; empty: not given
};

// The longest that a table of durations may be, in bins. UsageError where `given` is longer.
std::int64_t longest_table(std::size_t labels, const std::string& option, std::int64_t given) {
  const std::int64_t most =
      std::min<std::int64_t>(kMaxDuration, kMaxDurationEntries / static_cast<std::int64_t>(labels));
  if (given > most)
    throw UsageError(fmt::format("{} {} is too long for {} states", option, given, labels),
                     fmt::format("at most {} bins; longer segments are in the tail", most));
  return most;
}

int chosen_duration(const ImportArguments& arguments, const SegmentDurations& durations) {
  const std::int64_t most =
      longest_table(durations.seen.size(), "--max-duration", arguments.max_duration.value_or(1));
  if (arguments.max_duration) return *arguments.max_duration;
  std::vector<std::int64_t> all;
  for (const auto& list : durations.seen) all.insert(all.end(), list.begin(), list.end());
  return static_cast<int>(std::min(most, duration_quantile(std::move(all), kDurationShare)));
}

// `transition`: of the model, from bin to bin.
void take_durations(const ImportArguments& arguments, std::span<const double> transition,
                    Parameters& parameters, std::vector<Warning>& warnings) {
  const SegmentDurations durations =
      read_segment_durations(arguments.segments, parameters.labels, arguments.bin_size);
  for (std::size_t c = 0; c < parameters.labels.size(); ++c) parameters.labels[c].color = durations.color[c];
  set_explicit_durations(parameters, transition, durations.seen, chosen_duration(arguments, durations),
                         warnings);
}

void check_arguments(const ImportArguments& arguments) {
  if (arguments.max_duration && arguments.segments.empty())
    throw UsageError("--max-duration is for durations of a segmentation", "give it with --segments");
  if (arguments.min_duration && !arguments.segments.empty())
    throw UsageError("--min-duration and --segments both say how long segments are", "give one of these");
  std::vector<std::string> inputs{arguments.model};
  if (!arguments.segments.empty()) inputs.push_back(arguments.segments);
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}}, inputs);
}

void write_imported(const ImportArguments& arguments, const Parameters& parameters,
                    const std::vector<Warning>& warnings) {
  for (const Warning& warning : warnings) log_warning(warning);
  write_whole_output(arguments.output, write_params_json(parameters, arguments.model));
}

void import_chromhmm(const ImportArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_arguments(arguments);
  const ChromHmmModel model = read_chromhmm_model(arguments.model);
  std::vector<Warning> warnings;
  Parameters parameters = parameters_of(model, arguments.bin_size, warnings);
  if (!arguments.segments.empty()) {
    take_durations(arguments, model.transition, parameters, warnings);
  } else {
    parameters.rule = PathRule::kPosterior;  // ChromHMM's own
  }
  parameters.training = chromhmm_record_text(model, arguments.model, arguments.segments);
  write_imported(arguments, parameters, warnings);
}

void import_segway(const ImportArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_arguments(arguments);
  std::vector<Warning> warnings;
  const SegwayModel model = read_segway_model(arguments.model, warnings);
  if (!arguments.segments.empty() && model.subsegs > 1)
    throw UsageError(fmt::format("--segments cannot be used with this model: it has {} sub-labels of each "
                                 "label, and a segmentation has the durations of labels only",
                                 model.subsegs),
                     "leave it out");
  longest_table(model.states(), "--min-duration", arguments.min_duration.value_or(1));
  SegwayOptions options{arguments.bin_size, arguments.min_duration, std::nullopt};
  if (!arguments.distribution.empty()) options.asinh = arguments.distribution == "asinh_norm";
  if (!arguments.segments.empty()) options.min_duration = 1;  // durations are said
  Parameters parameters = parameters_of(model, options, warnings);
  if (!arguments.segments.empty()) take_durations(arguments, frame_transitions(model), parameters, warnings);
  parameters.training = segway_record_text(arguments.model, arguments.segments, arguments.bin_size);
  write_imported(arguments, parameters, warnings);
}

// --segments, --max-duration, -b and -o.
void add_import_options(CLI::App& command, const std::shared_ptr<ImportArguments>& arguments,
                        const std::string& bin_size) {
  command.add_option("--segments", arguments->segments,
                     "segmentation (BED) made with this model: durations of segments become explicit, with "
                     "the distributions that they have there; labels get its colours (column 9)");
  command
      .add_option("--max-duration", arguments->max_duration,
                  "with --segments: the longest duration with a score of its own, in bins; longer ones fall "
                  "geometrically (default: 99.5 % of all segments are no longer)")
      ->check(CLI::PositiveNumber);
  add_number(command, "-b,--bin-size", arguments->bin_size, bin_size,
             CLI::Range(std::int64_t{1}, kMaxBinSize));
  command.add_option("-o,--output", arguments->output,
                     "parameter file to write; - for standard output (default)");
}

}  // namespace

void add_import_command(CLI::App& program) {
  CLI::App* command =
      add_command(program, "import", "Convert a model of another program to a parameter file.",
                  "Output:\n"
                  "  -o FILE           parameter file (JSON, format 1)\n");
  const auto of_chromhmm = std::make_shared<ImportArguments>();
  CLI::App* chromhmm = command->add_subcommand(
      "chromhmm", "A model of ChromHMM (model_N.txt): its tracks are 0 and 1, one value per bin.");
  of_chromhmm->bin_size = 200;
  chromhmm->add_option("MODEL", of_chromhmm->model, "model_N.txt as LearnModel writes it")->required();
  add_import_options(*chromhmm, of_chromhmm, "bases per bin of that model");
  chromhmm->callback([of_chromhmm] { import_chromhmm(*of_chromhmm); });

  const auto of_segway = std::make_shared<ImportArguments>();
  CLI::App* segway = command->add_subcommand(
      "segway", "A model of Segway (params.params): normal distributions of the tracks or of their asinh.");
  of_segway->bin_size = 1;
  segway->add_option("MODEL", of_segway->model, "params.params as `segway train` writes it")->required();
  add_import_options(*segway, of_segway, "bases per bin: Segway's --resolution");
  segway
      ->add_option("--min-duration", of_segway->min_duration,
                   "shortest segments of every label, in bins (default: 1)")
      ->check(CLI::PositiveNumber);
  add_choice(*segway, "--distribution", of_segway->distribution,
             "Segway's --distribution, for files of older versions that do not say it (default: asinh_norm)",
             {"asinh_norm", "norm"});
  segway->callback([of_segway] { import_segway(*of_segway); });
  command->require_subcommand(1);
}

}  // namespace semicrf
