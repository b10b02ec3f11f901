#include "apps/options/label_posteriors.h"

#include "core/text/text.h"
#include "pipeline/run/log.h"

namespace semicrf {

void warn_of_incomplete(const std::string& prefix, const std::vector<LabelTrack>& tracks,
                        const SegmentationFile& segmentation) {
  constexpr double kComplete = 0.9;  // --min-posterior and labels without segments leave out less
  const double share = posterior_share(tracks, segmentation);
  if (share >= kComplete) return;
  log_warning({"posteriors-incomplete",
               prefix + ": on the segments of " + segmentation.path + " the label posteriors add up to " +
                   formatted("%.3g", share) +
                   " in place of 1: are they of this run, and of all its labels and regions?"});
}

}  // namespace semicrf
