// What commands say of the label posteriors that they read.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "inputs/input_options.h"
#include "io/segments/segmentation.h"
#include "segmentation/label_tracks.h"

namespace semicrf {

// `tracks`: all label posteriors of the files of `prefix`. A warning where they add up to much less than 1 on
// the segments. InputError: they add up to more, so that one of the files is not the posterior of a label.
void check_complete(const std::string& prefix, std::span<const LabelTrack* const> tracks,
                    const SegmentationFile& segmentation);

// Segments within the regions of the command line.
//
// What -r, -L and --exclude leave of the segments, which are cut at the edges of regions; nothing where none
// of these options is given. Chromosomes stay, also those of which nothing is left. InputError: no segment is
// left, and errors of read_given_regions(); logs warnings.
std::optional<SegmentationFile> segments_within(const SegmentationFile& segmentation,
                                                const InputOptions& input);

}  // namespace semicrf
