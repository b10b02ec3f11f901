// What the true segmentation says of bins, for probabilities that are given per bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/segment.h"
#include "eval/metrics/stretches.h"

namespace semicrf {

// A run of bins of `bin_size` bases from base `begin` on; the last one is cut at `end`.
struct BinRun {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t bin_size = 1;
  bool first_is_given =
      false;  // a piece begins with the first bin, so that a segment starts there for certain
};

struct BinEvents {
  std::int64_t bins = 0;    // evaluated
  std::int64_t events = 0;  // evaluated bins with the event
};

// The evaluated stretches of one chromosome. Runs are asked for from left to right; memory of the truth must
// stay.
class BinTruth {
 public:
  explicit BinTruth(std::span<const Stretch> stretches) : stretches_(stretches) {}

  // Bins in which a true segment starts. Evaluated are the bins whose bases all lie in one stretch, but not
  // one that holds the first base of a stretch or, with first_is_given, is the first of the run: nobody
  // decided what starts there.
  BinEvents starts(const BinRun& run);

  // The labels of the bins whose bases all lie in one stretch: segments in bins of the run, which end where
  // label or stretch do. A bin has the label that covers most of it (bin_segments). Valid until the next
  // call.
  std::span<const Segment> labels(const BinRun& run);

 private:
  // Calls visit(stretch, first, end) with the bins of the run that lie in each stretch as a whole.
  template <class Visit>
  void visit_stretches(const BinRun& run, Visit&& visit);

  std::span<const Stretch> stretches_;
  std::size_t next_ = 0;  // the first stretch that may meet later runs
  std::vector<Segment> labels_;
};

}  // namespace semicrf
