// Numbers about the labels of a segmentation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/text/segmentation.h"
#include "model/parameters.h"

namespace semicrf {

// All lengths in bases.
struct LabelSummary {
  std::string label;
  std::int64_t segments = 0, bases = 0;
  double share = 0;  // of the bases of all segments
  double mean = 0;   // length of a segment; it and the quantiles 0 without segments
  std::int64_t shortest = 0, q05 = 0, q25 = 0, median = 0, q75 = 0, q95 = 0, longest = 0;
  std::optional<double> posterior;  // mean of column 5 over 1000 over the bases of segments that have one
  // Shares of the segments, where the model is known: of exactly K bins where it allows no more, and of more.
  std::optional<double> at_cap, in_tail;
};

struct SegmentationSummary {
  std::vector<LabelSummary> labels;  // those of the model in its order, or those of the file in natural order
  // (C, C) row-major, [from][to]: how often a segment of `to` follows one of `from` without a gap.
  std::vector<std::int64_t> transitions;
};

// `model`: of the segmentation, or null. InputError: a label that it does not have.
SegmentationSummary summarize(const SegmentationFile& segmentation, const Parameters* model);

// Tables: a line of names, a line per label; columns separated by tabs, "." for what is not known.
std::string summary_text(const SegmentationSummary& summary);
std::string transitions_text(const SegmentationSummary& summary);

}  // namespace semicrf
