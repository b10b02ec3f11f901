#include "apps/options/label_posteriors.h"

#include <spdlog/spdlog.h>

namespace semicrf {

void warn_of_incomplete(const std::string& prefix, const std::vector<LabelTrack>& tracks,
                        const SegmentationFile& segmentation) {
  constexpr double kComplete = 0.9;  // --min-posterior and labels without segments leave out less
  const double share = posterior_share(tracks, segmentation);
  if (share >= kComplete) return;
  spdlog::warn(
      "{}: on the segments of {} the label posteriors add up to {:.3g} in place of 1: are they of this run, "
      "and of all its labels and regions? [posteriors-incomplete]",
      prefix, segmentation.path, share);
}

}  // namespace semicrf
