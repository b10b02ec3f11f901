// Segments within the regions of the command line.
#pragma once

#include <optional>

#include "inputs/input_options.h"
#include "io/segments/segmentation.h"

namespace semicrf {

// What -r, -L and --exclude leave of the segments, which are cut at the edges of regions; nothing where none
// of these options is given. Chromosomes stay, also those of which nothing is left. InputError: no segment is
// left, and errors of read_given_regions(); logs warnings.
std::optional<SegmentationFile> segments_within(const SegmentationFile& segmentation,
                                                const InputOptions& input);

}  // namespace semicrf
