#include "io/segments/segment_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text/fixed_decimal.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/files/input_kind.h"
#include "io/files/output_names.h"
#include "io/segments/textgrid.h"

namespace semicrf {
namespace {

struct TimedLabel {
  std::string sequence;
  double begin = 0;  // seconds
  double end = 0;
  std::string label;
  std::int64_t line = 0;
};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  split_bed(line, fields);
  return fields;
}

bool is_skipped(const std::string& line) {
  return line.find_first_not_of(" \t") == std::string::npos || line.front() == '#';
}

std::optional<double> seconds(const std::string& text) {
  const auto value = number_in<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

constexpr std::size_t kNoColumn = -1;

// Which column is what; width 0: not known yet.
struct TableColumns {
  std::size_t begin = 0, end = 1, label = 2, width = 0;
  std::size_t sequence = kNoColumn;
};

// Width 0: the line is no header.
TableColumns header_columns(const std::vector<std::string>& fields) {
  const auto find = [&](std::string_view name) {
    const auto found = std::ranges::find(fields, name);
    return found == fields.end() ? kNoColumn : found - fields.begin();
  };
  TableColumns columns{find("begin"), find("end"), find("label"), fields.size(), find("sequence")};
  if (columns.begin == kNoColumn || columns.end == kNoColumn || columns.label == kNoColumn) columns.width = 0;
  return columns;
}

// Whether the file may be a table: BedReader says of another kind what it is.
bool may_be_text(const std::string& path) {
  const InputKind kind = detect_input_kind(path);
  return kind == InputKind::kText || kind == InputKind::kGzip || kind == InputKind::kBgzip;
}

// Whether the first line of the file is that of a table of times: a header line, or two numbers and a label.
bool is_table(const std::string& path) {
  TextLines lines(path);
  std::string line;
  while (lines.next(line)) {
    if (is_skipped(line)) continue;
    const std::vector<std::string> fields = fields_of(line);
    return header_columns(fields).width > 0 ||
           (fields.size() == 3 && seconds(fields[0]) && seconds(fields[1]) && !seconds(fields[2]));
  }
  return false;
}

std::vector<TimedLabel> read_table(const std::string& path, const std::string& name) {
  TextLines lines(path);
  std::vector<TimedLabel> labels;
  TableColumns columns;
  std::string line;
  while (lines.next(line)) {
    if (is_skipped(line)) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (columns.width == 0) {
      columns = header_columns(fields);
      if (columns.width > 0) continue;
      columns = {0, 1, 2, 3, kNoColumn};
    }
    const auto refuse = [&](const std::string& what) {
      return InputError(path, lines.line_number(), what,
                        "a table of labels has the columns begin, end (seconds) and label");
    };
    if (fields.size() != columns.width)
      throw refuse(fmt::format("found {} column(s), expected {}", fields.size(), columns.width));
    const auto begin = seconds(fields[columns.begin]), end = seconds(fields[columns.end]);
    if (!begin || !end)
      throw refuse("'" + fields[begin ? columns.end : columns.begin] + "' is not a time in seconds");
    labels.push_back({columns.sequence != kNoColumn ? fields[columns.sequence] : name, *begin, *end,
                      fields[columns.label], lines.line_number()});
    if (labels.back().sequence.empty()) throw refuse("the column \"sequence\" is empty");
    if (const std::string problem = sequence_name_problem(labels.back().sequence); !problem.empty())
      throw refuse("the sequence '" + labels.back().sequence + "': " + problem);
  }
  return labels;
}

std::vector<TimedLabel> read_grid(const std::string& path, const std::string& name, const LabelTimes& times) {
  const std::vector<TextGridTier> tiers = read_textgrid(path);
  const auto of_intervals = std::ranges::count(tiers, true, &TextGridTier::of_intervals);
  const std::string tier = times.tier_of_others && of_intervals == 1 ? "" : times.tier;
  std::vector<std::string> names;
  const TextGridTier* chosen = nullptr;
  for (const TextGridTier& one : tiers) {
    if (!one.of_intervals) continue;
    names.push_back(one.name);
    if (tier.empty() || one.name == tier) chosen = &one;
  }
  const std::string listed = joined(names, ", ");
  if (names.empty()) throw InputError({path, "", "has no interval tier", "labels are intervals"});
  if (chosen == nullptr)
    throw UsageError("--tier: " + path + " has no interval tier \"" + tier + "\"", "it has " + listed);
  const auto same = std::ranges::count(names, chosen->name);
  if ((tier.empty() && names.size() > 1) || (!tier.empty() && same > 1))
    throw UsageError(fmt::format("{} has {} interval tiers: {}", path, names.size(), listed),
                     "choose one with --tier NAME");
  std::vector<TimedLabel> labels;
  for (const TextGridInterval& interval : chosen->intervals)
    if (interval.text.find_first_not_of(" \t\r\n") != std::string::npos)
      labels.push_back({name, interval.begin, interval.end, interval.text, interval.line});
  return labels;
}

// The TextGrids of a folder, in the natural order of their names. InputError: none, or two of one sequence.
std::vector<std::string> grids_in(const std::string& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::string ending = entry.path().extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
    if (ending == ".textgrid" && entry.is_regular_file(error)) found.push_back(entry.path());
  }
  if (error) throw ReadError({folder, "", "this folder cannot be listed: " + error.message(), ""});
  if (found.empty())
    throw InputError({folder, "", "this folder has no file whose name ends in .TextGrid",
                      "give a file of labels, or a folder of TextGrids"});
  std::ranges::sort(found, natural_less, [](const auto& path) { return path.filename().string(); });
  std::vector<std::string> files;
  for (const std::filesystem::path& path : found) {
    if (!files.empty() && std::filesystem::path(files.back()).stem() == path.stem())
      throw InputError({path.string(), "", "belongs to the same sequence as " + files.back(),
                        "every TextGrid of a folder is the sequence of its name: remove one of the two"});
    files.push_back(path.string());
  }
  return files;
}

// Intervals have a length, and those of a sequence are sorted and do not overlap.
void check_order(const std::string& path, const std::vector<TimedLabel>& labels) {
  std::map<std::string, const TimedLabel*> last;
  for (const TimedLabel& label : labels) {
    const auto refuse = [&](const std::string& what, const std::string& advice) {
      return InputError(path, label.line, what, advice);
    };
    if (label.begin < 0 || label.end <= label.begin)
      throw refuse("begin " + exact_text(label.begin) + " must be 0 or more and less than end " +
                       exact_text(label.end),
                   "times are in seconds");
    const TimedLabel*& before = last[label.sequence];
    if (before != nullptr && label.begin < before->end)
      throw refuse(fmt::format("the interval from {} to {} s {} that of line {}, from {} to {} s",
                               exact_text(label.begin), exact_text(label.end),
                               label.end <= before->begin ? "comes before" : "overlaps", before->line,
                               exact_text(before->begin), exact_text(before->end)),
                   "intervals must be sorted and must not overlap");
    before = &label;
  }
}

// Times as positions, at the nearest edges of bins; -1 where a file has no place for such a time.
std::int64_t position_of(double time, const LabelTimes& times) {
  constexpr double kMost = 1e15;
  const double bins = std::round(time * times.rate / static_cast<double>(times.bin_size));
  const double position = bins * static_cast<double>(times.bin_size);
  return position > kMost ? -1 : static_cast<std::int64_t>(position);
}

}  // namespace

std::string take_sequence_name(std::string& argument) {
  const std::size_t equals = argument.find('=');
  std::error_code ignored;
  if (equals == std::string::npos || std::filesystem::exists(argument, ignored)) return "";
  std::string name = argument.substr(0, equals);
  if (const std::string problem = name_problem(name); !name.empty() && !problem.empty())
    throw UsageError("'" + name + "=': " + problem);
  argument.erase(0, equals + 1);
  return name;
}

std::string take_file_name(std::string& argument) {
  std::string name = take_sequence_name(argument);
  if (!name.empty()) return name;
  name = std::filesystem::path(without_compression(argument)).stem().string();
  if (const std::string problem = name_problem(name); !problem.empty())
    throw InputError({argument, "", "the name '" + name + "': " + problem, "name it: NAME=PATH"});
  return name;
}

std::string path_of_argument(std::string argument) {
  take_sequence_name(argument);
  return argument;
}

SegmentReader::SegmentReader(const std::string& path, const LabelTimes& times) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  if (folder && !times.sequence.empty())
    throw UsageError("'" + times.sequence + "=' names one sequence, but " + path + " is a folder",
                     "leave the name out: every TextGrid is the sequence of its own name");
  files_ = folder ? grids_in(path) : std::vector{path};
  // What can be read only once, a pipe or standard input, is BED.
  const bool twice = std::filesystem::is_regular_file(files_.front(), ignored);
  const bool grid = folder || (twice && is_textgrid(path));
  if (!grid && !(twice && may_be_text(path) && is_table(path))) {
    if (!times.sequence.empty())
      throw UsageError(
          "'" + times.sequence + "=' names the sequence of " + path + ", but BED files name theirs",
          "leave the name out");
    bed_ = std::make_unique<BedReader>(path);
    return;
  }
  if (times.rate <= 0)
    throw UsageError(path + " has times in seconds, which become positions only by a rate",
                     "give --rate R, positions per second");
  for (std::size_t file = 0; file < files_.size(); ++file) read_times(file, grid, times);
}

void SegmentReader::read_times(std::size_t file, bool grid, const LabelTimes& times) {
  const std::string& path = files_[file];
  const std::string name =
      times.sequence.empty() ? std::filesystem::path(path).stem().string() : times.sequence;
  if (const std::string problem = sequence_name_problem(name); !problem.empty())
    throw InputError({path, "", "the sequence '" + name + "': " + problem, "name it: NAME=PATH"});
  const std::vector<TimedLabel> labels = grid ? read_grid(path, name, times) : read_table(path, name);
  check_order(path, labels);
  for (const TimedLabel& label : labels) {
    BedRecord record;
    record.chromosome = label.sequence;
    record.begin = position_of(label.begin, times);
    record.end = position_of(label.end, times);
    if (record.end < 0) throw InputError(path, label.line, "the time is too large", "");
    record.name = label.label;
    record.fields = {label.sequence, "", "", label.label};
    record.line = label.line;
    if (record.begin < record.end) {
      records_.push_back({std::move(record), file});
    } else {
      ++vanished_;
    }
  }
}

SegmentReader::~SegmentReader() = default;

bool SegmentReader::next(BedRecord& record) {
  if (bed_) return bed_->next(record);
  if (next_ == records_.size()) return false;
  file_ = records_[next_].file;
  record = records_[next_++].record;
  return true;
}

}  // namespace semicrf
