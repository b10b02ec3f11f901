// semicrf compare: segmentations, or label posteriors, of several samples against each other.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/segments/segment_columns.h"
#include "io/segments/segment_reader.h"
#include "io/text/chromosomes.h"
#include "log/log.h"
#include "segmentation/agreement.h"
#include "segmentation/boundary_shifts.h"
#include "segmentation/difference_files.h"
#include "segmentation/posterior_differences.h"

namespace semicrf {
namespace {

struct CompareArguments {
  std::vector<std::string> samples, posteriors, boundaries;
  std::string output = "-", jaccard, switches, shifts, curves;
  DifferenceOptions differences;

  bool has_posteriors() const { return !posteriors.empty(); }
  const std::string& regions() const { return differences.regions; }
  const std::string& chrom_sizes() const { return differences.chrom_sizes; }
};

void check_forms(const CompareArguments& arguments, bool fdr_given) {
  if (arguments.has_posteriors() && !arguments.samples.empty())
    throw UsageError("segmentations and --posterior are two ways to compare", "give one of them");
  if (!arguments.has_posteriors() && arguments.samples.size() < 2)
    throw UsageError("one segmentation has nothing to be compared with", "give two or more");
  const auto refuse = [](bool given, const std::string& option, const std::string& needed) {
    if (given) throw UsageError(option + " needs " + needed, "give " + needed + ", or leave the option out");
  };
  if (arguments.has_posteriors()) {
    refuse(!arguments.jaccard.empty(), "--jaccard", "segmentations");
    refuse(!arguments.switches.empty(), "--switches", "segmentations");
  } else {
    refuse(!arguments.differences.disagreement.empty(), "--disagreement", "--posterior A B");
    refuse(!arguments.curves.empty(), "--curves", "--posterior A B");
    refuse(fdr_given, "--fdr", "--posterior A B");
  }
  if (arguments.shifts.empty() != arguments.boundaries.empty() ||
      (!arguments.boundaries.empty() && arguments.boundaries.size() != 2))
    throw UsageError("--shifts FILE and --boundaries A B belong together",
                     "give two tables of decode --boundaries, and the file to write");
}

void check_files(const CompareArguments& arguments, const std::vector<Condition>& conditions) {
  std::vector<OutputSpec> outputs{{arguments.output, IndexKind::kNone}};
  for (const std::string& path : {arguments.jaccard, arguments.switches, arguments.regions(),
                                  arguments.differences.disagreement, arguments.shifts, arguments.curves})
    if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
  std::vector<std::string> inputs = arguments.boundaries;
  for (const std::string& argument : arguments.samples) inputs.push_back(path_of_argument(argument));
  for (const Condition& condition : conditions)
    for (const std::string& prefix : condition.prefixes)
      for (const auto& [label, path] : label_track_files(prefix)) inputs.push_back(path);
  if (!arguments.chrom_sizes().empty()) inputs.push_back(arguments.chrom_sizes());
  check_outputs(outputs, inputs);
}

void compare_segmentations(const CompareArguments& arguments, OutputGroup& files) {
  const std::vector<Sample> samples = read_samples(arguments.samples);
  require_one_genome(samples);
  std::vector<Chromosome> listed;
  if (is_indexed_name(arguments.regions()))
    listed = listed_chromosomes(samples, arguments.chrom_sizes(), arguments.regions());
  const Agreement agreement = compare_samples(samples);
  if (const std::vector<std::string> partial = partial_labels(samples, agreement.labels); !partial.empty())
    log_warning({"labels-differ", "labels that not all samples have: " + joined(partial, "; ")});
  if (const std::vector<std::string> partial = partial_chromosomes(samples); !partial.empty())
    log_warning({"chromosomes-differ",
                 "chromosomes that not all samples have, and that count only for pairs "
                 "that have them: " +
                     few_of(partial, 5)});
  files.write(arguments.output, pairs_text(samples, agreement));
  if (!arguments.jaccard.empty()) files.write(arguments.jaccard, jaccard_text(samples, agreement));
  if (!arguments.switches.empty()) files.write(arguments.switches, switches_text(samples, agreement));
  if (!arguments.regions().empty()) write_differences(files, arguments.regions(), samples, agreement, listed);
}

void compare_posteriors(const CompareArguments& arguments, const std::vector<Condition>& conditions,
                        OutputGroup& files) {
  const PosteriorDifferences found = find_differences(conditions, arguments.differences, files);
  for (const Warning& warning : found.warnings) log_warning(warning);
  files.write(arguments.output, differences_text(conditions, arguments.differences, found));
  if (!arguments.curves.empty()) files.write(arguments.curves, difference_curve_text(found.curves));
}

void compare(const CompareArguments& arguments, bool fdr_given) {
  set_up_logging(Verbosity::kNormal, "");
  check_forms(arguments, fdr_given);
  std::vector<Condition> conditions;
  if (arguments.has_posteriors()) conditions = conditions_of(arguments.posteriors);
  check_files(arguments, conditions);
  OutputGroup files;
  if (arguments.has_posteriors()) {
    compare_posteriors(arguments, conditions, files);
  } else {
    compare_segmentations(arguments, files);
  }
  if (!arguments.shifts.empty())
    files.write(arguments.shifts, shifts_text(match_boundaries(read_boundary_table(arguments.boundaries[0]),
                                                               read_boundary_table(arguments.boundaries[1]),
                                                               arguments.boundaries[1])));
  files.commit();
}

}  // namespace

void add_compare_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "compare", "Compare the segmentations or label posteriors of several samples over one genome.",
      "Bases that some sample does not cover are left out; for a pair of segmentations only those that one "
      "of\n"
      "the two lacks.\n\n"
      "Outputs for segmentations, tab-separated with a line of names:\n"
      "  -o FILE              a line per pair: bases that both cover, bases with the same label, their "
      "share,\n"
      "                       adjusted Rand index (which does not look at names)\n"
      "  --jaccard FILE       a line per pair and label: bases in each, in both, in either, both over "
      "either\n"
      "  --switches FILE      a line per pair and two different labels: bases with one here and the other "
      "there\n"
      "  --regions FILE       BED: where not all samples have the same label, widest first; column 4 has "
      "the\n"
      "                       labels in the order of the samples, with | between them; bigBed sorted by\n"
      "                       position when FILE ends in .bb\n"
      "Outputs for --posterior, P being the probability that not all conditions have the same label:\n"
      "  -o FILE              one line: bases compared, how many differ (expected), the threshold of P that "
      "--fdr\n"
      "                       chose, regions and their bases, same_share, empty_regions, what replicates "
      "say\n"
      "  --disagreement FILE  bedGraph of P; bigWig when FILE ends in .bw\n"
      "  --regions FILE       BED (bigBed: .bb): where P reaches the threshold; labels of the conditions, "
      "1000\n"
      "                       times the mean P, strand, mean P, expected differing bases, largest P\n"
      "  --curves FILE        a line per threshold: bases with P from there on, same_share (the mean of 1 - "
      "P),\n"
      "                       bases between groups of replicates that mix A and B, null_share (these over "
      "those)\n"
      "For both:\n"
      "  --shifts FILE        a line per boundary that A and B of --boundaries have: labels, positions, "
      "shift\n"
      "                       and its interval\n");
  const auto arguments = std::make_shared<CompareArguments>();
  DifferenceOptions& differences = arguments->differences;
  command->add_option("SEGMENTS", arguments->samples,
                      "two or more [name=]PATH of BED or bigBed files with labels in column 4");
  command
      ->add_option("--posterior", arguments->posteriors,
                   "in place of SEGMENTS, two or more conditions: prefixes of label posteriors (posterior\n"
                   "--labels-out PREFIX), commas between replicates: [name=]A1,A2 B1,B2")
      ->type_name("PREFIX")
      ->expected(2, 1000);
  const CLI::Option* fdr =
      command
          ->add_option(
              "--fdr", differences.fdr,
              "false discovery rate of the bases of regions: same_share and null_share add up to this at "
              "most")
          ->check(CLI::Range(1e-6, 1.0))
          ->capture_default_str();
  command->add_option("--boundaries", arguments->boundaries, "two tables of decode --boundaries: A and B")
      ->expected(2);
  command->add_option("-o,--output", arguments->output, "table to write; - for standard output (default)");
  command->add_option("--jaccard", arguments->jaccard, "table of labels to write");
  command->add_option("--switches", arguments->switches, "table of switches to write");
  command->add_option("--regions", differences.regions, "BED or bigBed file of differences to write");
  command->add_option("--disagreement", differences.disagreement, "bedGraph or bigWig to write");
  command->add_option("--curves", arguments->curves, "table of thresholds to write");
  command->add_option("--shifts", arguments->shifts, "table of shifted boundaries to write");
  command->add_option(
      "-g,--chrom-sizes", differences.chrom_sizes,
      "lengths of chromosomes, for bigWig and bigBed: two columns, or a .fai index; without it those of "
      "the first sample, where this is bigBed or bigWig");
  command->callback([arguments, fdr] { compare(*arguments, fdr->count() > 0); });
}

}  // namespace semicrf
