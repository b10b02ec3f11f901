// What the posteriors say about segments and about the boundaries between them, and the columns of text that
// say it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/segment.h"
#include "core/text/statistic.h"
#include "io/files/output_file.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// Positions of a boundary, in bins of the piece, both included: a segment starts at one of them.
struct BoundaryInterval {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

// Probabilities in [0, 1].
struct SegmentPosteriors {
  double mean_label_posterior = 0;  // mean over its bins of P(label|t); the score of BED is 1000 times that
  double start_posterior = 0;       // P(a segment of this label starts at its first bin)
  double end_posterior = 0;         // P(a segment of this label ends at its last bin)
  std::optional<double> exact_posterior = {};  // P(exactly this segment); absent: not known
  // interval of its start; absent: not known, or there is none
  std::optional<BoundaryInterval> start_interval = {};
};

// p_label, p_segment, p_start and p_end.
const StatisticList<SegmentPosteriors>& segment_statistics();

// Makes `left` the union of two touching segments of one label: the mean over the bins of both, the start of
// the left one, the end of the right one, and no exact posterior, as it is not a segment of the model.
void join_segments(Segment& left, SegmentPosteriors& left_support, const Segment& right,
                   const SegmentPosteriors& right_support);

// Hands segments on, from left to right and piece by piece; touching ones of one label as one where that is
// asked for.
class SegmentJoiner {
 public:
  explicit SegmentJoiner(bool joins) : joins_(joins) {}
  bool joins() const { return joins_; }

  // Calls emit(segment, support) with what is complete.
  template <class Emit>
  void add(const Segment& segment, const SegmentPosteriors& support, Emit emit) {
    if (joins_ && pending_ && pending_->first.label == segment.label &&
        pending_->first.end == segment.begin) {
      join_segments(pending_->first, pending_->second, segment, support);
      return;
    }
    finish(emit);
    pending_.emplace(segment, support);
  }
  // At the end of a piece.
  template <class Emit>
  void finish(Emit emit) {
    if (pending_) emit(pending_->first, pending_->second);
    pending_.reset();
  }

 private:
  bool joins_;
  std::optional<std::pair<Segment, SegmentPosteriors>> pending_;
};

// The score column of a probability: 0 to 1000.
int bed_score(double probability);

// Columns behind the ninth, in this order, with six significant digits.
struct PosteriorColumns {
  bool label = false;    // the mean over the segment's bins of P(label|bin)
  bool segment = false;  // P(exactly this segment), or . where it is not known
  bool edges = false;    // the start and the end posterior

  bool any() const { return label || segment || edges; }
};

// The columns of a segment from the fourth on, as BED and bigBed have them: label score . start end r,g,b,
// and what the posteriors say.
class SegmentColumns {
 public:
  // The colours are those of color_columns().
  SegmentColumns(const std::vector<Label>& labels, PosteriorColumns support);

  const PosteriorColumns& support() const { return support_; }
  // Appends the columns without a tab before them or a line end. `begin`, `end`: the bases of columns 2
  // and 3 as text.
  void append_to(std::string& text, const Segment& segment, const SegmentPosteriors& support,
                 std::string_view begin, std::string_view end) const;

 private:
  PosteriorColumns support_;
  std::vector<std::string> labels_;  // name of each label
  std::vector<std::string> colors_;  // "r,g,b" of each label
};

// Tables have columns separated by tabs and a line with their names. Positions are 0-based bases;
// probabilities have six significant digits; a value that is not known is ".".
//
// A line per segment:
//   #chrom start end label p_label p_segment p_start p_end [start_lower start_upper]
// The numbers are those of segment_statistics().
//
// Both writers write to an OutputFile that the caller commits. Call begin_piece(), then add() for each
// segment from left to right, piece by piece. The line of names is written at once.
class SegmentTableWriter {
 public:
  // `intervals`: with the last two columns. `comment`: whether the line of names begins with #.
  SegmentTableWriter(OutputFile& output, const std::vector<Label>& labels, bool intervals,
                     bool comment = true);

  void begin_piece(const BinLocation& location);
  void add(const Segment& segment, const SegmentPosteriors& support);

 private:
  OutputFile& output_;
  bool intervals_;
  std::vector<std::string> names_;
  BinLocation location_;
  std::string line_;
};

// A line per boundary between two segments of a piece:
//   #chrom position from to p lower upper
// `position` is the first base of the segment that starts there, `from` and `to` are the labels before and
// after it, p is P(a segment of label `to` starts there), lower and upper are the positions between which one
// does with the wanted probability.
class BoundaryTableWriter {
 public:
  BoundaryTableWriter(OutputFile& output, const std::vector<Label>& labels, bool comment = true);

  void begin_piece(const BinLocation& location);
  void add(const Segment& segment, const SegmentPosteriors& support);

 private:
  OutputFile& output_;
  std::vector<std::string> names_;
  BinLocation location_;
  std::optional<Segment> left_;
  std::string line_;
};

// Reads the tables of boundaries that decode --boundaries writes (segment_columns.h).
struct BoundaryRecord {
  std::string chromosome;
  std::int64_t position = 0;  // first base of the segment after the boundary
  std::string from, to;       // the labels of the segment before it and of that one
  // First bases of the leftmost and the rightmost bin of the interval; absent where the table has ".".
  std::optional<std::int64_t> lower, upper;
  std::int64_t line = 0;
};

struct BoundaryTable {
  std::vector<BoundaryRecord> boundaries;      // in the file's order
  std::map<std::string, std::string> options;  // options of the header lines
};

// Columns are found by the names in the last line that starts with "#", or else in the first line. Plain or
// compressed. InputError with the line number: no such table, a position that is no whole number, an interval
// that does not hold its boundary.
BoundaryTable read_boundary_table(const std::string& path);

}  // namespace semicrf
