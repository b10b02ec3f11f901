// What the posteriors say about segments and about the boundaries between them, as tables: columns separated
// by tabs, a line with their names. Positions are 0-based bases; probabilities have six significant digits; a
// value that is not known is ".".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/segment.h"
#include "io/files/output_file.h"
#include "io/segments/segment_support.h"
#include "io/text/bin_location.h"
#include "model/parameters.h"

namespace semicrf {

// A line per segment:
//   #chrom start end label p_label p_segment p_start p_end [start_lower start_upper]
// p_label is the mean of P(label|bin) over the segment's bins, p_segment P(exactly this segment), p_start and
// p_end P(a segment of this label starts at its first bin; ends at its last).
//
// Both writers write to an OutputFile that the caller commits. Call begin_piece(), then add() for each
// segment from left to right, piece by piece. The line of names is written at once.
class SegmentTableWriter {
 public:
  // `intervals`: with the last two columns.
  SegmentTableWriter(OutputFile& output, const std::vector<Label>& labels, bool intervals);

  void begin_piece(const BinLocation& location);
  void add(const Segment& segment, const SegmentSupport& support);

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
  BoundaryTableWriter(OutputFile& output, const std::vector<Label>& labels);

  void begin_piece(const BinLocation& location);
  void add(const Segment& segment, const SegmentSupport& support);

 private:
  OutputFile& output_;
  std::vector<std::string> names_;
  BinLocation location_;
  std::optional<Segment> left_;
  std::string line_;
};

}  // namespace semicrf
