#include "io/tracks/chromhmm_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/text/names.h"
#include "io/files/file_errors.h"
#include "io/tracks/track_text.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderLines = 2;

bool ends_like(const std::string& name, const std::string& kind) {
  return name.ends_with("_" + kind + ".txt") || name.ends_with("_" + kind + ".txt.gz");
}

std::vector<std::string> names_in(const std::string& line) {
  std::vector<std::string> names;
  for (const std::string_view name : split_at('\t', line)) names.emplace_back(name);
  return names;
}

std::vector<std::string> first_lines_of(const std::string& path) {
  TextLines text(path);
  std::vector<std::string> lines;
  std::string line;
  while (lines.size() <= kHeaderLines && text.next(line)) lines.push_back(line);
  return lines;
}

class ChromHmmReader : public TrackTextReader {
 public:
  ChromHmmReader(const TrackText& text, std::span<const std::size_t> columns, const std::string& cell,
                 std::int64_t bin_size)
      : columns_(columns.begin(), columns.end()),
        names_(text.columns),
        binarised_(text.format == TrackTextFormat::kBinarised),
        bin_size_(bin_size) {
    for (const ChromHmmFile& file : text.files)
      if (cell.empty() || file.cell == cell) files_.push_back(file);
  }

 protected:
  bool next_row(TrackRow& row) override {
    while (at_ < files_.size()) {
      if (!lines_) open(row);
      if (lines_->next(line_)) {
        read(row);
        return true;
      }
      lines_.reset();
      ++at_;
    }
    return false;
  }

 private:
  void open(TrackRow& row) {
    lines_.emplace(files_[at_].path);
    for (std::size_t i = 0; i < kHeaderLines; ++i) lines_->next(line_);
    if (names_in(line_) != names_)
      throw refused_at(*lines_, "the marks are not those of the first file", "give files of the same marks");
    row.chromosome = files_[at_].chromosome;
    row.file = files_[at_].path;
    bin_ = 0;
  }

  void read(TrackRow& row) {
    split_fields(line_, fields_);
    if (fields_.size() != names_.size())
      throw refused_at(*lines_,
                       fmt::format("found {}, expected {}, one for each mark",
                                   plural(fields_.size(), "column"), names_.size()),
                       "correct the line");
    row.values.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) row.values[i] = value(fields_[columns_[i]]);
    row.begin = bin_ * bin_size_;
    row.end = ++bin_ * bin_size_;
    row.is_bin = true;
    row.line = lines_->line_number();
  }

  float value(std::string_view field) const {
    if (!binarised_) return value_in(*lines_, field);
    if (field == "0" || field == "1") return field == "1" ? 1.0F : 0.0F;
    if (field == "2") return std::numeric_limits<float>::quiet_NaN();
    throw refused_at(*lines_, "the value is " + quoted_field(field) + ", expected 0, 1 or 2 (no data)",
                     "files of signals have _signal in their names");
  }

  std::vector<std::size_t> columns_;
  std::vector<std::string> names_;
  bool binarised_;
  std::int64_t bin_size_;
  std::vector<ChromHmmFile> files_;
  std::size_t at_ = 0;  // file that is read
  std::optional<TextLines> lines_;
  std::string line_;
  std::vector<std::string_view> fields_;
  std::int64_t bin_ = 0;
};

}  // namespace

bool is_chromhmm_text(const std::vector<std::string>& lines) {
  if (lines.size() < kHeaderLines) return false;
  const std::vector<std::string_view> first = split_at('\t', lines[0]), marks = split_at('\t', lines[1]);
  if (first.size() != 2 || first[0].empty() || first[1].empty()) return false;
  const auto is_number = [](std::string_view field) { return number_in<double>(field).has_value(); };
  if (std::ranges::any_of(marks, is_number)) return false;
  if (lines.size() == kHeaderLines) return true;
  const std::vector<std::string_view> values = split_at('\t', lines[2]);
  return values.size() == marks.size() && std::ranges::all_of(values, is_number);
}

TrackText chromhmm_file(const std::string& path, const std::vector<std::string>& lines) {
  const std::vector<std::string> first = names_in(lines[0]);
  TrackText text;
  text.path = path;
  const bool signal = fs::path(path).filename().string().find("_signal") != std::string::npos;
  text.format = signal ? TrackTextFormat::kSignal : TrackTextFormat::kBinarised;
  text.columns = names_in(lines[1]);
  text.files = {{path, first[0], first[1]}};
  text.samples = {first[0]};
  NameIndex known;
  for (const std::string& mark : text.columns) {
    if (const std::string problem = name_problem(mark); !problem.empty())
      throw InputError(path, 2, "the mark '" + mark + "': " + problem, "correct the line");
    if (!known.add(mark).second)
      throw InputError(path, 2, "two columns are named \"" + mark + "\"", "correct the line");
  }
  return text;
}

TrackText chromhmm_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> binarised, signals;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (ends_like(name, "binary")) binarised.push_back(entry->path().string());
    if (ends_like(name, "signal") && !ends_like(name, "controlsignal"))
      signals.push_back(entry->path().string());
  }
  if (error) throw read_error(path, "cannot be read", error.value());
  if (binarised.empty() && signals.empty())
    throw ReadError({path, "", "is a folder without files of ChromHMM (_binary.txt or _signal.txt)",
                     "give the name of a file"});
  if (!binarised.empty() && !signals.empty())
    throw InputError(
        {path, "", "has binarised files and files of signals", "put them into folders of their own"});
  std::vector<std::string>& files = binarised.empty() ? signals : binarised;
  std::ranges::sort(files);
  TrackText all;
  for (const std::string& file : files) {
    const std::vector<std::string> lines = first_lines_of(file);
    if (!is_chromhmm_text(lines))
      throw InputError(file, 1, "this is no file of ChromHMM: cell and chromosome, then the marks",
                       "check it");
    TrackText one = chromhmm_file(file, lines);
    if (all.files.empty()) {
      all = std::move(one);
      all.path = path;
      continue;
    }
    if (one.columns != all.columns)
      throw InputError(file, 2, "the marks are not those of " + all.files.front().path,
                       "give files of the same marks");
    all.files.push_back(std::move(one.files.front()));
  }
  all.format = binarised.empty() ? TrackTextFormat::kSignal : TrackTextFormat::kBinarised;
  std::ranges::stable_sort(all.files, [](const ChromHmmFile& a, const ChromHmmFile& b) {
    if (a.cell != b.cell) return natural_less(a.cell, b.cell);
    return natural_less(a.chromosome, b.chromosome);
  });
  for (std::size_t i = 1; i < all.files.size(); ++i)
    if (all.files[i].cell == all.files[i - 1].cell && all.files[i].chromosome == all.files[i - 1].chromosome)
      throw InputError(
          all.files[i].path, 1,
          all.files[i].chromosome + " of " + all.files[i].cell + " is in " + all.files[i - 1].path + " too",
          "take one of them out");
  all.samples.clear();
  for (const ChromHmmFile& file : all.files)
    if (all.samples.empty() || all.samples.back() != file.cell) all.samples.push_back(file.cell);
  return all;
}

std::unique_ptr<TrackTextReader> open_chromhmm(const TrackText& text, std::span<const std::size_t> columns,
                                               const std::string& cell, std::int64_t bin_size) {
  return std::make_unique<ChromHmmReader>(text, columns, cell, bin_size);
}

}  // namespace semicrf
