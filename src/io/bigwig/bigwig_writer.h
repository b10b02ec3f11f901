// Writes bigWig files: values from left to right are packed at once (bbi_file.h).
//
// A block is fixedStep (4 bytes a value) where its intervals follow each other without a gap and are of one
// width, else bedGraph (12 bytes an interval). Intervals of several bins are cut into bins where that makes a
// block fixedStep and not longer: readers see the same value at every base.
//
// Own code and not a library's, because the writer of libBigWig wants all of a block's intervals in memory of
// the caller's, has no streaming zoom levels and takes several times as long (docs/performance.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/bigwig/bbi_file.h"

namespace semicrf {

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

}  // namespace semicrf
