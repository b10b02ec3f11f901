#include "io/segments/bed_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "core/text/fixed_decimal.h"
#include "core/text/text.h"
#include "io/text/palette.h"

namespace semicrf {

BedWriter::BedWriter(OutputFile& output, const std::vector<Label>& labels, BedOptions options)
    : output_(output),
      options_(options),
      columns_(labels, {.segment = options.extra_columns, .edges = options.extra_columns}),
      joiner_(options.merge_adjacent) {}

void BedWriter::begin_piece(const BinLocation& location) { location_ = location; }

void BedWriter::add(const Segment& segment, const SegmentPosteriors* support) {
  if (support == nullptr && options_.extra_columns)
    throw std::logic_error("BedWriter: extra columns need posteriors");
  joiner_.add(segment, support != nullptr ? *support : SegmentPosteriors{},
              [this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
}

void BedWriter::end_piece() {
  joiner_.finish([this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
}

void BedWriter::print(const Segment& segment, const SegmentPosteriors& support) {
  line_.clear();
  append_line(segment, support, line_);
  output_.write(line_);
  ++lines_;
}

void BedWriter::append_line(const Segment& segment, const SegmentPosteriors& support,
                            std::string& text) const {
  char digits[2][20];
  const std::string_view begin(digits[0], print_integer(location_.begin_base(segment.begin), digits[0]));
  const std::string_view end(digits[1], print_integer(location_.end_base(segment.end), digits[1]));
  for (const std::string_view column : {std::string_view(location_.chromosome), begin, end}) {
    text += column;
    text += '\t';
  }
  columns_.append_to(text, segment, support, begin, end);
  text += '\n';
}

void BedWriter::add_lines(std::string_view lines, std::int64_t count) {
  end_piece();
  output_.write(lines);
  lines_ += count;
}

ReviewWriter::ReviewWriter(OutputFile& output, const std::vector<Label>& labels, std::int64_t most,
                           bool counts)
    : output_(output),
      most_(most),
      counts_(counts),
      names_(names_of(labels)),
      colors_(color_columns(labels)) {}

void ReviewWriter::begin_piece(const BinLocation& location) {
  first_bin_ = location.first_bin;
  const auto is_same = [&](const BinLocation& place) {
    return place.chromosome == location.chromosome && place.bin_size == location.bin_size &&
           place.origin == location.origin && place.limit == location.limit;
  };
  if (!places_.empty() && is_same(places_.back())) return;
  places_.push_back(location);
  places_.back().first_bin = 0;
}

void ReviewWriter::add(const UncertainBoundary& boundary) {
  ++added_;
  if (!boundary.has_interval) ++without_interval_;
  const auto latest = [this](const Line& a, const Line& b) { return precedes(a, b); };
  lines_.push_back({first_bin_ + boundary.position,
                    static_cast<std::uint32_t>(boundary.position - boundary.first),
                    static_cast<std::uint32_t>(boundary.last - boundary.position), boundary.from, boundary.to,
                    static_cast<std::uint32_t>(places_.size() - 1), static_cast<float>(boundary.posterior)});
  std::push_heap(lines_.begin(), lines_.end(), latest);
  if (lines() <= most_) return;
  std::pop_heap(lines_.begin(), lines_.end(), latest);
  lines_.pop_back();
}

void ReviewWriter::finish(std::int64_t boundaries) {
  if (counts_)
    output_.write(fmt::format("#review boundaries={} uncertain={} without-interval={}\n", boundaries, added_,
                              without_interval_));
  std::sort(lines_.begin(), lines_.end(), [this](const Line& a, const Line& b) { return precedes(a, b); });
  for (const Line& line : lines_) print(line);
}

bool ReviewWriter::precedes(const Line& a, const Line& b) const {
  const auto key = [](const Line& line) { return std::tuple(line.posterior, line.place, line.position); };
  return key(a) < key(b);
}

std::int64_t ReviewWriter::begin_base(const Line& line) const {
  return places_[line.place].begin_base(line.position - line.before);
}

std::int64_t ReviewWriter::end_base(const Line& line) const {
  return places_[line.place].end_base(line.position + line.after + 1);
}

void ReviewWriter::print(const Line& line) {
  const BinLocation& place = places_[line.place];
  const std::size_t from = line.from, to = line.to;
  const auto integer = [this](std::int64_t value) {
    text_ += '\t';
    append_integer(value, text_);
  };
  text_ = place.chromosome;
  integer(begin_base(line));
  integer(end_base(line));
  text_ += '\t' + names_[from] + '>' + names_[to];
  integer(bed_score(line.posterior));
  text_ += "\t.";
  integer(place.begin_base(line.position));
  integer(place.end_base(line.position + 1));
  text_ += '\t' + colors_[to] + '\n';
  output_.write(text_);
}

}  // namespace semicrf
