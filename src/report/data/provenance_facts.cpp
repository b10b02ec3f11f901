#include "report/data/provenance_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "eval/eval_input.h"
#include "inputs/arguments/input_argument.h"
#include "io/files/input_kind.h"
#include "io/files/mapped_file.h"
#include "io/files/output_names.h"
#include "io/segments/segment_reader.h"
#include "io/text/provenance_header.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

// "name=path" with the path's last part; a path alone likewise.
std::string without_folders(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos && word.find('/') > equals)
    return word.substr(0, equals + 1) + file_title(word.substr(equals + 1));
  return word.find('/') == std::string::npos ? word : file_title(word);
}

// As a shell reads it.
std::string quoted_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:=/+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void add_word(std::string& words, const std::string& word) {
  words += ' ';
  words += quoted_word(word);
}

std::vector<std::string> header_lines(const std::string& path) {
  std::vector<std::string> found;
  if (detect_input_kind(path) == InputKind::kBigBed) return found;
  TextLines lines(path);
  std::string line;
  while (lines.next(line) && line.starts_with('#')) found.push_back(line);
  return found;
}

// "#input CTCF=a.bw bytes=12": what stands before the last blank, and behind it.
std::pair<std::string, std::string> split_last(std::string_view text) {
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, blank)), std::string(text.substr(blank + 1))};
}

// An option of a header as it was typed.
std::string option_words(const std::string& name, const std::string& value) {
  if (name == "posterior") return " --posterior FILE";
  if (value == "yes") return " --" + name;
  if (name != "region") return " --" + name + " " + quoted_word(value);
  std::string words;
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find(' ', begin), value.size());
    words += " -r " + quoted_word(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Everything that the page depends on, in one order.
std::string report_command(const ReportOptions& options) {
  std::string words = "semicrf report";
  const auto add = [&](const std::string& name, const std::string& value) {
    if (value.empty()) return;
    add_word(words, name);
    add_word(words, without_folders(value));
  };
  const InputOptions& input = options.input;
  add("-p", input.parameters);
  add("--segments", options.segments);
  add("--posterior", options.posterior);
  add("--labels-posterior", options.labels_posterior);
  add("--truth", options.truth);
  if (options.tolerance) add("--tolerance", fmt::format("{}", *options.tolerance));
  for (const std::string& annotation : options.annotations) add("--annotation", annotation);
  for (const std::string& region : options.regions) add("-r", region);
  add("-L", options.regions_file);
  add("--track-pattern", input.track_pattern);
  add("--samples", input.samples_file);
  for (const std::string& sample : input.samples) add("--sample", sample);
  for (const std::string& track : input.missing_tracks) add("--missing-track", track);
  add("-g", input.chrom_sizes_file);
  if (input.chromosomes == ChromosomePolicy::kCommon) add("--chromosomes", "common");
  if (input.chromosomes == ChromosomePolicy::kUnion) add("--chromosomes", "union");
  if (input.bin_size) add("-b", fmt::format("{}", *input.bin_size));
  if (options.title != ReportOptions().title) add("--title", options.title);
  for (const std::string& path : input.inputs) add_word(words, without_folders(path));
  return words + " -o report.html";
}

class Gathering {
 public:
  Gathering(const ReportOptions& options, const ReportBasis& basis) : options_(options), basis_(basis) {}

  ProvenanceFacts gather() {
    list_files();
    hash_files();
    read_header();
    facts_.report_command = report_command(options_);
    return std::move(facts_);
  }

 private:
  void add(const std::string& role, const std::string& path) {
    if (path.empty()) return;
    facts_.files.push_back({role, file_title(path), -1, ""});
    paths_.push_back(path);
  }

  void list_files() {
    add("parameters", options_.input.parameters);
    add("segments", options_.segments);
    if (basis_.inputs)
      for (const ProvenanceInput& input : basis_.inputs->provenance())
        add(input.name.empty() ? "input" : "track " + input.name, input.path);
    add("boundary posterior", options_.posterior);
    if (!options_.labels_posterior.empty()) {
      const std::map<std::string, std::string> files = label_track_files(options_.labels_posterior);
      for (const Label& label : basis_.model().labels)
        if (const auto file = files.find(in_file_name(label.name)); file != files.end())
          add("posterior of " + label.name, file->second);
    }
    add_truth();
    for (const std::string& argument : options_.annotations) add("annotation", path_of_argument(argument));
    add("regions", options_.regions_file);
  }

  // The file, or the TextGrids of the folder.
  void add_truth() {
    std::error_code ignored;
    if (!std::filesystem::is_directory(options_.truth, ignored)) return add("truth", options_.truth);
    const SegmentReader truth(options_.truth, options_.truth_times);
    for (const std::string& path : truth.files()) add("truth", path);
  }

  void hash_files() {
    parallel_for(options_.threads, facts_.files.size(), [&](std::size_t i, int) {
      FileFact& fact = facts_.files[i];
      const MappedFile file(paths_[i]);
      fact.bytes = std::ssize(file);
      if (fact.bytes > kMostHashed) return;
      Sha256 hash;
      hash.update({reinterpret_cast<const char*>(file.bytes().data()), file.size()});
      fact.sha256 = hash.hex_digest();
    });
  }

  void read_header() {
    std::string command, inputs, options;
    for (const std::string& line : header_lines(options_.segments)) {
      facts_.header += line + "\n";
      if (line.starts_with("#semicrf ")) {
        command = split_last(line).second;
      } else if (line.starts_with("#params ")) {
        const auto [name, hash] = split_last(std::string_view(line).substr(8));
        options += " -p " + quoted_word(name);
        if (hash != "sha256=" + basis_.file.sha256)
          facts_.doubts.push_back("The segments were made with other parameters than " +
                                  file_title(options_.input.parameters) + ": the hash in their header, of " +
                                  name + ", is another one.");
      } else if (line.starts_with("#input ")) {
        const auto [name, bytes] = split_last(std::string_view(line).substr(7));
        add_word(inputs, bytes.starts_with("bytes=") ? name : line.substr(7));
        check_input(name, bytes);
      } else if (const auto option = header_option(line)) {
        options += option_words(option->first, option->second);
      }
    }
    if (!command.empty()) facts_.segments_command = "semicrf " + command + options + inputs;
  }

  // A track of that name must be as large as it was.
  void check_input(const std::string& name, const std::string& bytes) {
    const std::size_t equals = name.find('=');
    const std::string role = "track " + (equals == std::string::npos ? name : name.substr(0, equals));
    for (const FileFact& fact : facts_.files)
      if (fact.role == role && bytes.starts_with("bytes=") && bytes != fmt::format("bytes={}", fact.bytes))
        facts_.doubts.push_back(
            fmt::format("The segments were made with another file for {}: it had {} bytes, and {} has {}.",
                        role, bytes.substr(6), fact.name, fact.bytes));
  }

  const ReportOptions& options_;
  const ReportBasis& basis_;
  std::vector<std::string> paths_;
  ProvenanceFacts facts_;
};

}  // namespace

ProvenanceFacts provenance_facts(const ReportOptions& options, const ReportBasis& basis) {
  return Gathering(options, basis).gather();
}

}  // namespace semicrf
