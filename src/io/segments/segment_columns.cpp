#include "io/segments/segment_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/text/fixed_decimal.h"
#include "core/text/text.h"
#include "io/text/palette.h"
#include "io/text/provenance_header.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

constexpr int kMaxScore = 1000;

void append(std::string& line, std::string_view text) {
  line += '\t';
  line += text;
}

void append_position(std::string& line, std::int64_t value) {
  line += '\t';
  append_integer(value, line);
}

void append_probability(std::string& line, std::optional<double> value) {
  if (!value) return append(line, ".");
  line += '\t';
  append_six_significant(*value, line);
}

void append_interval(std::string& line, const BinLocation& location,
                     const std::optional<BoundaryInterval>& interval) {
  if (!interval) return append(line, ".\t.");
  append_position(line, location.begin_base(interval->lower));
  append_position(line, location.begin_base(interval->upper));
}

const std::string& name_of(const std::vector<std::string>& names, const Segment& segment) {
  return names[segment.label];
}

enum Column : std::size_t { kChromosome, kPosition, kFrom, kTo, kLower, kUpper, kNumColumns };
constexpr std::array<std::string_view, kNumColumns> kColumnNames = {"chrom", "position", "from",
                                                                    "to",    "lower",    "upper"};
using Columns = std::array<std::size_t, kNumColumns>;

// Where the columns are, by the line of their names; nullopt where one is missing.
std::optional<Columns> find_columns(std::string_view names) {
  if (names.starts_with('#')) names.remove_prefix(1);
  const std::vector<std::string_view> fields = split_at('\t', names);
  Columns columns;
  for (std::size_t i = 0; i < kNumColumns; ++i) {
    const auto found = std::ranges::find(fields, kColumnNames[i]);
    if (found == fields.end()) return std::nullopt;
    columns[i] = found - fields.begin();
  }
  return columns;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : lines_(path) {}

  BoundaryTable read() {
    std::string line, names;
    while (lines_.next(line)) {
      if (line.empty()) continue;
      if (line.front() == '#') {
        if (auto option = header_option(line)) table_.options.insert_or_assign(option->first, option->second);
        names = line;
        continue;
      }
      if (!columns_) columns_ = find_columns(names);
      if (!columns_ && (columns_ = find_columns(line))) continue;  // written without comments
      if (!columns_) refuse_table();
      add(split_at('\t', line));
    }
    if (!columns_ && !find_columns(names)) refuse_table();
    return std::move(table_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(lines_.path(), lines_.line_number(), what, "this is not a table of decode --boundaries");
  }
  [[noreturn]] void refuse_table() const {
    throw InputError({lines_.path(), "",
                      "has no header line with the columns chrom, position, from, to, lower and upper",
                      "give the file that decode --boundaries wrote"});
  }

  std::int64_t number(std::string_view text, Column column) const {
    const auto value = number_in<std::int64_t>(text);
    if (!value || *value < 0)
      refuse(std::string(kColumnNames[column]) + " is '" + std::string(text.substr(0, 40)) +
             "', expected a whole number, 0 or more");
    return *value;
  }

  void add(const std::vector<std::string_view>& fields) {
    const std::size_t needed = *std::ranges::max_element(*columns_) + 1;
    if (fields.size() < needed) refuse(fmt::format("found {} columns, expected {}", fields.size(), needed));
    const auto field = [&](Column column) { return fields[(*columns_)[column]]; };
    BoundaryRecord record;
    record.chromosome = field(kChromosome);
    record.position = number(field(kPosition), kPosition);
    record.from = field(kFrom);
    record.to = field(kTo);
    record.line = lines_.line_number();
    if (field(kLower) != ".") {
      record.lower = number(field(kLower), kLower);
      record.upper = number(field(kUpper), kUpper);
      if (*record.lower > record.position || *record.upper < record.position)
        refuse(fmt::format("the interval from {} to {} does not hold its boundary, {}", *record.lower,
                           *record.upper, record.position));
    }
    table_.boundaries.push_back(std::move(record));
  }

  TextLines lines_;
  std::optional<Columns> columns_;
  BoundaryTable table_;
};

}  // namespace

void join_segments(Segment& left, SegmentPosteriors& left_support, const Segment& right,
                   const SegmentPosteriors& right_support) {
  const auto left_bins = static_cast<double>(left.end - left.begin);
  const auto right_bins = static_cast<double>(right.end - right.begin);
  left_support.mean_label_posterior =
      (left_support.mean_label_posterior * left_bins + right_support.mean_label_posterior * right_bins) /
      (left_bins + right_bins);
  left_support.end_posterior = right_support.end_posterior;
  left_support.exact_posterior.reset();
  left.end = right.end;
}

int bed_score(double probability) {
  return std::clamp(static_cast<int>(std::lround(kMaxScore * probability)), 0, kMaxScore);
}

SegmentColumns::SegmentColumns(const std::vector<Label>& labels, PosteriorColumns support)
    : support_(support), labels_(names_of(labels)), colors_(color_columns(labels)) {}

const StatisticList<SegmentPosteriors>& segment_statistics() {
  using enum StatisticUnit;
  using P = SegmentPosteriors;
  static const StatisticList<P> list = {
      {"p_label", "", kProbability, "mean of P(label) over the segment", &P::mean_label_posterior},
      {"p_segment", "", kProbability, "P(exactly this segment)", &P::exact_posterior},
      {"p_start", "", kProbability, "P(a segment of this label starts at its start)", &P::start_posterior},
      {"p_end", "", kProbability, "P(a segment of this label ends at its end)", &P::end_posterior},
  };
  return list;
}

void SegmentColumns::append_to(std::string& text, const Segment& segment, const SegmentPosteriors& support,
                               std::string_view begin, std::string_view end) const {
  text += name_of(labels_, segment);
  append_position(text, bed_score(support.mean_label_posterior));
  append(text, ".");
  append(text, begin);
  append(text, end);
  append(text, name_of(colors_, segment));
  if (support_.label) append_probability(text, support.mean_label_posterior);
  if (support_.segment) append_probability(text, support.exact_posterior);
  if (!support_.edges) return;
  append_probability(text, support.start_posterior);
  append_probability(text, support.end_posterior);
}

SegmentTableWriter::SegmentTableWriter(OutputFile& output, const std::vector<Label>& labels, bool intervals,
                                       bool comment)
    : output_(output), intervals_(intervals), names_(names_of(labels)) {
  if (comment) output_.write("#");
  output_.write("chrom\tstart\tend\tlabel" + tabbed_names(segment_statistics()));
  output_.write(intervals ? "\tstart_lower\tstart_upper\n" : "\n");
}

void SegmentTableWriter::begin_piece(const BinLocation& location) { location_ = location; }

void SegmentTableWriter::add(const Segment& segment, const SegmentPosteriors& support) {
  line_ = location_.chromosome;
  append_position(line_, location_.begin_base(segment.begin));
  append_position(line_, location_.end_base(segment.end));
  append(line_, name_of(names_, segment));
  for (const auto& column : segment_statistics()) append_probability(line_, column.value(support).number());
  if (intervals_) append_interval(line_, location_, support.start_interval);
  line_ += '\n';
  output_.write(line_);
}

BoundaryTableWriter::BoundaryTableWriter(OutputFile& output, const std::vector<Label>& labels, bool comment)
    : output_(output), names_(names_of(labels)) {
  if (comment) output_.write("#");
  output_.write("chrom\tposition\tfrom\tto\tp\tlower\tupper\n");
}

void BoundaryTableWriter::begin_piece(const BinLocation& location) {
  location_ = location;
  left_.reset();
}

void BoundaryTableWriter::add(const Segment& segment, const SegmentPosteriors& support) {
  const std::optional<Segment> left = std::exchange(left_, segment);
  if (!left) return;
  line_ = location_.chromosome;
  append_position(line_, location_.begin_base(segment.begin));
  append(line_, name_of(names_, *left));
  append(line_, name_of(names_, segment));
  append_probability(line_, support.start_posterior);
  append_interval(line_, location_, support.start_interval);
  line_ += '\n';
  output_.write(line_);
}

BoundaryTable read_boundary_table(const std::string& path) { return Reader(path).read(); }

}  // namespace semicrf
