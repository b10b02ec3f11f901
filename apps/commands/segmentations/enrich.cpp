// semicrf enrich: labels against annotation.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "apps/options/segmentation_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "draw/heat_map.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/segments/segmentation.h"
#include "log/log.h"
#include "segmentation/annotation.h"
#include "segmentation/enrichment.h"

namespace semicrf {
namespace {

struct EnrichArguments {
  std::string segments;
  std::vector<std::string> annotations, order;
  std::string labels, output = "-", picture, scale = "column", rows = "natural", around;
  bool centres = false, by_name = false;
  Surroundings surroundings;
  InputOptions input;  // its regions alone
};

// The segments, and what the regions leave of them, which is counted; checks ask for the whole.
struct Segments {
  SegmentationFile whole;
  std::optional<SegmentationFile> left;  // where there are regions

  const SegmentationFile& counted() const { return left ? *left : whole; }
};

// Labels in the order of the rows.
std::vector<std::size_t> row_order(const EnrichArguments& arguments, const SegmentationFile& segmentation) {
  std::vector<std::size_t> order;
  if (arguments.order.empty()) {
    for (std::size_t c = 0; c < segmentation.labels.size(); ++c) order.push_back(c);
    if (arguments.rows != "bases") return order;
    std::vector<std::int64_t> bases(order.size());
    for (const SegmentedChromosome& chromosome : segmentation.chromosomes)
      for (const LabelledSegment& segment : chromosome.segments) bases[segment.label] += segment.size();
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return bases[a] > bases[b]; });
    return order;
  }
  for (const std::string& name : arguments.order) {
    const auto found = std::ranges::find(segmentation.labels, name, &Label::name);
    if (found == segmentation.labels.end())
      throw UsageError("--order: the segmentation has no label '" + name + "'");
    const std::size_t place = found - segmentation.labels.begin();
    if (std::ranges::find(order, place) != order.end())
      throw UsageError("--order names '" + name + "' twice");
    order.push_back(place);
  }
  return order;
}

HeatScale scale_of(const std::string& name) {
  return name == "column" ? HeatScale::kColumn : name == "common" ? HeatScale::kCommon : HeatScale::kLog;
}

std::vector<Annotation> annotations_of(const EnrichArguments& arguments, const std::string& argument) {
  const BedPoints points = arguments.centres ? BedPoints::kAllowed : BedPoints::kRefused;
  if (arguments.by_name) {
    return read_named_annotations(argument, points, arguments.annotations.size() > 1);
  }
  return {read_annotation(argument, points)};
}

void warn_of_outside(const Annotation& annotation, const SegmentationFile& segmentation,
                     RepeatedWarnings& warnings) {
  if (const std::string text = outside_text(annotation, segmentation); !text.empty())
    warnings.add({"annotation-outside", text, annotation.name});
}

struct Results {
  std::string table;
  HeatMap map;
};

void enrich_overlaps(const EnrichArguments& arguments, const Segments& segments,
                     const std::vector<LabelTrack>& tracks, const std::vector<std::size_t>& order,
                     Results& results) {
  const StatisticList<Overlap> numbers = overlap_statistics();
  results.table = "label\tannotation" + tabbed_names(numbers) + "\n";
  results.map.column_title = arguments.centres ? "centres of" : "bases of";
  std::vector<std::vector<Overlap>> columns;
  std::set<std::string> names;
  RepeatedWarnings warnings;
  ElsewhereCount elsewhere;
  const SegmentationFile& segmentation = segments.whole;
  for (const std::string& argument : arguments.annotations) {
    std::vector<Annotation> annotations = annotations_of(arguments, argument);
    require_common_chromosome(annotations, argument, segmentation);
    for (Annotation& annotation : annotations) {
      elsewhere.add(annotation, segmentation);
      if (arguments.centres) {
        take_centres(annotation);
      } else {
        merge_overlaps(annotation);
      }
      warn_of_outside(annotation, segmentation, warnings);
      const std::string names_taken = arguments.by_name ? "" : names_text(annotation);
      if (!names_taken.empty()) warnings.add({"annotation-names", names_taken, annotation.name});
      const std::string covers = arguments.centres ? "" : covers_text(annotation);
      if (!covers.empty()) warnings.add({"annotation-covers", covers, annotation.name});
      if (!names.insert(annotation.name).second)
        throw UsageError("two annotations are named '" + annotation.name + "'", "name the files: NAME=PATH");
      results.map.columns.push_back(annotation.name);
      columns.push_back(overlaps(segments.counted(), annotation, tracks));
      for (const std::size_t label : order)
        results.table += escape_control(segmentation.labels[label].name) + "\t" +
                         escape_control(annotation.name) + tabbed_values(numbers, columns.back()[label]) +
                         "\n";
    }
  }
  warnings.tell();
  if (const auto warning = elsewhere.warning()) log_warning(*warning);
  for (const std::size_t label : order)
    for (const std::vector<Overlap>& column : columns) results.map.values.push_back(column[label].fold());
}

void enrich_surroundings(const EnrichArguments& arguments, const Segments& segments,
                         const std::vector<LabelTrack>& tracks, const std::vector<std::size_t>& order,
                         Results& results) {
  const Surroundings& surroundings = arguments.surroundings;
  const SegmentationFile& segmentation = segments.whole;
  Annotation anchors = read_annotation(arguments.annotations.front(), BedPoints::kAllowed);
  require_common_chromosome({&anchors, 1}, arguments.annotations.front(), segmentation);
  ElsewhereCount elsewhere;
  elsewhere.add(anchors, segmentation);
  if (const auto warning = elsewhere.warning()) log_warning(*warning);
  const Anchor anchor = arguments.around == "start"    ? Anchor::kStart
                        : arguments.around == "centre" ? Anchor::kCentre
                                                       : Anchor::kEnd;
  take_anchors(anchors, anchor);
  RepeatedWarnings warnings;
  warn_of_outside(anchors, segmentation, warnings);
  warnings.tell();
  const std::vector<Overlap> found = neighbourhood(segments.counted(), anchors, surroundings, tracks);
  const auto positions = static_cast<std::size_t>(surroundings.positions());
  const StatisticList<Overlap> numbers = overlap_statistics("anchors");
  results.table = "label\tdistance" + tabbed_names(numbers) + "\n";
  results.map.column_title = "bases from the " + arguments.around + " of " + anchors.name;
  for (std::size_t p = 0; p < positions; ++p)
    results.map.columns.push_back(
        fmt::format("{}", (static_cast<std::int64_t>(p) - surroundings.upstream) * surroundings.step));
  for (const std::size_t label : order)
    for (std::size_t p = 0; p < positions; ++p) {
      const Overlap& overlap = found[label * positions + p];
      results.table += escape_control(segmentation.labels[label].name) + "\t" + results.map.columns[p] +
                       tabbed_values(numbers, overlap) + "\n";
      results.map.values.push_back(overlap.fold());
    }
}

void check_arguments(const EnrichArguments& arguments) {
  const bool around = !arguments.around.empty();
  if (around && arguments.annotations.size() != 1)
    throw UsageError(
        fmt::format("--around is for one annotation, and {} are given", arguments.annotations.size()),
        "run it once for each");
  if (around && (arguments.centres || arguments.by_name))
    throw UsageError("--around cannot be given with --centres or --by-name");
  std::vector<OutputSpec> outputs{{arguments.output, IndexKind::kNone}};
  if (!arguments.picture.empty()) outputs.push_back({arguments.picture, IndexKind::kNone});
  std::vector<std::string> inputs{arguments.segments};
  for (const std::string& argument : arguments.annotations) inputs.push_back(path_of_argument(argument));
  for (const std::string& path : {arguments.input.regions_file, arguments.input.exclude_file})
    if (!path.empty()) inputs.push_back(path);
  if (!arguments.labels.empty())
    for (const auto& [label, path] : label_track_files(arguments.labels)) inputs.push_back(path);
  check_outputs(outputs, inputs);
}

void enrich(const EnrichArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_arguments(arguments);
  Segments segments{read_segmentation(arguments.segments), {}};
  SegmentationFile& segmentation = segments.whole;
  std::vector<LabelTrack> tracks;
  if (!arguments.labels.empty()) {
    tracks = read_all_label_tracks(arguments.labels, segmentation);
    check_complete(arguments.labels, views_of(tracks), segmentation);
  }
  segments.left = segments_within(segments.whole, arguments.input);
  const std::vector<std::size_t> order = row_order(arguments, segments.counted());
  Results results;
  results.map.title = "Fold enrichment, " + segmentation.path.substr(segmentation.path.rfind('/') + 1) +
                      (!arguments.order.empty()    ? "; rows in the given order"
                       : arguments.rows == "bases" ? "; rows by bases, most first"
                                                   : "; rows by name");
  results.map.scale = scale_of(arguments.scale);
  for (const std::size_t label : order) results.map.rows.push_back(segmentation.labels[label].name);
  if (arguments.around.empty()) {
    enrich_overlaps(arguments, segments, tracks, order, results);
  } else {
    enrich_surroundings(arguments, segments, tracks, order, results);
  }
  write_whole_output(arguments.output, results.table);
  if (!arguments.picture.empty()) write_whole_output(arguments.picture, heat_map_picture(results.map));
}

}  // namespace

void add_enrich_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "enrich", "Compute how much more often than by chance labels lie on annotation.",
      "fold = (C/A) / (B/D): A bases of the label, B of the annotation, C of both, D of all segments; what "
      "lies\n"
      "outside all segments does not count. Intervals of an annotation that overlap count once.\n\n"
      "Outputs:\n"
      "  -o FILE     a line per label and annotation, tab-separated: label, annotation, A, B, C, D, fold (. "
      "where\n"
      "              A or B is 0); with --around per label and distance\n"
      "  --svg FILE  the folds as a picture, which says what its colours mean\n");
  const auto arguments = std::make_shared<EnrichArguments>();
  command->add_option("SEGMENTS", arguments->segments, "BED or bigBed file with labels in column 4")
      ->required();
  command
      ->add_option("ANNOTATION", arguments->annotations,
                   "one or more [name=]PATH of BED or bigBed files, in any order")
      ->required();
  command->add_flag("--centres", arguments->centres,
                    "count centres of intervals in place of their bases: B and C are numbers of centres");
  command->add_flag("--by-name", arguments->by_name,
                    "every name in column 4 of a file is an annotation of its own");
  command
      ->add_option(
          "--labels", arguments->labels,
          "prefix of label posteriors (posterior --labels-out PREFIX): A and C are expected bases, "
          "the sums of P(label), in place of those of segments; with --centres and --around C is the "
          "expected number of centres or anchors")
      ->type_name("PREFIX");
  add_choice(*command, "--around", arguments->around,
             "labels at distances from one base of each interval of one annotation: start, centre or end, in "
             "the direction of its strand (column 6)",
             {"start", "centre", "end"});
  const auto positive = CLI::Range(std::int64_t{1}, std::int64_t{1} << 40);
  add_number(*command, "--step", arguments->surroundings.step,
             "--around: bases from one distance to the next", positive);
  add_number(*command, "--upstream", arguments->surroundings.upstream, "--around: distances before",
             CLI::Range(0, 10000));
  add_number(*command, "--downstream", arguments->surroundings.downstream, "--around: distances behind",
             CLI::Range(0, 10000));
  add_choice(*command, "--rows", arguments->rows,
             "order of labels: natural (E2 before E10) or bases (most first)", {"natural", "bases"});
  add_list(*command, "--order", arguments->order, "these labels in this order; a list separated by commas");
  add_choice(*command, "--scale", arguments->scale,
             "colours of --svg: column (each column from 0 to its largest fold), common (all from 0 to the\n"
             "largest) or log (log2, white at 1)",
             {"column", "common", "log"});
  add_region_options(*command, arguments->input, "region to count");
  command->add_option("-o,--output", arguments->output, "table to write; - for standard output (default)");
  command->add_option("--svg", arguments->picture, "picture to write");
  command->callback([arguments] { enrich(*arguments); });
}

}  // namespace semicrf
