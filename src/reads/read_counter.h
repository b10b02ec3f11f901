// From the reads of a file to the counts of its tracks: one, or one for each group of cells.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "reads/cell_groups.h"
#include "reads/duplicate_filter.h"
#include "reads/tile_counter.h"

namespace semicrf {

// A file and what is counted of it.
struct CountedFile {
  ReadFileInfo file;
  CountRule options;
  std::vector<std::shared_ptr<CountStore>> counts;  // one; with `groups` one for each
  const CellGroups* groups = nullptr;               // null: cells are not told apart
  std::shared_ptr<CellTally> tally = nullptr;       // where there are groups
  std::string sample = {};                          // whose cells these are
  std::string barcode_tag = {};                     // with `groups`: of alignments
};

// Counts the reads of one chromosome, or of bins of it. Not thread-safe.
class ReadCounter {
 public:
  // All must outlive it; the bins [begin, end) count, whole tiles.
  ReadCounter(const ReadGrid& grid, const CountedFile& counted, const ExcludedBases& excluded,
              std::size_t chromosome, std::int64_t begin, std::int64_t end);

  // Reads come in the order of their first bases where duplicates are left out or tiles are passed. False:
  // the read has no strand, and these options need one.
  bool add(const Read& read);
  // No read that is still to come counts at a base below `base`.
  void pass(std::int64_t base);
  // The tiles that are left are complete.
  void end();

 private:
  const CountedFile& counted_;
  DuplicateFilter duplicates_;
  std::deque<TileCounter> counters_;  // by group
  std::int64_t begin_base_, end_base_;
  std::int64_t passed_ = 0;  // tiles below this base are complete
  std::int64_t tile_bases_;
};

}  // namespace semicrf
