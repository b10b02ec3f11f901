// The bins of a sequence: which ranges of them are pieces, each decoded as a sequence of its own, and which
// labels they have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/scores/edge_roles.h"

namespace semicrf {

// A half-open range of bases.
struct BaseRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// A half-open range of bins, counted from the sequence's first bin.
struct BinRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }

  friend bool operator==(const BinRange&, const BinRange&) = default;
};

struct PieceRequest {
  std::int64_t length = 0;                        // bases of the sequence, >= 1
  std::int64_t bin_size = 1;                      // bases, >= 1; the last bin may be shorter
  std::optional<std::vector<BaseRange>> include;  // regions asked for, in any order; absent: everything
  std::vector<BaseRange> exclude;                 // regions to leave out, in any order
  std::vector<BinRange> missing;                  // runs of bins without data, in any order
};

// Bins of a sequence: ceil(length / bin_size).
std::int64_t count_bins(std::int64_t length, std::int64_t bin_size);

// `ranges` (within the sequence or cut to it, empty ones dropped) widened to whole bins and sorted. Ranges
// that overlap after the widening are merged; ranges that only touch stay apart.
std::vector<BinRange> widen_to_bins(const std::vector<BaseRange>& ranges, std::int64_t length,
                                    std::int64_t bin_size);

// The pieces, sorted and disjoint. Included regions that overlap (after widening to the grid of bins that
// starts at base 0) become one piece; regions that only touch stay two pieces, because whoever gave them
// separately wants a boundary there. Excluded regions are widened to whole bins too; they and the missing
// bins cut pieces or remove them.
std::vector<BinRange> make_pieces(const PieceRequest& request);

// Which edges of piece `number` of sorted, disjoint `pieces` are cuts: not those where regions touch, nor
// those at an end of the sequence that is one of its chromosome.
struct ChromosomeEnds {
  bool left = true, right = true;
};
CutEdges cut_edges(std::span<const BinRange> pieces, std::size_t number, std::int64_t sequence_bins,
                   ChromosomeEnds ends);

// Bins of all `ranges`, each counted as often as it stands there.
std::int64_t total_bins(const std::vector<BinRange>& ranges);

// A labelled stretch of bases: one line of a label file.
struct LabelRecord {
  std::int64_t begin = 0;  // base, 0-based
  std::int64_t end = 0;    // one past the last base
  int label = 0;           // index in a list of labels
  std::int64_t line = 0;
};

// A run of bins that one line of the label file covers.
struct LabelledRun {
  std::int64_t begin = 0;  // bin of the sequence
  std::int64_t end = 0;
  int label = 0;
  std::int64_t line = 0;

  friend bool operator==(const LabelledRun&, const LabelledRun&) = default;
};

// `runs`, sorted and disjoint ranges within [0, end), with gap(begin, end, the run before it or null) between
// them and at both ends.
template <class Run, class MakeGap>
std::vector<Run> with_gaps_filled(const std::vector<Run>& runs, std::int64_t end, MakeGap gap) {
  std::vector<Run> all;
  std::int64_t at = 0;
  const Run* before = nullptr;
  for (const Run& run : runs) {
    if (at < run.begin) all.push_back(gap(at, run.begin, before));
    all.push_back(run);
    at = run.end;
    before = &run;
  }
  if (at < end) all.push_back(gap(at, end, before));
  return all;
}

// The bins of a sequence, bin i being bases [origin + i * bin_size, ...) cut at `length` bases.
struct BinGrid {
  std::int64_t origin = 0;
  std::int64_t length = 0;
  std::int64_t bin_size = 1;
};

// The runs of labelled bins, from left to right, disjoint. A bin has the label that covers most of its bases
// (ties: of the earlier line) and belongs to the line of that label that covers most of it; a bin of which
// the lines together cover less than half has no label and is in no run. Lines that win no bin have no run.
// `records` are sorted and disjoint; what lies outside the sequence is left out.
std::vector<LabelledRun> label_bins(std::span<const LabelRecord> records, const BinGrid& grid);

// `runs` of a sequence of `bins` with the gaps between them filled by runs of `label`. They have the line of
// the run before them, else of the one after them, else 0.
std::vector<LabelledRun> with_background(const std::vector<LabelledRun>& runs, std::int64_t bins, int label);

}  // namespace semicrf
