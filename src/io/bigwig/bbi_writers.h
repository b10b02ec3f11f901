// Writers of bigWig and bigBed files (bbi_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/bigwig/bbi_file.h"

namespace semicrf {

// Writes bigWig files: values from left to right are packed at once (bbi_file.h).
//
// A block is fixedStep (4 bytes a value) where its intervals follow each other without a gap and are of one
// width, else bedGraph (12 bytes an interval). Intervals of several bins are cut into bins where that makes a
// block fixedStep and not longer: readers see the same value at every base.
//
// Own code and not a library's, because the writer of libBigWig wants all of a block's intervals in memory of
// the caller's, has no streaming zoom levels and takes several times as long (docs/performance.md).

// Not thread-safe.
class BigWigWriter {
 public:
  // `chromosomes`: all that the file lists, in the order in which their values come. `bin`: bases that
  // intervals may be cut into; 0: they are written as they are. InputError: no chromosome, or a length that
  // the format cannot hold.
  BigWigWriter(ListedChromosomes chromosomes, const BbiOptions& options, std::int64_t bin = 0);

  // Bases [begin, end) of chromosome `chrom` (an index into `chromosomes`) have this value, finite. Left to
  // right, chromosome by chromosome (std::logic_error).
  void add(std::size_t chrom, std::int64_t begin, std::int64_t end, float value);

  // The file. Call it once, when all values are there.
  void write(OutputFile& output);

 private:
  struct Item {
    std::uint32_t begin = 0, end = 0;
    float value = 0;
  };
  std::uint32_t even_width() const;
  void end_section();

  BbiFile file_;
  std::uint32_t bin_;
  std::size_t chrom_ = 0;
  std::int64_t end_ = 0;  // end of the last value
  std::vector<Item> items_;
  std::string block_;
};

// Writes bigBed files: intervals from left to right, each with the text of its further columns (bbi_file.h).
//
// Zoom levels and the summary are of the number of intervals that cover a base, which is 0 or 1, because
// intervals do not overlap.

// A column as autoSql describes it.
struct BigBedColumn {
  std::string type, name, comment;  // letters, digits and _; the comment without a double quote
};

// The description of a table, as a bigBed file holds it.
std::string auto_sql(const std::string& table, const std::string& comment,
                     const std::vector<BigBedColumn>& columns);

// Not thread-safe.
class BigBedWriter {
 public:
  // `chromosomes` as for bigWig. `columns`: all, with chromosome, start and end, of which `defined` (3 to 12)
  // are those of BED; `description`: by auto_sql() of the same columns.
  BigBedWriter(ListedChromosomes chromosomes, std::size_t columns, std::size_t defined,
               std::string description, const BbiOptions& options);

  // Bases [begin, end) of chromosome `chrom`; `rest`: columns 4 and later, separated by tabs. Left to right
  // without overlaps, chromosome by chromosome (std::logic_error).
  void add(std::size_t chrom, std::int64_t begin, std::int64_t end, std::string_view rest);

  // The file. Call it once, when all intervals are there.
  void write(OutputFile& output);

 private:
  void end_block();

  BbiFile file_;
  std::size_t chrom_ = 0;
  std::int64_t end_ = 0;         // end of the last interval
  std::uint64_t intervals_ = 0;  // in all
  std::string block_;
  std::size_t waiting_ = 0;  // in block_
  std::int64_t begin_ = 0;   // begin of the first interval that waits
};

}  // namespace semicrf
