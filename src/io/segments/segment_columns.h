// The columns of a segment from the fourth on, as BED and bigBed have them: label score . start end r,g,b,
// and what the posteriors say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/segment.h"
#include "io/segments/segment_support.h"
#include "model/parameters.h"

namespace semicrf {

// The score column of a probability: 0 to 1000.
int bed_score(double probability);

// Columns behind the ninth, in this order, with six significant digits.
struct SupportColumns {
  bool label = false;    // the mean over the segment's bins of P(label|bin)
  bool segment = false;  // P(exactly this segment), or . where it is not known
  bool edges = false;    // the start and the end posterior

  bool any() const { return label || segment || edges; }
};

class SegmentColumns {
 public:
  // The colours are those of color_columns().
  SegmentColumns(const std::vector<Label>& labels, SupportColumns support);

  const SupportColumns& support() const { return support_; }
  // Appends the columns without a tab before them or a line end. `begin`, `end`: the bases of columns 2 and 3
  // as text.
  void append(const Segment& segment, const SegmentSupport& support, std::string_view begin,
              std::string_view end, std::string& text) const;

 private:
  SupportColumns support_;
  std::vector<std::string> labels_;  // name of each label
  std::vector<std::string> colors_;  // "r,g,b" of each label
};

}  // namespace semicrf
