// Matching of boundaries and segments, one to one, within one stretch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/segment.h"
#include "core/text/statistic.h"

namespace semicrf {

// How many things the truth has, the prediction has, and both agree on. A ratio with nothing below the line
// is not defined.
struct MatchCounts {
  std::int64_t truth = 0;
  std::int64_t predicted = 0;
  std::int64_t matched = 0;

  std::optional<double> precision() const;  // matched / predicted
  std::optional<double> recall() const;     // matched / truth
  std::optional<double> f1() const;         // 2 matched / (truth + predicted)

  MatchCounts& operator+=(const MatchCounts& other);
  friend bool operator==(const MatchCounts&, const MatchCounts&) = default;
};
const StatisticList<MatchCounts>& match_statistics();

// The largest number of pairs (one of `a`, one of `b`) at most `tolerance` apart that have no member in
// common. Both are sorted. Taking the leftmost two that are near enough and dropping what nothing can reach
// any more is optimal.
std::int64_t count_pairs_within(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                std::int64_t tolerance);

// Labels of segments matched in one to one pairs; both lists are sorted and disjoint. One entry per pair.
// Exactly: the same begin, end and label.
std::vector<int> match_exact_segments(std::span<const Segment> truth, std::span<const Segment> predicted);
// By overlap: the same label, and the intersection is at least half of the union. A segment has two such
// partners only when they are its two halves, so that from left to right the number of pairs is the largest
// possible.
std::vector<int> match_overlapping_segments(std::span<const Segment> truth,
                                            std::span<const Segment> predicted);

// The least number of insertions, deletions and substitutions that turn one sequence into the other. Labels
// are not negative. Time O((n + m) d / 64) with d the distance, memory O(n + m + largest label).
std::int64_t edit_distance(std::span<const int> a, std::span<const int> b);

}  // namespace semicrf
