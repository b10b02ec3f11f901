// The parts of a chromosome that are evaluated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/segment.h"
#include "model/bins.h"

namespace semicrf {

// A run of consecutive evaluated bases. Segments are in bases and cut at its edges.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool begins_with_segment = false;  // a true segment starts at its first base, and was not cut there
  std::vector<Segment> truth;        // tile [begin, end)
  std::vector<Segment> predicted;    // sorted and disjoint; the bases between them have no predicted label
};

// Calls visit(true segment, predicted segment, bases in common) for the pairs of a stretch that share bases,
// from left to right.
template <class Visit>
void for_each_overlap(const Stretch& stretch, Visit visit) {
  for (std::size_t i = 0, j = 0; i < stretch.truth.size() && j < stretch.predicted.size();) {
    const Segment& truth = stretch.truth[i];
    const Segment& predicted = stretch.predicted[j];
    const std::int64_t shared = std::min(truth.end, predicted.end) - std::max(truth.begin, predicted.begin);
    if (shared > 0) visit(truth, predicted, shared);
    if (truth.end <= predicted.end) {
      ++i;
    } else {
      ++j;
    }
  }
}

// The bases of `wanted` that the truth labels, as stretches that end where a wanted range or the truth's
// labelling does. All lists are sorted and disjoint; wanted ranges that only touch stay apart.
std::vector<Stretch> make_stretches(std::span<const Segment> truth, std::span<const Segment> predicted,
                                    std::span<const BinRange> wanted);

// The segments of a sorted, disjoint list that meet [begin, end), as they stand.
std::span<const Segment> segments_meeting(std::span<const Segment> segments, std::int64_t begin,
                                          std::int64_t end);

// What two lists of sorted, disjoint ranges have in common; a range ends where one of either list does.
std::vector<BinRange> common_ranges(std::span<const BinRange> a, std::span<const BinRange> b);

// The parts that a sorted, disjoint list of segments covers, touching ones as one.
template <class Segments>
std::vector<BinRange> covered_ranges(const Segments& segments) {
  std::vector<BinRange> ranges;
  for (const auto& segment : segments) {
    if (!ranges.empty() && ranges.back().end == segment.begin) {
      ranges.back().end = segment.end;
    } else {
      ranges.push_back({segment.begin, segment.end});
    }
  }
  return ranges;
}

// Joins segments of one label that touch.
std::vector<Segment> merge_touching(std::span<const Segment> segments);

// Bin i is the bases [origin + i bin_size, origin + (i+1) bin_size), the last one cut at `limit`.
struct BaseGrid {
  std::int64_t origin = 0;
  std::int64_t bin_size = 1;
  std::int64_t limit = 0;
};

struct BinnedSegments {
  std::vector<Segment> segments;  // in bins, sorted, disjoint; bins between them have no segment
  std::int64_t moved = 0;         // segments with an edge inside a bin, which therefore moved
  std::int64_t lost = 0;          // segments that got no bin at all
};

// The rule is that of training (label_bins), the leftmost segment being the earliest line. `segments` are
// sorted and disjoint; parts outside the grid do not count.
BinnedSegments bin_segments(std::span<const Segment> segments, const BaseGrid& grid);

// What the true segmentation says of bins, for probabilities that are given per bin.
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
