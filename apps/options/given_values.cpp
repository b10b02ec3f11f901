#include "apps/options/given_values.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/manual/command_tree.h"
#include "core/error.h"
#include "inputs/arguments/sample_arguments.h"
#include "io/files/file_errors.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/segments/segment_reader.h"
#include "io/text/sample_sheet.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;

// What an option does with the files that its values name.
enum class Use {
  kRead,        // a file, a list of files in it too where it is a folder; "-" is standard input
  kReadNamed,   // [name=]PATH
  kReadStem,    // files of label posteriors, or [name=]FILE.npy
  kReadSheet,   // a sample sheet and the files of its rows
  kReadSample,  // NAME=FILE,FILE of --sample
  kReadStart,   // --init of learn: a word, a file or chromhmm:FILE
  kResume,      // a checkpoint, which may be written to again
  kWrite,       // the file
  kCheckpoint,  // the file, which may be the one that is resumed from
  kLog,         // the file, along the way
  kWriteStem,   // the beginning of names that are made later, or a folder
};

struct FileOption {
  std::string_view command;  // "" for every command
  std::string_view option;
  Use use;
  std::optional<OutputKind> kind = {};
};

// Every option whose value is a file. One that a command has in a meaning of its own comes before the general
// one.
constexpr auto kFileOptions = std::to_array<FileOption>({
    {"", "--params", Use::kRead},
    {"", "--control", Use::kRead},
    {"", "--groups", Use::kRead},
    {"", "--fasta", Use::kRead},
    {"", "--against", Use::kRead},
    {"", "--samples", Use::kReadSheet},
    {"", "--sample", Use::kReadSample},
    {"", "--start-scores", Use::kReadNamed},
    {"", "--end-scores", Use::kReadNamed},
    {"", "--regions-file", Use::kRead},
    {"", "--val-list", Use::kRead},
    {"", "--exclude", Use::kRead},
    {"", "--chrom-sizes", Use::kRead},
    {"", "--constraints", Use::kRead},
    {"", "--claims", Use::kRead},
    {"", "--truth", Use::kReadNamed},
    {"", "--segments", Use::kRead},
    {"", "--annotation", Use::kReadNamed},
    {"", "--label-map", Use::kRead},
    {"", "--intervals", Use::kRead},
    {"", "--labels-posterior", Use::kReadStem},
    {"", "--labels-known", Use::kRead},
    {"train", "--labels", Use::kReadNamed},
    {"train", "--init", Use::kRead},
    {"learn", "--init", Use::kReadStart},
    {"", "--labels", Use::kReadStem},
    {"", "--resume", Use::kResume},
    {"", "INPUT", Use::kReadNamed},
    {"", "TRACK", Use::kReadNamed},
    {"", "PRED", Use::kReadNamed},
    {"", "SEGMENTS", Use::kReadNamed},
    {"", "ANNOTATION", Use::kReadNamed},
    {"", "MODEL", Use::kRead},
    {"", "FILE", Use::kRead},
    {"", "FASTA", Use::kRead},
    {"genes", "--tracks", Use::kRead},
    {"train-genes", "--tracks", Use::kRead},
    {"", "--track", Use::kReadNamed},
    {"", "--helixer", Use::kRead},
    {"genes", "--output", Use::kWrite},
    {"genes", "--hints", Use::kRead},
    {"", "--proteins", Use::kWrite},
    {"", "--coding", Use::kWrite},
    {"genes", "--report", Use::kWrite, OutputKind::kPage},
    {"eval-genes", "PRED", Use::kRead},
    {"eval-genes", "--truth", Use::kRead},
    {"eval-genes", "--output", Use::kWrite, OutputKind::kTable},
    {"train-genes", "--annotation", Use::kRead},
    {"train-genes", "--from", Use::kRead},
    {"count", "--output", Use::kWrite, OutputKind::kBins},
    {"decode", "--output", Use::kWrite, OutputKind::kDecoded},
    {"simulate", "--output", Use::kWrite, OutputKind::kSegments},
    {"bench", "--output", Use::kWrite, OutputKind::kSegments},
    {"posterior", "--output", Use::kWrite, OutputKind::kTrack},
    {"query", "--output", Use::kWrite, OutputKind::kTable},
    {"describe", "--output", Use::kWrite, OutputKind::kTable},
    {"enrich", "--output", Use::kWrite, OutputKind::kTable},
    {"compare", "--output", Use::kWrite, OutputKind::kTable},
    {"reproducibility", "--output", Use::kWrite, OutputKind::kTable},
    {"eval", "--output", Use::kWrite, OutputKind::kReport},
    {"report", "--output", Use::kWrite, OutputKind::kPage},
    {"chromhmm", "--output", Use::kWrite},  // import and export, of parameters and of a model
    {"", "--output", Use::kWrite, OutputKind::kParameters},
    {"decode", "--posterior", Use::kWrite, OutputKind::kTrack},
    {"compare", "--posterior", Use::kReadStem},
    {"", "--posterior", Use::kRead},
    {"", "--table", Use::kWrite, OutputKind::kTable},
    {"compare", "--boundaries", Use::kRead},
    {"", "--boundaries", Use::kWrite, OutputKind::kTable},
    {"", "--shifts", Use::kWrite, OutputKind::kTable},
    {"learn", "--solutions", Use::kWrite, OutputKind::kTable},
    {"", "--review", Use::kWrite, OutputKind::kDraft},
    {"", "--stats", Use::kWrite, OutputKind::kJson},
    {"", "--json", Use::kWrite, OutputKind::kJson},
    {"", "--reliability-out", Use::kWrite, OutputKind::kPicture},
    {"", "--svg", Use::kWrite, OutputKind::kPicture},
    {"", "--transitions", Use::kWrite, OutputKind::kTable},
    {"", "--jaccard", Use::kWrite, OutputKind::kTable},
    {"", "--switches", Use::kWrite, OutputKind::kTable},
    {"", "--regions", Use::kWrite, OutputKind::kSegments},
    {"", "--disagreement", Use::kWrite, OutputKind::kTrack},
    {"", "--r-values", Use::kWrite, OutputKind::kTrack},
    {"", "--confident", Use::kWrite, OutputKind::kDraft},
    {"", "--curves", Use::kWrite, OutputKind::kTable},
    {"", "--granularity", Use::kWrite, OutputKind::kTable},
    {"", "--counts-out", Use::kWrite, OutputKind::kCounts},
    {"", "--checkpoint", Use::kCheckpoint, OutputKind::kCheckpoint},
    {"", "--log-file", Use::kLog, OutputKind::kLog},
    {"", "--labels-out", Use::kWriteStem, OutputKind::kLabelTracks},
    {"", "--starts-out", Use::kWriteStem, OutputKind::kLabelTracks},
    {"", "--ends-out", Use::kWriteStem, OutputKind::kLabelTracks},
    {"", "--emissions", Use::kWriteStem, OutputKind::kScores},
    {"", "--prefix", Use::kWriteStem},
    {"", "--chromhmm-out", Use::kWriteStem},
    {"", "--multiqc", Use::kWriteStem},
    {"", "--hub", Use::kWriteStem},
    {"", "--figures", Use::kWriteStem},
    {"man", "--all", Use::kWriteStem},
});

// "--output", or "INPUT".
std::string long_name(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  return option.get_name(!option.nonpositional());
}

const FileOption* file_option(const CLI::App& command, const CLI::Option& option) {
  const std::string name = long_name(option);
  const auto found = std::ranges::find_if(kFileOptions, [&](const FileOption& one) {
    return one.option == name && (one.command.empty() || one.command == command.get_name());
  });
  return found == kFileOptions.end() ? nullptr : found;
}

void check_not_empty(const CLI::Option& option, const std::string& value) {
  if (value.empty())
    throw UsageError(long_name(option) + " is given, but its value is empty",
                     "give a value, or leave the option out");
}

void check_finite(const CLI::Option& option, const std::string& value) {
  if (!option.get_type_name().starts_with("FLOAT")) return;
  if (!std::isfinite(std::strtod(value.c_str(), nullptr)))
    throw UsageError(long_name(option) + " must be a finite number, not '" + value + "'",
                     "give a number such as 0.5");
}

void add_folder(const std::string& folder, std::vector<std::string>& files) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    files.push_back(entry->path().string());
}

// The files that one value stands for. What is wrong with it is told by who reads it.
void add_read_files(Use use, const std::string& value, std::vector<std::string>& files) {
  const std::string path = use == Use::kRead || use == Use::kReadSheet ? value : path_of_argument(value);
  std::error_code ignored;
  if (use == Use::kReadSample) {
    if (has_sample_files({value}))
      for (const SampleRow& row : rows_of_samples({value}, "")) files.push_back(row.path);
    return;
  }
  files.push_back(path);
  add_folder(path, files);
  if (use == Use::kReadStem)
    for (const auto& [label, file] : label_track_files(value)) files.push_back(file);
  if (use == Use::kReadStart && value.find(':') != std::string::npos)
    files.push_back(value.substr(value.find(':') + 1));
  if (use == Use::kReadSheet && fs::is_regular_file(path, ignored))
    for (const SampleRow& row : read_sample_sheet(path)) files.push_back(row.path);
}

void check_named(const CLI::Option& option, const std::string& value) {
  std::error_code ignored;
  if (value.ends_with('=') && !fs::exists(value, ignored))
    throw UsageError(long_name(option) + ": '" + value + "' names no file", "write NAME=PATH");
}

struct GivenFiles {
  std::vector<std::string> read, resumed, written, checkpoints, logs;
  std::vector<std::pair<std::string, OutputKind>> formats;
};

void add_file(const FileOption& file, const CLI::Option& option, const std::string& value,
              GivenFiles& given) {
  if (file.kind) given.formats.emplace_back(value, *file.kind);
  switch (file.use) {
    case Use::kWrite:
      given.written.push_back(value);
      break;
    case Use::kCheckpoint:
      given.checkpoints.push_back(value);
      break;
    case Use::kLog:
      given.logs.push_back(value);
      break;
    case Use::kWriteStem:
      break;
    case Use::kResume:
      given.resumed.push_back(value);
      break;
    default:
      if (file.use != Use::kReadSample) check_named(option, value);
      try {
        add_read_files(file.use, value, given.read);
      } catch (const Error&) {
        // Its reader says so.
      }
  }
}

std::vector<std::string> all_of(std::initializer_list<const std::vector<std::string>*> lists) {
  std::vector<std::string> all;
  for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// What was read of standard input is not there a second time.
void check_standard_input(const std::vector<std::string>& read) {
  if (std::ranges::count(read, kStandardInput) > 1)
    throw UsageError("standard input is read twice (-)", "give a file for all but one of them");
}

// Who reads the pipe that it writes to waits for itself.
void check_no_own_output(const std::vector<std::string>& read) {
  for (const std::string& path : read) {
    const std::optional<DescriptorPath> found = path == "-" ? std::nullopt : descriptor_of(path);
    if (found && found->own && (found->number == STDOUT_FILENO || found->number == STDERR_FILENO))
      throw UsageError("'" + path + "' is what this program writes to, and cannot be an input",
                       "give a file, or - for standard input where a command takes it");
  }
}

bool names_file(const CLI::Option& option) {
  return option_entry(option).kind == ValueKind::kFile ||
         option.get_type_name().find("FILE") != std::string::npos;
}

}  // namespace

void check_given_values(const CLI::App& command) {
  GivenFiles given;
  for (const CLI::Option* option : command.get_options()) {
    const FileOption* file = names_file(*option) ? file_option(command, *option) : nullptr;
    for (const std::string& value : option->results()) {
      if (option->get_items_expected_max() == 0) continue;  // a flag
      check_not_empty(*option, value);
      check_finite(*option, value);
      if (file != nullptr) add_file(*file, *option, value, given);
    }
  }
  check_no_own_output(all_of({&given.read, &given.resumed}));
  check_standard_input(given.read);
  check_distinct(all_of({&given.written, &given.checkpoints, &given.logs}), given.read);
  check_distinct(all_of({&given.written, &given.logs}), given.resumed);
  for (const auto& [path, kind] : given.formats) check_ending(path, kind);
  remember_files(given.read, given.logs);  // a checkpoint may be the file that is resumed from
}

void require_known_files(const CLI::App& program) {
  for (const CLI::Option* option : program.get_options())
    if (names_file(*option) && file_option(program, *option) == nullptr)
      throw std::logic_error("given_values.cpp does not know the option " + long_name(*option) + " of " +
                             program.get_name());
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    require_known_files(*command);
}

}  // namespace semicrf
