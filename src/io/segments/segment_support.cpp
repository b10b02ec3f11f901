#include "io/segments/segment_support.h"

namespace semicrf {

void join_segments(Segment& left, SegmentSupport& left_support, const Segment& right,
                   const SegmentSupport& right_support) {
  const auto left_bins = static_cast<double>(left.end - left.begin);
  const auto right_bins = static_cast<double>(right.end - right.begin);
  left_support.mean_label_posterior =
      (left_support.mean_label_posterior * left_bins + right_support.mean_label_posterior * right_bins) /
      (left_bins + right_bins);
  left_support.end_posterior = right_support.end_posterior;
  left_support.exact_posterior.reset();
  left.end = right.end;
}

}  // namespace semicrf
