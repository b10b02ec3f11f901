// semicrf describe: numbers about the labels of a segmentation.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "apps/options/segmentation_options.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/json/multiqc_json.h"
#include "io/params/params_json.h"
#include "io/segments/segmentation.h"
#include "segmentation/segment_counts.h"

namespace semicrf {
namespace {

struct DescribeArguments {
  std::string segments, parameters, labels, output = "-", transitions;
  MultiqcTarget multiqc;
};

std::vector<MultiqcDocument> documents(const std::string& sample, const std::vector<Label>& labels,
                                       const std::vector<DecodedLabelStats>& summary,
                                       const SegmentationFile& segmentation) {
  MultiqcSegments segments;
  segments.labels = labels;
  segments.decoded = summary;
  segments.lengths = lengths_of(segmentation);
  return multiqc_segments(sample, segments);
}

void describe(const DescribeArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  std::vector<OutputSpec> outputs{{arguments.output, IndexKind::kNone}};
  if (!arguments.transitions.empty()) outputs.push_back({arguments.transitions, IndexKind::kNone});
  const MultiqcTarget multiqc = multiqc_target(arguments.multiqc, arguments.segments);
  if (multiqc.wanted())
    for (const std::string& kind : kSegmentDocuments)
      outputs.push_back({multiqc_path(multiqc, kind), IndexKind::kNone});
  std::vector<std::string> inputs{arguments.segments};
  if (!arguments.parameters.empty()) inputs.push_back(arguments.parameters);
  if (!arguments.labels.empty())
    for (const auto& [label, path] : label_track_files(arguments.labels)) inputs.push_back(path);
  check_outputs(outputs, inputs);
  std::optional<Parameters> model;
  if (!arguments.parameters.empty()) model = read_params_json(arguments.parameters).parameters;
  SegmentationFile segmentation = read_segmentation(arguments.segments);
  std::vector<LabelTrack> tracks;
  if (!arguments.labels.empty()) {
    tracks = read_all_label_tracks(arguments.labels, segmentation);
    check_complete(arguments.labels, views_of(tracks), segmentation);
  }
  const std::vector<DecodedLabelStats> summary = summarize(segmentation, model ? &*model : nullptr, tracks);
  OutputGroup files;
  files.write(arguments.output, summary_text(summary));
  if (!arguments.transitions.empty()) files.write(arguments.transitions, transitions_text(summary));
  // In the order of the summary.
  const std::vector<Label>& labels = model ? model->labels : segmentation.labels;
  if (multiqc.wanted())
    for (const MultiqcDocument& document : documents(multiqc.sample, labels, summary, segmentation))
      files.write(multiqc_path(multiqc, document.kind), document.text);
  files.commit();
}

}  // namespace

void add_describe_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "describe", "Count the segments of a segmentation: bases, lengths and transitions by label.",
      "Outputs:\n"
      "  -o FILE             a line per label, tab-separated; . for what is not known: at_cap and in_tail "
      "need\n"
      "                      -p, posterior column 5 (over 1000) or --labels, entropy --labels. Columns:\n" +
          columns_help(22, 11, {{"label", "name of the label"}}, label_statistics()) +
          "  --transitions FILE  how often each label follows each other without a gap, from rows to "
          "columns\n" +
          multiqc_help());
  const auto arguments = std::make_shared<DescribeArguments>();
  command->add_option("SEGMENTS", arguments->segments, "BED or bigBed file with labels in column 4")
      ->required();
  command->add_option("-p,--params", arguments->parameters,
                      "parameters that the segmentation was made with: give the order of the labels, and K");
  command
      ->add_option("--labels", arguments->labels,
                   "prefix of label posteriors (posterior --labels-out PREFIX): the column posterior is "
                   "then their mean, not that of column 5, and the column entropy is filled")
      ->type_name("PREFIX");
  command->add_option("-o,--output", arguments->output, "table to write; - for standard output (default)");
  command->add_option("--transitions", arguments->transitions, "table of transitions to write");
  add_multiqc_options(*command, arguments->multiqc);
  command->callback([arguments] { describe(*arguments); });
}

}  // namespace semicrf
