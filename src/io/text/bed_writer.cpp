#include "io/text/bed_writer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "io/text/fixed_decimal.h"
#include "io/text/palette.h"

namespace semicrf {
namespace {
constexpr int kMaxScore = 1000;
}  // namespace

int bed_score(double probability) {
  return std::clamp(static_cast<int>(std::lround(kMaxScore * probability)), 0, kMaxScore);
}

BedWriter::BedWriter(OutputFile& output, const std::vector<Label>& labels, BedOptions options)
    : output_(output),
      options_(options),
      color_columns_(color_columns(labels)),
      joiner_(options.merge_adjacent) {
  for (const Label& label : labels) label_columns_.push_back(label.name);
}

void BedWriter::begin_piece(const BinLocation& location) { location_ = location; }

void BedWriter::add(const Segment& segment, const SegmentSupport* support) {
  if (support == nullptr && options_.extra_columns)
    throw std::logic_error("BedWriter: extra columns need posteriors");
  joiner_.add(segment, support != nullptr ? *support : SegmentSupport{},
              [this](const Segment& s, const SegmentSupport& known) { print(s, known); });
}

void BedWriter::end_piece() {
  joiner_.finish([this](const Segment& s, const SegmentSupport& known) { print(s, known); });
}

void BedWriter::print(const Segment& segment, const SegmentSupport& support) {
  line_.clear();
  append_line(segment, support, line_);
  output_.write(line_);
  ++lines_;
}

void BedWriter::append_line(const Segment& segment, const SegmentSupport& support, std::string& text) const {
  const auto label = static_cast<std::size_t>(segment.label);
  char begin[20], end[20], number[20];
  const std::string_view begin_text(
      begin, static_cast<std::size_t>(print_integer(location_.begin_base(segment.begin), begin) - begin));
  const std::string_view end_text(
      end, static_cast<std::size_t>(print_integer(location_.end_base(segment.end), end) - end));
  const auto column = [&](std::string_view value) {
    text += '\t';
    text += value;
  };
  const auto probability = [&](double value) {
    column({number, static_cast<std::size_t>(print_six_significant(value, number) - number)});
  };

  text += location_.chromosome;
  column(begin_text);
  column(end_text);
  column(label_columns_[label]);
  const int score = bed_score(support.mean_label_posterior);
  column({number, static_cast<std::size_t>(print_integer(score, number) - number)});
  column(".");
  column(begin_text);
  column(end_text);
  column(color_columns_[label]);
  if (options_.extra_columns) {
    if (support.exact_posterior) {
      probability(*support.exact_posterior);
    } else {
      column(".");
    }
    probability(support.start_posterior);
    probability(support.end_posterior);
  }
  text += '\n';
}

void BedWriter::add_lines(std::string_view lines, std::int64_t count) {
  end_piece();
  output_.write(lines);
  lines_ += count;
}

}  // namespace semicrf
