// semicrf compare: segmentations of several samples against each other.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "apps/options/segmentation_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/segments/segment_reader.h"
#include "io/text/chromosomes.h"
#include "log/log.h"
#include "segmentation/agreement.h"
#include "segmentation/difference_files.h"

namespace semicrf {
namespace {

struct CompareArguments {
  std::vector<std::string> samples, posteriors;
  std::string output = "-", jaccard, switches, regions, disagreement, chrom_sizes;
};

std::vector<NamedTracks> read_posteriors(const CompareArguments& arguments,
                                         const std::vector<Sample>& samples) {
  std::vector<NamedTracks> tracks;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    tracks.push_back(read_named_tracks(arguments.posteriors[s], samples[s].segmentation));
    check_complete(arguments.posteriors[s], views_of(tracks.back()), samples[s].segmentation);
  }
  return tracks;
}

void check_arguments(const CompareArguments& arguments) {
  if (arguments.samples.size() < 2)
    throw UsageError("one segmentation has nothing to be compared with", "give two or more");
  if (arguments.disagreement.empty() != arguments.posteriors.empty())
    throw UsageError("--disagreement and --labels belong together",
                     "give --labels PREFIX for every sample, in their order, and --disagreement FILE");
  if (!arguments.posteriors.empty() && arguments.posteriors.size() != arguments.samples.size())
    throw UsageError(fmt::format("--labels is given {} times for {} samples", arguments.posteriors.size(),
                                 arguments.samples.size()),
                     "give it once for every sample, in their order");
  std::vector<OutputSpec> outputs{{arguments.output, IndexKind::kNone}};
  for (const std::string& path :
       {arguments.jaccard, arguments.switches, arguments.regions, arguments.disagreement})
    if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
  std::vector<std::string> inputs;
  for (const std::string& argument : arguments.samples) inputs.push_back(path_of_argument(argument));
  for (const std::string& prefix : arguments.posteriors)
    for (const auto& [label, path] : label_track_files(prefix)) inputs.push_back(path);
  if (!arguments.chrom_sizes.empty()) inputs.push_back(arguments.chrom_sizes);
  check_outputs(outputs, inputs);
}

void compare(const CompareArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_arguments(arguments);
  const std::vector<Sample> samples = read_samples(arguments.samples);
  require_one_genome(samples);
  std::vector<Chromosome> listed;
  if (is_indexed_name(arguments.regions) || is_indexed_name(arguments.disagreement))
    listed =
        listed_chromosomes(samples, arguments.chrom_sizes,
                           is_bigbed_name(arguments.regions) ? arguments.regions : arguments.disagreement);
  std::vector<NamedTracks> posteriors;
  if (!arguments.disagreement.empty()) posteriors = read_posteriors(arguments, samples);
  const Agreement agreement = compare_samples(samples);
  if (const std::vector<std::string> partial = partial_labels(samples, agreement.labels); !partial.empty())
    log_warning({"labels-differ", "labels that not all samples have: " + joined(partial, "; ")});
  if (const std::vector<std::string> partial = partial_chromosomes(samples); !partial.empty())
    log_warning({"chromosomes-differ",
                 "chromosomes that not all samples have, and that count only for pairs "
                 "that have them: " +
                     few_of(partial, 5)});
  OutputGroup files;
  files.write(arguments.output, pairs_text(samples, agreement));
  if (!arguments.jaccard.empty()) files.write(arguments.jaccard, jaccard_text(samples, agreement));
  if (!arguments.switches.empty()) files.write(arguments.switches, switches_text(samples, agreement));
  if (!arguments.regions.empty()) write_differences(files, arguments.regions, samples, agreement, listed);
  if (!arguments.disagreement.empty())
    write_disagreement(files, arguments.disagreement, samples, agreement.labels, posteriors, listed);
  files.commit();
}

}  // namespace

void add_compare_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "compare", "Compare the segmentations of several samples over one genome.",
      "Bases that some sample does not cover are left out; for a pair only those that one of the two "
      "lacks.\n\n"
      "Outputs, tab-separated with a line of names:\n"
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
      "  --disagreement FILE  bedGraph: the probability that not all samples have the same label, by the\n"
      "                       label posteriors of --labels; bigWig when FILE ends in .bw\n");
  const auto arguments = std::make_shared<CompareArguments>();
  command
      ->add_option("SEGMENTS", arguments->samples,
                   "two or more [name=]PATH of BED or bigBed files with labels in column 4")
      ->required();
  add_repeatable(
      *command, "--labels", arguments->posteriors,
      "prefix of the label posteriors of a sample (posterior --labels-out PREFIX), in the order of "
      "the samples")
      ->type_name("PREFIX");
  command->add_option("-o,--output", arguments->output, "table of pairs; - for standard output (default)");
  command->add_option("--jaccard", arguments->jaccard, "table of labels to write");
  command->add_option("--switches", arguments->switches, "table of switches to write");
  command->add_option("--regions", arguments->regions, "BED or bigBed file of differences to write");
  command->add_option("--disagreement", arguments->disagreement, "bedGraph or bigWig to write");
  command->add_option(
      "-g,--chrom-sizes", arguments->chrom_sizes,
      "lengths of chromosomes, for bigWig and bigBed: two columns, or a .fai index; without it those of "
      "the first sample, where this is bigBed");
  command->callback([arguments] { compare(*arguments); });
}

}  // namespace semicrf
