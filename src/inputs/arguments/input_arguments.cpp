#include "inputs/arguments/input_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "inputs/arguments/sample_arguments.h"
#include "inputs/arguments/track_pattern.h"

namespace semicrf {
namespace {

std::vector<InputArgument> arguments_of_sheet(const InputOptions& options) {
  if (!options.inputs.empty())
    throw UsageError("tracks are given on the command line and by --samples or --sample NAME=FILES",
                     "give them in one way");
  if (!options.track_pattern.empty() && !options.samples_file.empty())
    throw UsageError("--track-pattern cannot be given with --samples, which names the tracks",
                     "leave one of them out");
  const std::vector<std::string> chosen = chosen_samples(options);
  if (chosen.size() > 1)
    throw UsageError(fmt::format("--sample names {} samples: {}", chosen.size(), joined(chosen, ", ")),
                     "choose one; only train takes several");
  std::vector<InputArgument> arguments;
  for (const SampleRow& row : sample_rows(options)) {
    if (row.sample != chosen.front()) continue;
    InputArgument argument;
    argument.path = row.path;
    argument.name = row.track;
    argument.named = true;
    settle_kind(argument);
    argument.from = options.samples_file.empty() ? "--sample " + row.sample
                                                 : fmt::format("{} line {}", options.samples_file, row.line);
    if (argument.kind != InputKind::kBigWig)
      throw InputError(
          {row.path, "",
           std::string("this is ") + describe(argument.kind) + ", which " + argument.from +
               " gives as a track",
           "a sample sheet names bigWig, BAM or CRAM files or tracks as text; give arrays on the "
           "command line"});
    choose_sample(row.sample, argument);
    for (InputArgument& column : columns_of_text(std::move(argument))) arguments.push_back(std::move(column));
  }
  return arguments;
}

// Names become tracks or sequences of files that are written. Arrays of archives have names of their own.
void check_names(const std::vector<InputArgument>& arguments) {
  for (const InputArgument& argument : arguments) {
    if (!argument.named && argument.kind == InputKind::kNpz) continue;
    const std::string problem = name_problem(argument.name);
    if (problem.empty()) continue;
    if (argument.named && argument.from.empty()) throw UsageError("'" + argument.name + "=': " + problem);
    throw InputError({argument.path, "", "the name '" + argument.name + "': " + problem,
                      argument.from.empty() ? "name it: NAME=PATH" : "correct " + argument.from});
  }
}

// Names of the files that were not named on the command line.
void apply_pattern(const TrackPattern& pattern, std::vector<InputArgument>& arguments) {
  std::string sample;
  const InputArgument* first = nullptr;
  for (InputArgument& argument : arguments) {
    if (argument.named) continue;
    if (argument.kind != InputKind::kBigWig)
      throw UsageError(
          "--track-pattern names files of tracks, but " + argument.path + " is " + describe(argument),
          "leave it out; --track-names names the columns of arrays");
    const auto names = pattern.match(argument.path);
    if (!names)
      throw InputError({argument.path, "", "the name does not match --track-pattern '" + pattern.text() + "'",
                        "change the pattern, or name the track: NAME=" + argument.path});
    if (first != nullptr && names->sample != sample)
      throw InputError({argument.path, "",
                        "this is a file of sample \"" + names->sample + "\", " + first->path +
                            " one of sample \"" + sample + "\", by --track-pattern '" + pattern.text() + "'",
                        "give the files of one sample, or write its name in the place of {sample}"});
    sample = names->sample;
    argument.name = names->track;
    argument.named = true;
    first = &argument;
  }
}

}  // namespace

bool has_samples(const InputOptions& options) {
  return !options.samples_file.empty() || has_sample_files(options.samples);
}

bool has_inputs(const InputOptions& options) { return !options.inputs.empty() || has_samples(options); }

std::vector<SampleRow> sample_rows(const InputOptions& options) {
  if (options.only_sample) return *options.only_sample;
  if (!has_sample_files(options.samples)) return read_sample_sheet(options.samples_file);
  if (!options.samples_file.empty())
    throw UsageError("samples are given by --samples and by --sample NAME=FILES",
                     "give all of them in one way");
  return rows_of_samples(options.samples, options.track_pattern);
}

std::vector<std::string> chosen_samples(const InputOptions& options) {
  std::vector<std::string> all = samples_of(sample_rows(options));
  if (has_sample_files(options.samples)) return all;
  if (options.samples.empty()) {
    if (all.size() == 1) return all;
    throw UsageError(
        fmt::format("{} has {} samples: {}", options.samples_file, all.size(), joined(all, ", ")),
        "choose one with --sample NAME");
  }
  const NameIndex known = NameIndex::of(all);
  for (const std::string& name : options.samples)
    if (!known.contains(name))
      throw UsageError("--sample: " + options.samples_file + " has no sample \"" + name + "\"",
                       "it has " + joined(all, ", "));
  return options.samples;
}

std::vector<InputArgument> input_arguments(const InputOptions& options) {
  if (has_samples(options)) {
    std::vector<InputArgument> arguments = arguments_of_sheet(options);
    check_names(arguments);
    return arguments;
  }
  if (!options.samples.empty())
    throw UsageError("--sample chooses a sample of --samples SHEET",
                     "give the sheet, too, or the files of the sample: --sample NAME=FILE,FILE");
  std::vector<InputArgument> arguments;
  for (const std::string& text : options.inputs)
    for (InputArgument& column : columns_of_text(parse_input_argument(text)))
      arguments.push_back(std::move(column));
  if (!options.track_pattern.empty()) apply_pattern(TrackPattern(options.track_pattern), arguments);
  check_names(arguments);
  return arguments;
}

std::string pattern_proposal(const InputOptions& options) {
  if (has_samples(options) || !options.track_pattern.empty()) return "";
  std::vector<std::string> paths;
  for (const InputArgument& argument : input_arguments(options)) {
    if (argument.named || argument.kind != InputKind::kBigWig) return "";
    paths.push_back(argument.path);
  }
  const auto pattern = common_pattern(paths);
  if (!pattern) return "";
  const std::string short_name = TrackPattern(*pattern).match(paths.front())->track;
  const std::string long_name = std::filesystem::path(paths.front()).stem().string();
  return "all track names share a part, which ties the model to these files (" + long_name +
         "); with --track-pattern '" + *pattern + "' the names are those of the marks alone (" + short_name +
         "), and the model fits the files of other samples";
}

void check_column_names(const InputOptions& options, const Parameters& parameters, bool bigwig) {
  const bool scores = !parameters.emission;
  const auto check = [&](const std::string& option, const std::vector<std::string>& names, bool fits,
                         const std::string& what, const std::vector<std::string>& own,
                         const std::string& other) {
    if (names.empty()) return;
    if (bigwig)
      throw UsageError(option + " names the columns of arrays, but the inputs are files of tracks",
                       "name each file: NAME=PATH, or use --track-pattern");
    if (!fits)
      throw UsageError(option + " is given, but the inputs are " + (scores ? "scores of labels" : "tracks"),
                       "give " + other);
    if (names != own)
      throw UsageError(
          option + " is " + joined(names, ",") + ", but the parameters' " + what + " are " + joined(own, ","),
          "bring the columns of the arrays into the order of the parameters' " + what);
  };
  check("--track-names", options.track_names, !scores, "tracks", names_of(parameters.tracks),
        "--label-names");
  check("--label-names", options.label_names, scores, "labels", names_of(parameters.labels), "--track-names");
}

}  // namespace semicrf
