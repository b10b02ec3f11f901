// Numbers about the labels of a segmentation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/segments/segmentation.h"
#include "model/parameters.h"
#include "model/statistics.h"
#include "segmentation/label_tracks.h"

namespace semicrf {

// `model`: of the segmentation, or null. `tracks`: of every label of the segmentation, or empty. InputError:
// a label that the model does not have. Labels are those of the model in its order, or those of the file in
// natural order.
std::vector<DecodedLabelStats> summarize(const SegmentationFile& segmentation, const Parameters* model,
                                         const std::vector<LabelTrack>& tracks = {});

// Lengths of all segments, bases; nothing without segments.
std::optional<LengthStats> lengths_of(const SegmentationFile& segmentation);

// Tables: a line of names, a line per label; columns separated by tabs, "." for what is not known. Columns of
// the summary are "label" and label_statistics().
std::string summary_text(const std::vector<DecodedLabelStats>& labels);
std::string transitions_text(const std::vector<DecodedLabelStats>& labels);

}  // namespace semicrf
