#include "io/segments/bed_writer.h"

#include <stdexcept>

#include "core/text/fixed_decimal.h"

namespace semicrf {
BedWriter::BedWriter(OutputFile& output, const std::vector<Label>& labels, BedOptions options)
    : output_(output),
      options_(options),
      columns_(labels, {.segment = options.extra_columns, .edges = options.extra_columns}),
      joiner_(options.merge_adjacent) {}

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
  char begin[20], end[20];
  const std::string_view begin_text(
      begin, static_cast<std::size_t>(print_integer(location_.begin_base(segment.begin), begin) - begin));
  const std::string_view end_text(
      end, static_cast<std::size_t>(print_integer(location_.end_base(segment.end), end) - end));
  for (const std::string_view column : {std::string_view(location_.chromosome), begin_text, end_text}) {
    text += column;
    text += '\t';
  }
  columns_.append(segment, support, begin_text, end_text, text);
  text += '\n';
}

void BedWriter::add_lines(std::string_view lines, std::int64_t count) {
  end_piece();
  output_.write(lines);
  lines_ += count;
}

}  // namespace semicrf
