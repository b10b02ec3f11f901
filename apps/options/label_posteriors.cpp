#include "apps/options/label_posteriors.h"

#include "core/error.h"
#include "core/text/text.h"
#include "log/log.h"

namespace semicrf {

void check_complete(const std::string& prefix, std::span<const LabelTrack* const> tracks,
                    const SegmentationFile& segmentation) {
  constexpr double kComplete = 0.9;  // --min-posterior leaves out less
  constexpr double kMost = 1.02;     // printed with two digits they are rounded by less
  const double share = posterior_share(tracks, segmentation);
  if (share > kMost)
    throw InputError({prefix, "",
                      "on the segments of " + segmentation.path + " the label posteriors add up to " +
                          formatted("%.3g", share) + " in place of 1",
                      "remove or rename files " + prefix + ".* that are not the posterior of a label"});
  if (share >= kComplete) return;
  log_warning({"posteriors-incomplete",
               prefix + ": on the segments of " + segmentation.path + " the label posteriors add up to " +
                   formatted("%.3g", share) +
                   " in place of 1: are they of this run, and of all its labels and regions?"});
}

}  // namespace semicrf
