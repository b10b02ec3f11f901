// What commands say of the label posteriors that they read.
#pragma once

#include <string>
#include <vector>

#include "segmentation/label_tracks.h"

namespace semicrf {

// A warning where they add up to much less than 1 on the segments.
void warn_of_incomplete(const std::string& prefix, const std::vector<LabelTrack>& tracks,
                        const SegmentationFile& segmentation);

}  // namespace semicrf
