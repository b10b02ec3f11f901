// Which of two sorted lists of intervals overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace semicrf {

// Calls visit(index of a piece, bases in common) for every piece of a sorted list that overlaps one of the
// sorted intervals. Both have `begin` and `end`, half-open.
template <class Piece, class Interval, class Visit>
void for_each_overlap(const std::vector<Piece>& pieces, const std::vector<Interval>& intervals, Visit visit) {
  std::size_t first = 0;
  for (const Interval& interval : intervals) {
    while (first < pieces.size() && pieces[first].end <= interval.begin) ++first;
    for (std::size_t i = first; i < pieces.size() && pieces[i].begin < interval.end; ++i)
      visit(i, std::max<std::int64_t>(
                   0, std::min(pieces[i].end, interval.end) - std::max(pieces[i].begin, interval.begin)));
  }
}

}  // namespace semicrf
