#include "io/tracks/interval_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include "io/segments/bed_reader.h"
#include "io/tracks/track_text.h"

namespace semicrf {

namespace {

constexpr auto kChromosomeNames =
    std::to_array<std::string_view>({"chrom", "chr", "chromosome", "seqnames", "seqname", "contig"});
constexpr auto kStartNames = std::to_array<std::string_view>({"start", "begin", "chromstart"});
constexpr auto kEndNames = std::to_array<std::string_view>({"end", "stop", "chromend"});
constexpr auto kPositionNames = std::to_array<std::string_view>({"pos", "position"});

// A name of a header without the quotes that R and deepTools write, and without the # of a comment.
std::string header_name(std::string_view field) {
  if (field.starts_with('#')) field.remove_prefix(1);
  if (field.size() >= 2 && (field.front() == '"' || field.front() == '\'') && field.back() == field.front())
    field = field.substr(1, field.size() - 2);
  return std::string(field);
}

template <class Names>
std::optional<std::size_t> field_named(const std::vector<std::string>& header, const Names& names) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string name = header[i];
    std::ranges::transform(name, name.begin(), lower);
    if (std::ranges::find(names, name) != names.end()) return i;
  }
  return std::nullopt;
}

// The layout that names of columns say.
std::optional<TableLayout> layout_of(const std::vector<std::string>& header) {
  TableLayout layout;
  const auto chromosome = field_named(header, kChromosomeNames);
  auto start = field_named(header, kStartNames);
  layout.end = field_named(header, kEndNames);
  if (!start && !layout.end) {
    start = field_named(header, kPositionNames);
    layout.one_based = start.has_value();
  }
  if (!chromosome || !start) return std::nullopt;
  layout.chromosome = *chromosome;
  layout.start = *start;
  return layout;
}

bool is_value(std::string_view field) { return is_no_value(field) || number_in<double>(field).has_value(); }

bool begins_with_positions(const std::vector<std::string_view>& fields) {
  return fields.size() > 2 && number_in<std::int64_t>(fields[1]) && number_in<std::int64_t>(fields[2]);
}

class IntervalReader : public TrackTextReader {
 public:
  IntervalReader(const TrackText& text, std::span<const std::size_t> columns, std::int64_t bin_size)
      : lines_(text.path),
        layout_(text.layout),
        is_table_(text.format == TrackTextFormat::kTable),
        bin_size_(bin_size) {
    if (!is_table_) {
      layout_ = TableLayout();
      layout_.end = 2;
      wanted_ = {3};
      needed_ = kBedGraphFields;
      return;
    }
    for (const std::size_t column : columns) wanted_.push_back(layout_.fields[column]);
    needed_ = std::max({layout_.chromosome, layout_.start, layout_.end.value_or(0)});
    for (const std::size_t field : wanted_) needed_ = std::max(needed_, field);
    ++needed_;
    passed_header_ = layout_.numbered;
  }

 protected:
  bool next_row(TrackRow& row) override {
    while (lines_.next(line_)) {
      if (is_bed_header(line_)) continue;
      split_fields(line_, fields_);
      if (is_table_ && !passed_header_) {
        passed_header_ = true;
        if (!(fields_.size() > layout_.start && number_in<std::int64_t>(fields_[layout_.start]))) continue;
      }
      read(row);
      return true;
    }
    return false;
  }

 private:
  void read(TrackRow& row) {
    if (is_table_ ? fields_.size() < needed_ : fields_.size() != needed_)
      throw refused_at(lines_,
                       fmt::format("found {}, expected {}{}", plural(fields_.size(), "column"), needed_,
                                   is_table_ ? " at least" : ": chromosome, start, end and a value"),
                       "correct the line");
    row.chromosome = fields_[layout_.chromosome];
    const std::int64_t first = layout_.one_based ? 1 : 0;
    row.begin = position_in(lines_, fields_[layout_.start], "start", first) - first;
    row.is_bin = !layout_.end && !layout_.one_based;
    row.end = layout_.end ? position_in(lines_, fields_[*layout_.end], "end", 0)
                          : row.begin + (layout_.one_based ? 1 : bin_size_);
    if (row.end <= row.begin)
      throw refused_at(lines_, fmt::format("start {} must be less than end {}", row.begin, row.end),
                       "correct the line");
    row.values.resize(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::string_view field = fields_[wanted_[i]];
      const bool none = is_table_ && is_no_value(field);
      row.values[i] = none ? std::numeric_limits<float>::quiet_NaN() : value_in(lines_, field);
    }
    if (row.line == 0) row.file = lines_.path();
    row.line = lines_.line_number();
  }

  TextLines lines_;
  TableLayout layout_;
  bool is_table_;
  std::int64_t bin_size_;
  std::vector<std::size_t> wanted_;  // fields
  std::size_t needed_ = 0;           // fields of a line
  bool passed_header_ = false;
  std::string line_;
  std::vector<std::string_view> fields_;
};

}  // namespace

std::optional<FoundTable> table_of(const std::string& comment, const std::vector<std::string>& lines) {
  std::vector<std::string_view> fields, data;
  split_fields(lines.front(), fields);
  FoundTable found;
  found.fields = fields.size();
  std::vector<std::string> header;
  if (!begins_with_positions(fields)) {
    for (const std::string_view field : fields) header.push_back(header_name(field));
    if (lines.size() < 2) return std::nullopt;
    split_fields(lines[1], data);
    if (data.size() != header.size()) return std::nullopt;
  } else {
    data = fields;
    std::vector<std::string_view> names;
    if (comment.find('\t') != std::string::npos) split_fields(comment, names);
    if (names.size() == data.size())
      for (const std::string_view name : names) header.push_back(header_name(name));
  }
  auto layout = layout_of(header);
  if (!layout) {
    if (!begins_with_positions(fields)) return std::nullopt;
    layout.emplace();
    layout->end = 2;
    layout->numbered = true;
    header.clear();
    for (std::size_t i = 1; i <= data.size(); ++i) header.push_back(fmt::to_string(i));
  }
  if (!number_in<std::int64_t>(data[layout->start])) return std::nullopt;
  found.layout = *layout;
  std::unordered_set<std::string> names;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i == layout->chromosome || i == layout->start || i == layout->end || !is_value(data[i])) continue;
    if (header[i].empty() || !names.insert(header[i]).second) continue;
    found.columns.push_back(header[i]);
    found.layout.fields.push_back(i);
  }
  return found;
}

std::unique_ptr<TrackTextReader> open_intervals(const TrackText& text, std::span<const std::size_t> columns,
                                                std::int64_t bin_size) {
  return std::make_unique<IntervalReader>(text, columns, bin_size);
}

namespace {

class WigReader : public TrackTextReader {
 public:
  explicit WigReader(const std::string& path) : lines_(path) {}

 protected:
  bool next_row(TrackRow& row) override {
    while (lines_.next(line_)) {
      if (is_bed_header(line_)) continue;
      if (line_.starts_with("fixedStep") || line_.starts_with("variableStep")) {
        declare();
        continue;
      }
      if (chromosome_.empty())
        throw refused_at(lines_, "there is no fixedStep or variableStep before this line",
                         "correct the file");
      split_fields(line_, fields_);
      const std::size_t expected = fixed_ ? 1 : 2;
      if (fields_.size() != expected)
        throw refused_at(
            lines_,
            "found " + plural(fields_.size(), "column") + ", expected " +
                (fixed_ ? "1 under fixedStep: a value" : "2 under variableStep: a position and a value"),
            "correct the line");
      if (!fixed_) at_ = position_in(lines_, fields_[0], "the position", 1) - 1;
      row.values.assign(1, value_in(lines_, fields_.back()));
      row.chromosome = chromosome_;
      row.begin = at_;
      row.end = at_ + span_;
      row.file = lines_.path();
      row.line = lines_.line_number();
      if (fixed_) at_ += step_;
      return true;
    }
    return false;
  }

 private:
  // The words of a declaration.
  void declare() {
    split_fields(line_, fields_);
    fixed_ = fields_.front() == "fixedStep";
    chromosome_.clear();
    span_ = step_ = 1;
    at_ = -1;
    for (std::size_t i = 1; i < fields_.size(); ++i) {
      const std::size_t equals = std::min(fields_[i].find('='), fields_[i].size());
      const std::string_view key = fields_[i].substr(0, equals);
      const std::string_view value = fields_[i].substr(std::min(equals + 1, fields_[i].size()));
      if (key == "chrom") {
        chromosome_ = value;
      } else if (key == "start" && fixed_) {
        at_ = position_in(lines_, value, "start", 1) - 1;
      } else if (key == "step" && fixed_) {
        step_ = position_in(lines_, value, "step", 1);
      } else if (key == "span") {
        span_ = position_in(lines_, value, "span", 1);
      } else {
        throw refused_at(
            lines_, "unknown word " + quoted_field(fields_[i]),
            fixed_ ? "fixedStep has chrom=, start=, step= and span=" : "variableStep has chrom= and span=");
      }
    }
    if (chromosome_.empty()) throw refused_at(lines_, "chrom= is missing", "correct the line");
    if (fixed_ && at_ < 0) throw refused_at(lines_, "start= is missing", "correct the line");
  }

  TextLines lines_;
  std::string line_;
  std::vector<std::string_view> fields_;
  bool fixed_ = true;
  std::string chromosome_;  // empty: nothing was declared
  std::int64_t at_ = -1;    // base, from 0, of the next value
  std::int64_t step_ = 1, span_ = 1;
};

}  // namespace

std::unique_ptr<TrackTextReader> open_wig(const std::string& path) {
  return std::make_unique<WigReader>(path);
}

}  // namespace semicrf
