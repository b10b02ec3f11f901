// Chromosomes of a segmentation and its replicate, side by side, in bases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/metrics/stretches.h"
#include "io/segments/segmentation.h"
#include "segmentation/posterior_records.h"

namespace semicrf {

// A chromosome that both segmentations have.
struct ChromosomePair {
  const SegmentedChromosome* first = nullptr;
  const SegmentedChromosome* second = nullptr;
  std::vector<BinRange> second_covers;  // bases
};

// In the order of the first.
std::vector<ChromosomePair> pair_chromosomes(const SegmentationFile& first, const SegmentationFile& second);

// Bases at most `tolerance` away from one with the label, as sorted, disjoint ranges; they may begin below 0.
std::vector<BinRange> bases_near(const SegmentedChromosome& chromosome, std::size_t label,
                                 std::int64_t tolerance);

// Calls visit(begin, end, inside) for the parts of [begin, end) that lie in one of the sorted, disjoint
// ranges or in none. Ranges before `at` end at or before `begin`; it is moved along.
template <class Visit>
void visit_parts(const std::vector<BinRange>& ranges, std::size_t& at, std::int64_t begin, std::int64_t end,
                 Visit visit) {
  while (begin < end) {
    while (at < ranges.size() && ranges[at].end <= begin) ++at;
    const bool known = at < ranges.size();
    const bool inside = known && ranges[at].begin <= begin;
    std::int64_t stop = end;
    if (known) stop = std::min(end, inside ? ranges[at].end : ranges[at].begin);
    visit(begin, stop, inside);
    begin = stop;
  }
}

// Calls visit(label of the first, begin, end) for the parts of its segments that the second covers, of those
// labels that are wanted.
template <class Wanted, class Visit>
void visit_common(const ChromosomePair& pair, Wanted wanted, Visit visit) {
  std::size_t at = 0;
  for (const LabelledSegment& segment : pair.first->segments)
    if (wanted(segment.label))
      visit_parts(pair.second_covers, at, segment.begin, segment.end,
                  [&](std::int64_t begin, std::int64_t end, bool covered) {
                    if (covered) visit(segment.label, begin, end);
                  });
}

// The posterior of one label, read from its file beside the segments of a segmentation.
//
// The chromosomes of the segmentation stand in the file in the order of the segmentation, as in files of one
// run; others are passed over.
class PosteriorReader {
 public:
  // bedGraph or bigWig; `order` stays valid as long as this. Errors are those of PosteriorRecords.
  PosteriorReader(const std::string& path, const SegmentationFile& order);

  // Calls visit(begin, end, P) for the parts of bases [begin, end) that have a value. Ranges are asked for
  // from left to right, chromosome by chromosome in the order of the segmentation.
  using Visitor = std::function<void(std::int64_t begin, std::int64_t end, double p)>;
  void visit(const SegmentedChromosome& chromosome, std::int64_t begin, std::int64_t end,
             const Visitor& visit);
  // Reads what is left, so that all of the file is checked.
  void finish() { records_.finish(); }

 private:
  const SegmentationFile& order_;
  PosteriorRecords records_;
};

}  // namespace semicrf
