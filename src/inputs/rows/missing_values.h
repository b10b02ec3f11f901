// How many values the tracks lack: counted where rows are read anyway, each bin once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/bins.h"
#include "model/parameters.h"
#include "model/statistics.h"

namespace semicrf {

class RowReader;

// Whether readers give NaN as the feature of a bin without a value.
inline bool keeps_absence(const Track& track) {
  return track.missing == MissingPolicy::kMean || track.missing == MissingPolicy::kMarginal;
}

// What one track lacks in the wanted bins of one sequence.
struct MissingValues {
  std::string track;
  MissingPolicy policy = MissingPolicy::kZero;
  std::int64_t bins = 0;   // without any value
  std::int64_t bases = 0;  // without a value, in all wanted bins; 0 for arrays, which have values per bin
};

// The counts of one sequence. Filled by its RowReader, one read at a time.
class MissingCounter {
 public:
  // `of_bases`: the inputs have values per base (bigWig), else per bin (arrays).
  MissingCounter(const std::vector<Track>& tracks, bool of_bases);

  // The bins that count: sorted and disjoint. Before this nothing is counted.
  void want(const std::vector<BinRange>& bins);
  // The parts of [begin, end) that are wanted and were not taken before.
  std::vector<BinRange> take(std::int64_t begin, std::int64_t end);
  // Column `column` lacks so much in bins that were taken. Columns may be added to by different threads.
  void add(std::size_t column, std::int64_t bins, std::int64_t bases);

  bool of_bases() const { return of_bases_; }
  std::int64_t wanted_bins() const { return wanted_bins_; }
  const std::vector<MissingValues>& tracks() const { return tracks_; }

 private:
  std::vector<MissingValues> tracks_;
  bool of_bases_;
  std::vector<BinRange> untaken_;
  std::int64_t wanted_bins_ = 0;
};

// Reads the wanted bins so that they are counted: for a run that reads nothing else.
void count_missing(RowReader& rows, const std::vector<BinRange>& wanted);

// The counts of all sequences of a run, as text.
class MissingSummary {
 public:
  void add(const std::string& sequence, const MissingCounter& counter);
  // A line per track that lacks something, less those that lack it in a thousandth of the bins at most, such
  // as "H3K4me3: 12 of 400 bins have no value; bases without a value count as 0 (missing: zero)".
  std::vector<std::string> lines() const;
  // "2 of 10 tracks lack values", and whether these lack little; empty when none does.
  std::string summary() const;
  // For what users seldom know of: NaN in arrays (missing-values) and sequences on which some track has no
  // value at all (track-without-values).
  std::vector<Warning> warnings() const;

 private:
  struct Total {
    MissingValues values;
    std::vector<std::string> empty_on;  // the first sequences without any value
    std::size_t more_empty = 0;         // and how many more
    std::string empty_text() const;
    bool lacks() const { return values.bins > 0 || values.bases > 0; }
  };
  // Whether it lacks a thousandth of the bins at most: what the ends of chromosomes come to.
  bool lacks_little(const Total& total) const;
  std::vector<Total> totals_;
  bool of_bases_ = false;
  std::int64_t bins_ = 0;
};

// The lines and the summary into the log; the warnings are the caller's.
void log_missing_values(const MissingSummary& summary);
// For --dry-run: a line "missing<TAB>..." per track that lacks something.
std::string planned_text(const MissingSummary& summary);
// The tracks that lack something, for --stats.
std::vector<MissingStats> missing_stats(const MissingCounter& counter);

}  // namespace semicrf
