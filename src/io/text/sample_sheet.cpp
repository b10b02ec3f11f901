#include "io/text/sample_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

constexpr std::array<std::string_view, 3> kColumns = {"sample", "track", "path"};

class SheetReader {
 public:
  explicit SheetReader(const std::string& path) : lines_(path) {}

  std::vector<SampleRow> read() {
    std::vector<std::string> fields;
    while (next(fields)) {
      if (width_ == 0) {
        read_header(fields);
      } else {
        add(fields);
      }
    }
    if (rows_.empty())
      throw InputError({lines_.path(), "", "there is no row in this sample sheet",
                        "give the columns sample, track and path, separated by tabs, with a header line"});
    return std::move(rows_);
  }

 private:
  bool next(std::vector<std::string>& fields) {
    std::string line;
    while (lines_.next(line)) {
      if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
      const std::vector<std::string_view> parts = split_at('\t', line);
      fields.assign(parts.begin(), parts.end());
      return true;
    }
    return false;
  }

  InputError refuse(const std::string& what, const std::string& advice) const {
    return InputError(lines_.path(), lines_.line_number(), what, advice);
  }

  void read_header(const std::vector<std::string>& fields) {
    width_ = fields.size();
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const auto found = std::ranges::find(fields, kColumns[i]);
      if (found == fields.end())
        throw refuse("the header line has no column \"" + std::string(kColumns[i]) + "\", found " +
                         joined(fields, ", "),
                     "a sample sheet has the columns sample, track and path, separated by tabs");
      columns_[i] = found - fields.begin();
    }
    labels_column_ = std::ranges::find(fields, "labels") - fields.begin();
    control_column_ = std::ranges::find(fields, "control") - fields.begin();
  }

  // The file of labels of a row; rows of a sample that leave it empty have that of the others.
  std::string labels_of(const std::vector<std::string>& fields, const std::string& sample,
                        const std::filesystem::path& folder) {
    if (labels_column_ == fields.size() || fields[labels_column_].empty()) return "";
    const std::string path = (folder / fields[labels_column_]).string();
    const auto [other, is_new] = labels_.emplace(sample, path);
    if (!is_new && other->second != path)
      throw refuse("the sample \"" + sample + "\" has the labels " + other->second + " already",
                   "give each sample one file of labels");
    return path;
  }

  std::string control_of(const std::vector<std::string>& fields, const std::filesystem::path& folder) const {
    if (control_column_ == fields.size() || fields[control_column_].empty()) return "";
    return (folder / fields[control_column_]).string();
  }

  void add(const std::vector<std::string>& fields) {
    if (fields.size() != width_)
      throw refuse(fmt::format("found {} column(s), the header line has {}", fields.size(), width_),
                   "columns are separated by tabs");
    std::array<std::string, kColumns.size()> values;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      values[i] = fields[columns_[i]];
      if (values[i].empty()) throw refuse("the column \"" + std::string(kColumns[i]) + "\" is empty", "");
    }
    const std::filesystem::path folder = std::filesystem::path(lines_.path()).parent_path();
    rows_.push_back({values[0], values[1], (folder / values[2]).string(), lines_.line_number(),
                     labels_of(fields, values[0], folder), control_of(fields, folder)});
    const auto [other, is_new] = seen_.emplace(std::pair(values[0], values[1]), lines_.line_number());
    if (!is_new)
      throw refuse(fmt::format("the track \"{}\" of sample \"{}\" is in line {} already", values[1],
                               values[0], other->second),
                   "give each track of a sample once");
  }

  TextLines lines_;
  std::size_t width_ = 0;  // fields of the header line, 0: not read yet
  std::array<std::size_t, kColumns.size()> columns_{};
  std::size_t labels_column_ = 0;              // width_: there is none
  std::size_t control_column_ = 0;             // width_: there is none
  std::map<std::string, std::string> labels_;  // by sample
  std::vector<SampleRow> rows_;
  std::map<std::pair<std::string, std::string>, std::int64_t> seen_;  // sample and track -> line
};

}  // namespace

std::vector<SampleRow> read_sample_sheet(const std::string& path) { return SheetReader(path).read(); }

std::vector<std::string> samples_of(const std::vector<SampleRow>& rows) {
  std::vector<std::string> samples;
  NameIndex seen;
  for (const SampleRow& row : rows)
    if (seen.add(row.sample).second) samples.push_back(row.sample);
  return samples;
}

}  // namespace semicrf
