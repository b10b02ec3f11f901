// semicrf edit: a parameter file changed by hand, without editing JSON.
#include "model/edit.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "io/files/output_file.h"
#include "io/params/params_json.h"
#include "io/params/training_record.h"
#include "io/text/palette.h"
#include "log/log.h"

namespace semicrf {
namespace {

struct EditArguments {
  std::string input, output = "-";
  std::vector<std::string> forbid, minimum, duration, rename, rename_label, color;
  std::string label_order;
  std::string drop_prefix;
  std::optional<double> scale;
};

// "A,B" as two labels. Names may have commas: the first one that leaves two names counts.
std::pair<int, int> parse_pair(const Parameters& parameters, const std::string& text) {
  const auto is_label = [&](const std::string& name) {
    return std::ranges::any_of(parameters.labels, [&](const Label& label) { return label.name == name; });
  };
  std::size_t comma = text.find(',');
  if (comma == std::string::npos)
    throw UsageError("--forbid: '" + text + "' is not two labels", "write FROM,TO, such as E2,E10");
  for (std::size_t at = comma; at != std::string::npos; at = text.find(',', at + 1)) {
    if (!is_label(text.substr(0, at)) || !is_label(text.substr(at + 1))) continue;
    comma = at;
    break;
  }
  return {label_index(parameters, text.substr(0, comma)), label_index(parameters, text.substr(comma + 1))};
}

// "LABEL=VALUE"; the label's index and the value.
std::pair<int, std::string> parse_assignment(const Parameters& parameters, const std::string& option,
                                             const std::string& text) {
  for (const Label& label : parameters.labels)
    if (text.starts_with(label.name + "="))
      return {label_index(parameters, label.name), text.substr(label.name.size() + 1)};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw UsageError(option + ": '" + text + "' is not LABEL=VALUE", "write for example E4=3");
  return {label_index(parameters, text.substr(0, equals)), text.substr(equals + 1)};
}

std::int64_t parse_bins(const std::string& text) {
  const auto bins = number_in<std::int64_t>(text);
  if (!bins)
    throw UsageError("--min-duration: '" + text + "' is not a number of bins", "write for example E4=3");
  return *bins;
}

// "OLD=NEW" of labels of the file.
LabelNames label_names(const Parameters& parameters, const std::vector<std::string>& texts) {
  LabelNames names;
  for (const std::string& text : texts) {
    const auto [label, name] = parse_assignment(parameters, "--rename-label", text);
    names.emplace_back(parameters.labels[label].name, name);
  }
  return names;
}

void warn_of_columns(const Parameters& parameters) {
  if (parameters.emission) return;
  log_warning({"label-columns",
               "the inputs of this model are scores of its labels: arrays must have their "
               "columns in the order of the labels, which is now " +
                   few_of(names_of(parameters.labels), 20)});
}

// Names first, so that the other options have the new ones.
void edit_labels(const EditArguments& arguments, Parameters& parameters, std::vector<std::string>& edits) {
  const LabelNames names = label_names(parameters, arguments.rename_label);
  rename_labels(parameters, names);
  parameters.training = training_with_label_names(parameters.training, names);
  for (const std::string& text : arguments.rename_label) edits.push_back("--rename-label " + text);
  for (const std::string& text : arguments.color) {
    const auto [label, value] = parse_assignment(parameters, "--color", text);
    const auto color = color_in(value);
    if (!color)
      throw UsageError("--color: '" + value + "' in '" + text + "' is not a color",
                       "write # and six hexadecimal digits, such as E4=#ff8000");
    parameters.labels[label].color = color;
    edits.push_back("--color " + text);
  }
  if (arguments.label_order.empty()) return;
  reorder_labels(parameters, parse_label_order(parameters, arguments.label_order));
  edits.push_back("--label-order " + arguments.label_order);
  warn_of_columns(parameters);
}

void edit(const EditArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  if (arguments.forbid.empty() && arguments.minimum.empty() && arguments.duration.empty() &&
      arguments.rename.empty() && arguments.drop_prefix.empty() && arguments.rename_label.empty() &&
      arguments.color.empty() && arguments.label_order.empty())
    throw UsageError("nothing to change",
                     "give --rename-label, --color, --label-order, --forbid, --min-duration, --duration, "
                     "--rename-track or --drop-track-prefix");
  check_outputs(std::vector<OutputSpec>{{arguments.output, IndexKind::kNone}}, std::vector{arguments.input});
  Parameters parameters = read_params_json(arguments.input).parameters;
  std::vector<std::string> edits;
  edit_labels(arguments, parameters, edits);
  for (const std::string& text : arguments.forbid) {
    const auto [from, to] = parse_pair(parameters, text);
    forbid_transition(parameters, from, to);
    edits.push_back("--forbid " + text);
  }
  const double scale = arguments.scale.value_or(training_facts(parameters).scale.value_or(1));
  for (const std::string& text : arguments.duration) {
    const auto [label, law] = parse_assignment(parameters, "--duration", text);
    set_duration_law(parameters, label, parse_duration_law(law), scale);
    edits.push_back("--duration " + text);
  }
  for (const std::string& text : arguments.minimum) {
    const auto [label, bins] = parse_assignment(parameters, "--min-duration", text);
    set_minimum_duration(parameters, label, parse_bins(bins));
    edits.push_back("--min-duration " + text);
  }
  for (const std::string& text : arguments.rename) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      throw UsageError("--rename-track: '" + text + "' is not OLD=NEW", "write for example K562.CTCF=CTCF");
    rename_track(parameters, text.substr(0, equals), text.substr(equals + 1));
    edits.push_back("--rename-track " + text);
  }
  if (!arguments.drop_prefix.empty()) {
    drop_track_prefix(parameters, arguments.drop_prefix);
    edits.push_back("--drop-track-prefix " + arguments.drop_prefix);
  }
  parameters.training = training_with_edits(parameters.training, edits);
  write_whole_output(arguments.output, write_params_json(parameters));
}

}  // namespace

void add_edit_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "edit", "Change transitions, durations, labels and names of tracks of a parameter file.",
      "Output:\n"
      "  -o FILE           parameter file (JSON, format 1); its `training` section lists the edits\n");
  const auto arguments = std::make_shared<EditArguments>();
  command->add_option("FILE", arguments->input, "parameter file to change; it is not overwritten")
      ->required();
  add_repeatable(*command, "--rename-label", arguments->rename_label,
                 "OLD=NEW: another name for a label; all at once, so that A=B with B=A exchanges two names. "
                 "The other options take the new names")
      ->type_name("OLD=NEW");
  add_repeatable(*command, "--color", arguments->color, "LABEL=#rrggbb: the colour of a label in outputs")
      ->type_name("LABEL=COLOR");
  command
      ->add_option("--label-order", arguments->label_order,
                   "all labels in another order, with commas between them, such as E2,E1,E3: rows of tables "
                   "and pictures, and columns of arrays of label scores, follow it")
      ->type_name("LABELS");
  add_repeatable(*command, "--forbid", arguments->forbid, "FROM,TO: label TO never follows label FROM")
      ->type_name("FROM,TO");
  add_repeatable(*command, "--min-duration", arguments->minimum,
                 "LABEL=BINS: segments of this label are at least this long; done after --duration")
      ->type_name("LABEL=BINS");
  add_repeatable(*command, "--duration", arguments->duration,
                 "LABEL=KIND:NAME=VALUE,...: a law of durations for this label, in bins: geometric:mean=20,"
                 " negative_binomial:r=2,mean=12, poisson:mean=30 or uniform")
      ->type_name("LABEL=LAW");
  add_repeatable(*command, "--rename-track", arguments->rename, "OLD=NEW: another name for a track")
      ->type_name("OLD=NEW");
  command
      ->add_option("--drop-track-prefix", arguments->drop_prefix,
                   "remove this text, such as GM12878., from the beginning of all track names")
      ->type_name("START");
  command
      ->add_option("--scale", arguments->scale,
                   "multiply the logarithms of --duration by this (default: the calibration factor in the"
                   " file's training section, or 1)")
      ->check(CLI::PositiveNumber);
  command->add_option("-o,--output", arguments->output,
                      "parameter file to write; - for standard output (default)");
  command->callback([arguments] { edit(*arguments); });
}

}  // namespace semicrf
