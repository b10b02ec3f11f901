// Posteriors of labels along chromosomes, read from the files that `posterior --labels-out` writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "eval/metrics/stretches.h"
#include "io/segments/segmentation.h"

namespace semicrf {

// P(label) of every base, as a step function.
struct LabelTrack {
  struct Step {
    std::int64_t begin = 0, end = 0;
    double value = 0;
  };
  std::map<std::string, std::vector<Step>> chromosomes;  // sorted, not overlapping; elsewhere 0

  double value_at(const std::string& chromosome, std::int64_t base) const;
};

// The file of the label's posterior, of those that a prefix has (label_track_files()). InputError: none.
const std::string& posterior_file(const Label& label, const std::map<std::string, std::string>& files,
                                  const std::string& prefix);

// The track of each label of the segmentation. `prefix`: that of the files that `posterior --labels-out
// PREFIX` writes, bedGraph or bigWig; or that name itself where it ends in .bw. InputError: a label without a
// file, a bedGraph that is not sorted or has values outside 0..1, no chromosome of the segmentation;
// ReadError.
std::vector<LabelTrack> read_label_tracks(const std::string& prefix, const SegmentationFile& segmentation);
// As above. Labels that have a file but no segments are added to the segmentation, by the names that files
// have.
std::vector<LabelTrack> read_all_label_tracks(const std::string& prefix, SegmentationFile& segmentation);

// The sum of P(label) over all bases of these ranges, which are sorted.
double expected_bases(const LabelTrack& track, const std::string& chromosome,
                      const std::vector<BinRange>& ranges);
// The sum of P over all bases of the segments and all tracks, by these bases: 1 where nothing is missing.
double posterior_share(std::span<const LabelTrack* const> tracks, const SegmentationFile& segmentation);
// Views of the tracks, in their order.
std::vector<const LabelTrack*> views_of(const std::vector<LabelTrack>& tracks);

// Calls visit(begin, end, values) for the parts of bases [begin, end) in which no track changes, from left to
// right; `values` has one per track.
using ProbabilityVisitor =
    std::function<void(std::int64_t begin, std::int64_t end, std::span<const double> values)>;
void visit_probabilities(std::span<const LabelTrack* const> tracks, const std::string& chromosome,
                         std::int64_t begin, std::int64_t end, const ProbabilityVisitor& visit);

// Which of two sorted lists of intervals overlap.
//
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
