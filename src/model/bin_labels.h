// From labelled bases to labelled bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace semicrf {

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
