// What commands say of the label posteriors that they read.
#pragma once

#include <span>
#include <string>

#include "segmentation/label_tracks.h"

namespace semicrf {

// `tracks`: all label posteriors of the files of `prefix`. A warning where they add up to much less than 1 on
// the segments. InputError: they add up to more, so that one of the files is not the posterior of a label.
void check_complete(const std::string& prefix, std::span<const LabelTrack* const> tracks,
                    const SegmentationFile& segmentation);

}  // namespace semicrf
