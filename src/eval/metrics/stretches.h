// The parts of a chromosome that are evaluated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/segment.h"
#include "model/pieces.h"

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

}  // namespace semicrf
