// Segments as BED9: chrom start end label score . start end r,g,b [exact start-posterior end-posterior].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/segment.h"
#include "io/files/output_file.h"
#include "io/segments/segment_columns.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

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
  void add(const Segment& segment, const SegmentSupport* support);
  void end_piece();

  // For threads that print parts of a piece at the same time: the line of a segment, and lines in their
  // order. Only without merge_adjacent.
  void append_line(const Segment& segment, const SegmentSupport& support, std::string& text) const;
  void add_lines(std::string_view lines, std::int64_t count);
  const BedOptions& options() const { return options_; }

  // Lines written so far.
  std::int64_t lines() const { return lines_; }

 private:
  void print(const Segment& segment, const SegmentSupport& support);

  OutputFile& output_;
  BedOptions options_;
  SegmentColumns columns_;
  BinLocation location_;
  SegmentJoiner joiner_;
  std::int64_t lines_ = 0;
  std::string line_;
};

}  // namespace semicrf
