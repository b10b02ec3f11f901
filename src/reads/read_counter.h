// From the reads of a file to the counts of its tracks: one, or one for each group of cells.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/text/names.h"
#include "reads/count_rule.h"
#include "reads/tile_counter.h"

namespace semicrf {

// Leaves out reads that stand for one molecule that was copied.
//
// Duplicates are reads of one chromosome with the same 5' end, strand and, of pairs, fragment, and from the
// same cell; intervals without a strand have the same first and last base. Takes memory for the places at
// which reads end that overlap one base, whatever their number. Not thread-safe.
class DuplicateFilter {
 public:
  explicit DuplicateFilter(const CountRule& rule) : most_(rule.keep_duplicates), fragments_(rule.fragments) {}

  // Whether the read is among the first of its duplicates, as many as are kept. Reads of one chromosome come
  // in the order of their first bases.
  bool keep(const Read& read, std::size_t cell) {
    if (most_ == 0) return true;
    const bool reverse = read.strand == ReadStrand::kReverse;
    const bool whole = (fragments_ && read.is_of_pair) || read.strand == ReadStrand::kUnknown;
    const std::int64_t place = reverse ? read.end - 1 : read.begin;
    while (!seen_.empty() && std::get<0>(seen_.begin()->first) < read.begin) seen_.erase(seen_.begin());
    return ++seen_[{place, read.strand, whole ? read.pair_bases : read.mate, cell}] <= most_;
  }

 private:
  using Molecule = std::tuple<std::int64_t, ReadStrand, std::int64_t, std::size_t>;

  std::int64_t most_;
  bool fragments_;
  std::map<Molecule, std::int64_t> seen_;  // how often; those that later reads may be like
};

// Single cells: which group (cluster, cell type) the cell of a barcode belongs to.
class CellGroups {
 public:
  struct Cell {
    std::size_t number = 0, group = 0;  // among all cells; place in names()
  };

  // Reads a table of barcodes and groups, plain or compressed: two columns, separated by tabs or commas, or
  // those that a header line with "barcode" names ("group" or "cluster"). A barcode that begins with the name
  // of one of `samples` and #, _ or : is of that sample alone. InputError with the line: fewer columns, an
  // empty field, a barcode in two groups; or no barcode at all.
  CellGroups(const std::string& path, const std::vector<std::string>& samples);

  const std::vector<std::string>& names() const { return names_; }  // in natural order
  std::size_t cells() const { return group_of_.size(); }
  const std::string& path() const { return path_; }
  // Any barcode of the table, for messages.
  const std::string& example() const { return example_; }
  // Nothing where the table lacks it.
  std::optional<Cell> find(const std::string& sample, std::string_view barcode) const;

 private:
  std::string path_, example_;
  std::vector<std::string> names_;
  bool by_sample_ = false;  // some barcodes are those of one sample alone: keys are SAMPLE, LF, barcode
  NameIndex cells_;         // numbers of the cells by barcode
  std::vector<std::size_t> group_of_;  // by number of the cell
};

// What was found of them; thread-safe.
class CellTally {
 public:
  explicit CellTally(std::size_t cells) : found_(cells) {}

  void add_cell(std::size_t number) {
    if (found_[number].load(std::memory_order_relaxed) == 0)
      found_[number].store(1, std::memory_order_relaxed);
  }
  // A read of a cell that the table lacks; without a barcode where that is empty.
  void add_other(std::string_view barcode);

  std::int64_t cells_found() const;
  std::int64_t without_barcode() const { return without_; }
  std::int64_t of_other_cells() const { return others_; }
  const std::string& example() const { return example_; }  // barcode of one of those

 private:
  std::vector<std::atomic<char>> found_;  // by number of the cell
  std::atomic<std::int64_t> without_ = 0, others_ = 0;
  std::mutex mutex_;
  std::string example_;  // the smallest, so that threads change nothing
};

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
