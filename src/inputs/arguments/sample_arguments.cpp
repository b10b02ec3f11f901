#include "inputs/arguments/sample_arguments.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "inputs/arguments/input_argument.h"
#include "inputs/arguments/track_pattern.h"

namespace semicrf {
namespace {

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// The path itself, or the files that match it, in the order of their bytes.
std::vector<std::string> matching_files(const std::string& path) {
  if (is_there(path.substr(0, path.find('?'))) || path.find_first_of("*?[") == std::string::npos)
    return {path};
  glob_t found{};
  std::vector<std::string> files;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread has started
  if (glob(path.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (files.empty())
    throw ReadError({path, "", "no file matches this pattern of --sample", "give the paths of the tracks"});
  std::ranges::sort(files);
  return files;
}

// "K562.CTCF" and "CTCF.K562" of the sample K562: CTCF.
std::string without_sample(std::string stem, const std::string& sample) {
  constexpr std::string_view kJoints = "._-";
  const std::size_t length = sample.size();
  if (stem.size() < length + 2) return stem;
  if (stem.starts_with(sample) && kJoints.find(stem[length]) != std::string_view::npos)
    return stem.substr(length + 1);
  const std::size_t joint = stem.size() - length - 1;
  if (stem.ends_with(sample) && kJoints.find(stem[joint]) != std::string_view::npos)
    return stem.substr(0, joint);
  return stem;
}

class SampleFiles {
 public:
  SampleFiles(const std::string& text, const std::string& track_pattern) {
    if (!track_pattern.empty()) pattern_.emplace(track_pattern);
    const std::size_t equals = text.find('=');
    sample_ = text.substr(0, equals);
    const std::string files = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (sample_.empty() || files.empty())
      throw UsageError(
          "--sample \"" + text + "\" has an empty " + (sample_.empty() ? "name" : "list of files"),
          "write --sample NAME=FILE,FILE");
    if (const std::string problem = name_problem(sample_); !problem.empty())
      throw UsageError("--sample '" + sample_ + "': " + problem);
    for (const std::string_view file : split_at(',', files)) add(std::string(file));
  }

  std::vector<SampleRow> take() { return std::move(rows_); }

 private:
  void add(const std::string& file) {
    if (file.empty()) return;  // a comma at the end
    const std::size_t equals = end_of_name(file);
    if (equals != std::string::npos) {
      add_row(file.substr(0, equals), file.substr(equals + 1));
      return;
    }
    for (const std::string& path : matching_files(file))
      if (!add_columns(path)) add_row(track_name(path), path);
  }

  // The columns of a text that has several; false: it is something else.
  bool add_columns(const std::string& path) {
    if (!is_there(path.substr(0, path.find('?')))) return false;
    InputArgument argument;
    argument.path = path;
    settle_kind(argument);
    if (!argument.text) return false;
    choose_sample(sample_, argument);
    const std::vector<InputArgument> columns = columns_of_text(argument);
    for (const InputArgument& column : columns)
      if (!column.column.empty())
        add_row(column.column, column.path + "?column=" + column.column + sample_options(column));
    return !columns.front().column.empty();
  }

  std::string track_name(const std::string& path) const {
    if (!pattern_) return without_sample(std::filesystem::path(path).stem().string(), sample_);
    const auto names = pattern_->match(path);
    if (!names || (!names->sample.empty() && names->sample != sample_))
      throw UsageError("--sample " + sample_ + ": the name of " + path + " does not match --track-pattern '" +
                           pattern_->text() + "'",
                       "change the pattern, or name the track: TRACK=" + path);
    return names->track;
  }

  void add_row(const std::string& track, const std::string& path) {
    if (track.empty() || path.empty())
      throw UsageError("--sample " + sample_ + " has a track without a name or a path",
                       "write --sample NAME=TRACK=FILE,TRACK=FILE");
    if (!tracks_.add(track).second)
      throw UsageError("--sample " + sample_ + " has the track \"" + track + "\" twice",
                       "name the tracks: --sample NAME=TRACK=FILE,TRACK=FILE");
    rows_.push_back({sample_, track, path, 0, ""});
  }

  std::optional<TrackPattern> pattern_;
  std::string sample_;
  std::vector<SampleRow> rows_;
  NameIndex tracks_;
};

}  // namespace

bool has_sample_files(const std::vector<std::string>& samples) {
  return std::ranges::any_of(samples,
                             [](const std::string& text) { return text.find('=') != std::string::npos; });
}

std::vector<SampleRow> rows_of_samples(const std::vector<std::string>& samples,
                                       const std::string& track_pattern) {
  std::vector<SampleRow> all;
  NameIndex names;
  for (const std::string& text : samples) {
    std::vector<SampleRow> rows = SampleFiles(text, track_pattern).take();
    if (rows.empty())
      throw UsageError("--sample \"" + text + "\" has no files", "write --sample NAME=FILE,FILE");
    if (!names.add(rows.front().sample).second)
      throw UsageError("--sample names \"" + rows.front().sample + "\" twice",
                       "give all files of a sample at once: NAME=FILE,FILE");
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace semicrf
