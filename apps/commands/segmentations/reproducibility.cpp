// semicrf reproducibility: what a replicate reproduces of a segmentation.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "apps/options/segmentation_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "draw/reliability_picture.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/json/multiqc_json.h"
#include "io/segments/segment_reader.h"
#include "log/log.h"
#include "segmentation/agreement.h"
#include "segmentation/difference_files.h"
#include "segmentation/reproducibility_files.h"

namespace semicrf {
namespace {

const std::map<std::string, MatchRule> kRules = {
    {"best", MatchRule::kBest}, {"pairs", MatchRule::kPairs}, {"names", MatchRule::kNames}};

constexpr std::int64_t kLargestDistance = 1000000000000;  // bases

struct ReproducibilityArguments {
  std::vector<std::string> segments, labels;
  std::string match = "best";
  std::string output = "-", curves, granularity, picture, chrom_sizes;
  RValueFiles tracks;
  MultiqcTarget multiqc;
  InputOptions input;  // its regions alone
  ReproducibilityOptions options;
};

void check_arguments(const ReproducibilityArguments& arguments, const MultiqcTarget& multiqc) {
  if (arguments.segments.size() != 2)
    throw UsageError(plural(arguments.segments.size(), "segmentation") + " given",
                     "give two: the one to judge, A, and its replicate, B");
  if (arguments.labels.size() > 2)
    throw UsageError(fmt::format("--labels is given {} times", arguments.labels.size()),
                     "give it once, for A, or twice, for A and B");
  std::vector<OutputSpec> outputs{{arguments.output, IndexKind::kNone}};
  for (const std::string& path : {arguments.curves, arguments.granularity, arguments.picture,
                                  arguments.tracks.r_values, arguments.tracks.confident})
    if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
  if (multiqc.wanted())
    for (const std::string& kind : kReproducibilityDocuments)
      outputs.push_back({multiqc_path(multiqc, kind), IndexKind::kNone});
  std::vector<std::string> inputs;
  for (const std::string& argument : arguments.segments) inputs.push_back(path_of_argument(argument));
  for (const std::string& prefix : arguments.labels)
    for (const auto& [label, path] : label_track_files(prefix)) inputs.push_back(path);
  for (const std::string& path :
       {arguments.chrom_sizes, arguments.input.regions_file, arguments.input.exclude_file})
    if (!path.empty()) inputs.push_back(path);
  check_outputs(outputs, inputs);
}

void tell_what_is_missing(const std::vector<Sample>& replicates, const ReproducibilityArguments& arguments,
                          const Reproducibility& found) {
  if (const std::vector<std::string> partial = partial_chromosomes(replicates); !partial.empty())
    log_warning({"chromosomes-differ",
                 "chromosomes that not both have, and that do not count: " + few_of(partial, 5)});
  if (found.without_posterior > 0)
    log_warning({"no-posterior",
                 fmt::format("{} has no value on {} of the {} bases that both have; they get no r-value",
                             arguments.options.labels, found.without_posterior, found.pairs.common)});
}

MultiqcReproducibility multiqc_numbers(const Reproducibility& found) {
  const LabelReproducibility& all = found.labels.back();
  MultiqcReproducibility numbers;
  for (const std::string_view name : kMultiqcReproducibility)
    numbers.numbers.push_back(multiqc_number(reproducibility_statistics(), name, all));
  for (const LabelReproducibility& label : found.labels)
    if (&label != &all) numbers.labels.push_back({label.label, label.match, label.reproduced});
  return numbers;
}

void reproducibility(ReproducibilityArguments arguments) {
  set_up_logging(Verbosity::kNormal, "");
  const MultiqcTarget multiqc =
      multiqc_target(arguments.multiqc, path_of_argument(arguments.segments.front()));
  check_arguments(arguments, multiqc);
  ReproducibilityOptions& options = arguments.options;
  options.match = kRules.at(arguments.match);
  options.labels = arguments.labels.front();
  if (arguments.labels.size() > 1) options.second_labels = arguments.labels.back();
  const std::vector<Sample> replicates = read_samples(arguments.segments);
  require_one_genome(replicates);
  std::vector<Chromosome> listed;
  if (is_indexed_name(arguments.tracks.r_values))
    listed = listed_chromosomes(replicates, arguments.chrom_sizes, arguments.tracks.r_values);
  const std::optional<SegmentationFile> within = segments_within(replicates[0].segmentation, arguments.input);
  const SegmentationFile& first = within ? *within : replicates[0].segmentation;
  const Reproducibility found = measure_reproducibility(first, replicates[1].segmentation, options);
  tell_what_is_missing(replicates, arguments, found);
  OutputGroup files;
  files.write(arguments.output, reproducibility_text(found));
  if (!arguments.curves.empty()) files.write(arguments.curves, curves_text(found));
  if (!arguments.granularity.empty()) files.write(arguments.granularity, granularity_text(found));
  if (!arguments.picture.empty())
    files.write(arguments.picture,
                reliability_picture("Reliability of r-values on blocks left out of the fit",
                                    {{"bases that are reproduced", &found.held_out}}));
  if (multiqc.wanted())
    for (const MultiqcDocument& document : multiqc_reproducibility(multiqc.sample, multiqc_numbers(found)))
      files.write(multiqc_path(multiqc, document.kind), document.text);
  write_r_values(files, arguments.tracks, first, options, found.curves, listed);
  files.commit();
}

}  // namespace

void add_reproducibility_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "reproducibility", "Judge a segmentation by a replicate: r-values of its labels and bases.",
      "A base of A is reproduced where a base of B within --tolerance has the label that stands for its\n"
      "own. Its r-value is the share of reproduced bases among those with its label and posterior.\n\n"
      "Outputs:\n"
      "  -o FILE               a line per label of A, tab-separated; . for what is not known. Columns:\n" +
          columns_help(24, 21,
                       {{"label", "name of the label; . in the last line: all together"},
                        {"match", "label of B that stands for it; . for none"}},
                       reproducibility_statistics()) +
          "  --r-values FILE       bedGraph: the r-value of every base of A; bigWig when FILE ends in .bw\n"
          "  --confident FILE      BED: the stretches of A's segments with an r-value of --level or more;\n"
          "                        column 5 is 1000 times their mean; --level 0: all segments\n"
          "  --curves FILE         table of r-values: from which posterior on, bases, share reproduced, "
          "r-value\n"
          "  --granularity FILE    table: labels of B taken together by falling Jaccard index, the share of\n"
          "                        all bases that have one of them, and of the label's bases\n"
          "  --reliability-out FILE.svg  how often bases of an r-value were reproduced on the blocks of\n"
          "                        calibration_error, a picture\n" +
          multiqc_help());
  const auto arguments = std::make_shared<ReproducibilityArguments>();
  ReproducibilityOptions& options = arguments->options;
  command
      ->add_option("SEGMENTS", arguments->segments,
                   "A and B, the segmentation to judge and its replicate: [name=]PATH of BED or bigBed files")
      ->required();
  add_repeatable(
      *command, "--labels", arguments->labels,
      "prefix of the label posteriors (posterior --labels-out PREFIX) of A; a second one is that of "
      "B, for match_posterior")
      ->type_name("PREFIX")
      ->required();
  add_choice(*command, "--match", arguments->match,
             "which label of B stands for one of A: the one with the largest Jaccard index, several times if "
             "need be (best), one to one with most bases in common (pairs), or that of the same "
             "name (names)",
             {"best", "pairs", "names"});
  add_number(*command, "--tolerance", options.tolerance, "bases within which the match may lie in B",
             CLI::Range(std::int64_t{0}, kLargestDistance));
  add_number(*command, "--level", options.level, "r-value from which on a base is confident",
             CLI::Range(0.0, 1.0));
  add_number(*command, "--fold-size", options.fold_size,
             "bases of a block; curves that were fitted to every second block are checked on the others",
             CLI::Range(std::int64_t{1}, kLargestDistance));
  command->add_option("-o,--output", arguments->output, "table of labels; - for standard output (default)");
  command->add_option("--r-values", arguments->tracks.r_values, "bedGraph or bigWig to write");
  command->add_option("--confident", arguments->tracks.confident, "BED file to write");
  command->add_option("--curves", arguments->curves, "table of curves to write");
  command->add_option("--granularity", arguments->granularity, "table of labels taken together to write");
  command->add_option("--reliability-out", arguments->picture, "picture of the reliability, SVG");
  add_region_options(*command, arguments->input, "region to count in A");
  add_multiqc_options(*command, arguments->multiqc);
  command->add_option("-g,--chrom-sizes", arguments->chrom_sizes,
                      "lengths of chromosomes, for bigWig: two columns, or a .fai index; without it those of "
                      "A, where this is bigBed");
  add_number(*command, "-t,-@,--threads", options.threads, "number of threads", CLI::Range(1, 1024));
  command->callback([arguments] { reproducibility(*arguments); });
}

}  // namespace semicrf
