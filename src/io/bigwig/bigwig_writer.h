// Writes bigWig files: version 4, little-endian, compressed, with zoom levels.
//
// Values come from left to right and are packed at once; blocks wait in spools until the sizes of everything
// that stands before them are known. Own code and not a library's, because the writer of libBigWig wants all
// of a block's intervals in memory of the caller's, has no streaming zoom levels and takes several times as
// long (docs/performance.md).
#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "io/files/output_file.h"
#include "io/files/temp_spool.h"

namespace semicrf {

// Compressed blocks with their places, in the order of the file. Several share a spool.
class BigWigBlocks {
 public:
  explicit BigWigBlocks(TempSpool& spool) : spool_(spool) {}

  struct Place {
    std::uint32_t chrom = 0, begin = 0, end = 0;
    std::uint32_t bytes = 0;  // compressed
    std::size_t blob = 0;     // of the spool
  };
  void add(std::span<const std::byte> packed, std::uint32_t chrom, std::uint32_t begin, std::uint32_t end);
  std::uint64_t bytes() const { return bytes_; }
  const std::vector<Place>& places() const { return places_; }
  // The R-tree over the blocks, which begin at `first` of the file; the tree itself at `at`.
  std::string index(std::uint64_t first, std::uint64_t at) const;
  void copy_to(OutputFile& output) const;

 private:
  TempSpool& spool_;
  std::vector<Place> places_;
  std::uint64_t bytes_ = 0;
};

// Not thread-safe.
class BigWigWriter {
 public:
  // `chromosomes`: all that the file lists, in the order in which their values come. `zoom`: bases of a
  // record of the finest zoom level; each further one has four times as many. `folder`: of the spool.
  // InputError: no chromosome, or a length that the format cannot hold.
  BigWigWriter(std::vector<ChromInfo> chromosomes, std::int64_t zoom, const std::string& folder);
  ~BigWigWriter();

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
  struct ZoomRecord {
    std::uint32_t chrom = 0, begin = 0, end = 0, covered = 0;
    double minimum = 0, maximum = 0, sum = 0, squares = 0;
  };
  struct ZoomLevel;

  void end_section();
  void end_chromosome();
  void zoom_in(std::size_t level, const ZoomRecord& part);
  void end_record(std::size_t level);
  void end_zoom_block(std::size_t level);
  std::span<const std::byte> packed(const std::string& block);
  std::string chromosome_tree(std::uint64_t at) const;

  std::vector<ChromInfo> chromosomes_;
  std::size_t chrom_ = 0;
  std::int64_t end_ = 0;  // of the last value
  std::vector<Item> items_;
  TempSpool spool_;
  BigWigBlocks data_;
  std::vector<std::unique_ptr<ZoomLevel>> levels_;
  BigWigSummary summary_;
  std::uint32_t largest_ = 0;  // bytes of a block that is not compressed
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor_;
  std::vector<std::byte> buffer_;
};

}  // namespace semicrf
