// How far boundaries of one condition lie from those of another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/segments/segment_columns.h"

namespace semicrf {

// The same boundary, between segments of the same two labels, in two conditions; in bases.
struct BoundaryShift {
  std::string chromosome, from, to;
  std::int64_t first = 0, second = 0;        // its position in each condition
  std::optional<std::int64_t> lower, upper;  // the shift lies in [lower, upper]; where both have an interval
  std::int64_t shift() const { return second - first; }
};

struct BoundaryShifts {
  std::vector<BoundaryShift> shifts;  // in the order of the first table's chromosomes, from left to right
  std::optional<double> level;        // what intervals hold at least: the product of both levels
  std::int64_t unmatched_first = 0, unmatched_second = 0;  // boundaries without a match, on all chromosomes
};

// Two boundaries match where they have the same labels on both sides and no other boundary of either table
// lies between them. The interval of a shift is the difference of the intervals: the boundaries of the two
// conditions are independent given the tracks, so that it holds at least as often as the product of the
// levels says. `path`: of the second table, for errors. InputError: no chromosome in common.
BoundaryShifts match_boundaries(const BoundaryTable& first, const BoundaryTable& second,
                                const std::string& path);

// A line per match: chrom, from, to, position_a, position_b, shift, lower, upper, level; . for what is not
// known.
std::string shifts_text(const BoundaryShifts& shifts);

}  // namespace semicrf
