// Numbers about the labels of a segmentation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/json/stats_json.h"
#include "io/text/segmentation.h"
#include "model/parameters.h"

namespace semicrf {

struct LabelSummary {
  DecodedLabelStats counts;
  std::int64_t shortest = 0;        // bases; 0 without segments
  std::optional<double> posterior;  // mean of column 5 over 1000 over the bases of segments that have one
};

// `model`: of the segmentation, or null. InputError: a label that it does not have.
// Labels are those of the model in its order, or those of the file in natural order.
std::vector<LabelSummary> summarize(const SegmentationFile& segmentation, const Parameters* model);

// Lengths of all segments, bases; nothing without segments.
std::optional<LengthStats> lengths_of(const SegmentationFile& segmentation);

// Tables: a line of names, a line per label; columns separated by tabs, "." for what is not known.
std::string summary_text(const std::vector<LabelSummary>& labels);
std::string transitions_text(const std::vector<LabelSummary>& labels);

}  // namespace semicrf
