// semicrf compare: segmentations of several samples against each other.
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/logging.h"
#include "core/error.h"
#include "io/files/output_file.h"
#include "io/text/label_track_files.h"
#include "io/text/segment_reader.h"
#include "segmentation/agreement.h"

namespace semicrf {
namespace {

struct CompareArguments {
  std::vector<std::string> samples, posteriors;
  std::string output = "-", jaccard, switches, regions, disagreement;
};

std::vector<Sample> read_samples(const CompareArguments& arguments) {
  std::vector<Sample> samples;
  std::set<std::string> names;
  for (const std::string& argument : arguments.samples) {
    std::string path = argument;
    const std::string name = take_file_name(path);
    if (!names.insert(name).second)
      throw UsageError("two samples are named '" + name + "'", "name them: NAME=PATH");
    samples.push_back({name, read_segmentation(path)});
  }
  return samples;
}

// Steps of the same printed value on one line.
class StepWriter {
 public:
  explicit StepWriter(OutputFile& output) : output_(output) {}

  void add(const std::string& chromosome, const LabelTrack::Step& step) {
    char value[32];
    std::snprintf(value, sizeof value, "%.6f", step.value);
    if (chromosome == chromosome_ && step.begin == end_ && value == value_) {
      end_ = step.end;
      return;
    }
    finish();
    chromosome_ = chromosome;
    begin_ = step.begin;
    end_ = step.end;
    value_ = value;
  }

  void finish() {
    if (!chromosome_.empty())
      output_.write(chromosome_ + "\t" + std::to_string(begin_) + "\t" + std::to_string(end_) + "\t" +
                    value_ + "\n");
    chromosome_.clear();
  }

 private:
  OutputFile& output_;
  std::string chromosome_, value_;
  std::int64_t begin_ = 0, end_ = 0;
};

void write_disagreement(const CompareArguments& arguments, const std::vector<Sample>& samples,
                        const JointLabels& labels) {
  std::vector<std::vector<LabelTrack>> tracks;
  for (std::size_t s = 0; s < samples.size(); ++s)
    tracks.push_back(read_label_tracks(arguments.posteriors[s], samples[s].segmentation));
  OutputFile output({arguments.disagreement, IndexKind::kNone});
  StepWriter writer(output);
  visit_disagreement(
      samples, labels, tracks,
      [&](const std::string& chromosome, const LabelTrack::Step& step) { writer.add(chromosome, step); });
  writer.finish();
  output.commit();
}

void check_arguments(const CompareArguments& arguments) {
  if (arguments.samples.size() < 2)
    throw UsageError("one segmentation has nothing to be compared with", "give two or more");
  if (arguments.disagreement.empty() != arguments.posteriors.empty())
    throw UsageError("--disagreement and --labels belong together",
                     "give --labels PREFIX for every sample, in their order, and --disagreement FILE");
  if (!arguments.posteriors.empty() && arguments.posteriors.size() != arguments.samples.size())
    throw UsageError("--labels is given " + std::to_string(arguments.posteriors.size()) + " times for " +
                         std::to_string(arguments.samples.size()) + " samples",
                     "give it once for every sample, in their order");
  std::vector<OutputSpec> outputs{{arguments.output, IndexKind::kNone}};
  for (const std::string& path :
       {arguments.jaccard, arguments.switches, arguments.regions, arguments.disagreement})
    if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
  std::vector<std::string> inputs;
  for (const std::string& argument : arguments.samples) {
    std::string path = argument;
    take_sequence_name(path);
    inputs.push_back(path);
  }
  for (const std::string& prefix : arguments.posteriors)
    for (const auto& [label, path] : label_track_files(prefix)) inputs.push_back(path);
  check_outputs(outputs, inputs);
}

void compare(const CompareArguments& arguments) {
  set_up_logging(Verbosity::kNormal, "");
  check_arguments(arguments);
  const std::vector<Sample> samples = read_samples(arguments);
  const Agreement agreement = compare_samples(samples);
  write_whole_output(arguments.output, pairs_text(samples, agreement));
  if (!arguments.jaccard.empty()) write_whole_output(arguments.jaccard, jaccard_text(samples, agreement));
  if (!arguments.switches.empty()) write_whole_output(arguments.switches, switches_text(samples, agreement));
  if (!arguments.regions.empty()) write_whole_output(arguments.regions, differences_text(agreement));
  if (!arguments.disagreement.empty()) write_disagreement(arguments, samples, agreement.labels);
}

}  // namespace

void add_compare_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "compare", "Compare the segmentations of several samples over one genome.",
      "What some sample does not cover is left out; of a pair, what one of the two does not.\n\n"
      "Outputs, tab-separated with a line of names:\n"
      "  -o FILE              a line per pair: bases that both cover, bases with the same label, their "
      "share\n"
      "  --jaccard FILE       a line per pair and label: bases in each, in both, in either, both over "
      "either\n"
      "  --switches FILE      a line per pair and two different labels: bases with one here and the other "
      "there\n"
      "  --regions FILE       BED: where not all samples have the same label, widest first; column 4 has "
      "the\n"
      "                       labels in the order of the samples, with | between them\n"
      "  --disagreement FILE  bedGraph: the probability that not all samples have the same label, by the\n"
      "                       label posteriors of --labels\n");
  const auto arguments = std::make_shared<CompareArguments>();
  command
      ->add_option("SEGMENTS", arguments->samples,
                   "two or more [name=]PATH of BED files with labels in column 4")
      ->required();
  add_repeatable(
      *command, "--labels", arguments->posteriors,
      "prefix of the label posteriors of a sample (posterior --labels-out PREFIX), in the order of "
      "the samples")
      ->type_name("PREFIX");
  command->add_option("-o,--output", arguments->output, "table of pairs; - for standard output (default)");
  command->add_option("--jaccard", arguments->jaccard, "table of labels to write");
  command->add_option("--switches", arguments->switches, "table of switches to write");
  command->add_option("--regions", arguments->regions, "BED file of differences to write");
  command->add_option("--disagreement", arguments->disagreement, "bedGraph to write");
  command->callback([arguments] { compare(*arguments); });
}

}  // namespace semicrf
