// Segments, and the uncertain boundaries of a path, as BED9.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/segment.h"
#include "io/files/output_file.h"
#include "io/segments/segment_columns.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// Segments as BED9: chrom start end label score . start end r,g,b [exact start-posterior end-posterior].
struct BedOptions {
  // Three more columns with six significant digits: P(exactly this segment), the start and the end posterior.
  bool extra_columns = false;
  bool merge_adjacent = false;  // join touching segments of one label within a piece
};

// Writes to an OutputFile that the caller commits. Call begin_piece(), add() for each segment from left to
// right, then end_piece(), piece by piece.
class BedWriter {
 public:
  // The colours are those of color_columns().
  BedWriter(OutputFile& output, const std::vector<Label>& labels, BedOptions options);

  void begin_piece(const BinLocation& location);
  // `support` is null when no posteriors were computed: score 0. It must be given with extra_columns.
  void add(const Segment& segment, const SegmentPosteriors* support);
  void end_piece();

  // For threads that print parts of a piece at the same time: the line of a segment, and lines in their
  // order. Only without merge_adjacent.
  void append_line(const Segment& segment, const SegmentPosteriors& support, std::string& text) const;
  void add_lines(std::string_view lines, std::int64_t count);
  const BedOptions& options() const { return options_; }

  // Lines written so far.
  std::int64_t lines() const { return lines_; }

 private:
  void print(const Segment& segment, const SegmentPosteriors& support);

  OutputFile& output_;
  BedOptions options_;
  SegmentColumns columns_;
  BinLocation location_;
  SegmentJoiner joiner_;
  std::int64_t lines_ = 0;
  std::string line_;
};

// The uncertain boundaries of a path as BED9, the least certain first, for people who look at them one by
// one.
//
//   #review boundaries=N uncertain=N without-interval=N
//   chrom start end FROM>TO score . thickStart thickEnd r,g,b
// From start to end is the interval that the boundary lies in, thickStart to thickEnd the bin that the path
// has it at. The score is 1000 times P(a segment of label TO starts at this bin), the colour that of TO.
//
// The first line counts the boundaries of the path, the uncertain ones, and those of them that have no
// interval. The least probable boundary comes first; boundaries of the same score stand from left to right.
// Lines are kept until the end of the run, 32 bytes of memory each.
// A boundary of which it is not certain where it is. Bins are those of the piece.
struct UncertainBoundary {
  std::int64_t position = 0;  // first bin of the segment after it
  std::int64_t first = 0;     // leftmost and rightmost bin of the interval, both included; they differ from
  std::int64_t last = 0;      // `position` by less than 2^32
  bool has_interval = true;   // false: `first` and `last` are all that was searched
  int from = 0;               // label before it
  int to = 0;                 // label after it
  double posterior = 0;       // P(a segment of label `to` starts at `position`)
};

// Writes to an OutputFile that the caller commits. Call begin_piece(), then add() for each boundary, piece by
// piece from left to right, then finish().
class ReviewWriter {
 public:
  // `most`: so many lines are kept and written, at least 1. `counts`: whether to write the first line.
  ReviewWriter(OutputFile& output, const std::vector<Label>& labels, std::int64_t most, bool counts = true);

  void begin_piece(const BinLocation& location);
  void add(const UncertainBoundary& boundary);
  // Writes the lines. `boundaries`: of the whole path, certain ones included.
  void finish(std::int64_t boundaries);

  // Boundaries that were added, and lines that are kept of them.
  std::int64_t added() const { return added_; }
  std::int64_t lines() const { return std::ssize(lines_); }

 private:
  struct Line {
    std::int64_t position;  // bin of the sequence
    std::uint32_t before;   // bins of the interval left of it
    std::uint32_t after;    // and right of it
    std::int32_t from, to;
    std::uint32_t place;  // index into places_
    float posterior;
  };
  static_assert(sizeof(Line) == 32, "the memory of a line is in the documents");

  bool precedes(const Line& a, const Line& b) const;
  std::int64_t begin_base(const Line& line) const;
  std::int64_t end_base(const Line& line) const;
  void print(const Line& line);

  OutputFile& output_;
  std::int64_t most_;
  bool counts_;
  std::vector<std::string> names_, colors_;  // names and colours of the labels
  // Places of the sequences, in the order of the run; first_bin is 0.
  std::vector<BinLocation> places_;
  std::int64_t first_bin_ = 0;  // first bin of the piece
  std::deque<Line> lines_;      // a heap with the last one in front
  std::int64_t added_ = 0, without_interval_ = 0;
  std::string text_;
};

}  // namespace semicrf
