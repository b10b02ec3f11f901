#include "io/segments/segment_columns.h"

#include <algorithm>
#include <cmath>

#include "core/text/fixed_decimal.h"
#include "core/text/text.h"
#include "io/text/palette.h"

namespace semicrf {

void join_segments(Segment& left, SegmentSupport& left_support, const Segment& right,
                   const SegmentSupport& right_support) {
  const auto left_bins = static_cast<double>(left.end - left.begin);
  const auto right_bins = static_cast<double>(right.end - right.begin);
  left_support.mean_label_posterior =
      (left_support.mean_label_posterior * left_bins + right_support.mean_label_posterior * right_bins) /
      (left_bins + right_bins);
  left_support.end_posterior = right_support.end_posterior;
  left_support.exact_posterior.reset();
  left.end = right.end;
}

namespace {
constexpr int kMaxScore = 1000;
}  // namespace

int bed_score(double probability) {
  return std::clamp(static_cast<int>(std::lround(kMaxScore * probability)), 0, kMaxScore);
}

SegmentColumns::SegmentColumns(const std::vector<Label>& labels, SupportColumns support)
    : support_(support), colors_(color_columns(labels)) {
  for (const Label& label : labels) labels_.push_back(label.name);
}

void SegmentColumns::append(const Segment& segment, const SegmentSupport& support, std::string_view begin,
                            std::string_view end, std::string& text) const {
  const auto label = static_cast<std::size_t>(segment.label);
  char number[20];
  const auto column = [&](std::string_view value) {
    text += '\t';
    text += value;
  };
  const auto probability = [&](double value) {
    column({number, static_cast<std::size_t>(print_six_significant(value, number) - number)});
  };
  text += labels_[label];
  const int score = bed_score(support.mean_label_posterior);
  column({number, static_cast<std::size_t>(print_integer(score, number) - number)});
  column(".");
  column(begin);
  column(end);
  column(colors_[label]);
  if (support_.label) probability(support.mean_label_posterior);
  if (support_.segment) {
    if (support.exact_posterior) {
      probability(*support.exact_posterior);
    } else {
      column(".");
    }
  }
  if (support_.edges) {
    probability(support.start_posterior);
    probability(support.end_posterior);
  }
}

namespace {

const std::string& name_of(const std::vector<std::string>& names, const Segment& segment) {
  return names[static_cast<std::size_t>(segment.label)];
}

void append(std::string& line, std::string_view text) {
  line += '\t';
  line += text;
}

void append_integer(std::string& line, std::int64_t value) {
  char text[20];
  append(line, {text, static_cast<std::size_t>(print_integer(value, text) - text)});
}

void append_probability(std::string& line, std::optional<double> value) {
  char text[16];
  if (!value) return append(line, ".");
  append(line, {text, static_cast<std::size_t>(print_six_significant(*value, text) - text)});
}

void append_interval(std::string& line, const BinLocation& location,
                     const std::optional<BoundaryInterval>& interval) {
  if (!interval) return append(line, ".\t.");
  append_integer(line, location.begin_base(interval->lower));
  append_integer(line, location.begin_base(interval->upper));
}

}  // namespace

SegmentTableWriter::SegmentTableWriter(OutputFile& output, const std::vector<Label>& labels, bool intervals,
                                       bool comment)
    : output_(output), intervals_(intervals), names_(names_of(labels)) {
  if (comment) output_.write("#");
  output_.write("chrom\tstart\tend\tlabel\tp_label\tp_segment\tp_start\tp_end");
  output_.write(intervals ? "\tstart_lower\tstart_upper\n" : "\n");
}

void SegmentTableWriter::begin_piece(const BinLocation& location) { location_ = location; }

void SegmentTableWriter::add(const Segment& segment, const SegmentSupport& support) {
  line_ = location_.chromosome;
  append_integer(line_, location_.begin_base(segment.begin));
  append_integer(line_, location_.end_base(segment.end));
  append(line_, name_of(names_, segment));
  append_probability(line_, support.mean_label_posterior);
  append_probability(line_, support.exact_posterior);
  append_probability(line_, support.start_posterior);
  append_probability(line_, support.end_posterior);
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

void BoundaryTableWriter::add(const Segment& segment, const SegmentSupport& support) {
  const std::optional<Segment> left = std::exchange(left_, segment);
  if (!left) return;
  line_ = location_.chromosome;
  append_integer(line_, location_.begin_base(segment.begin));
  append(line_, name_of(names_, *left));
  append(line_, name_of(names_, segment));
  append_probability(line_, support.start_posterior);
  append_interval(line_, location_, support.start_interval);
  line_ += '\n';
  output_.write(line_);
}

}  // namespace semicrf
