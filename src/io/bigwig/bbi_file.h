// What the writers of bigWig and of bigBed share: blocks that wait in a spool until the sizes of everything
// that stands before them are known, zoom levels, and the layout of the file (version 4, little-endian,
// compressed).
#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/bigwig/bbi_trees.h"
#include "io/bigwig/bbi_zoom.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/files/output_file.h"
#include "io/files/temp_spool.h"

namespace semicrf {

// Which of the two formats.
struct BbiKind {
  const char* name = "bigWig";                   // for messages
  std::uint32_t magic = 0x888FFC26;              // bigWig
  std::uint16_t fields = 0, defined_fields = 0;  // bigBed: columns, and those of them that BED defines
  std::string columns;                           // bigBed: autoSql
};

// How the file is made.
struct BbiOptions {
  std::int64_t zoom =
      1;  // bases of a record of the finest zoom level; each further one has four times as many
  bool one_of_many = false;  // takes 16 KiB of memory for blocks in place of 256 KiB, and works slower
};

// Not thread-safe.
class BbiFile {
 public:
  // What each chromosome takes until the end, besides the list: a block of the index, as a rule the only one.
  static constexpr std::size_t kBytesPerChromosome = sizeof(BbiBlock) + 4;

  // `chromosomes`: all that the file lists, in the order in which their data come. InputError: there is none,
  // or its length is one that the format cannot hold.
  BbiFile(ListedChromosomes chromosomes, BbiKind kind, BbiOptions options);
  BbiFile(const BbiFile&) = delete;
  BbiFile& operator=(const BbiFile&) = delete;

  std::span<const Chromosome> chromosomes() const { return chromosomes_.list(); }

  // A block of data, not compressed, whose bases [begin, end) of the chromosome come after all others.
  void add_block(const std::string& block, std::uint32_t chrom, std::uint32_t begin, std::uint32_t end);
  // For zoom levels and the summary: bases [begin, end) have this value; from left to right.
  void add_value(std::uint32_t chrom, std::int64_t begin, std::int64_t end, double value) {
    zoom_.add(chrom, begin, end, value);
  }
  void end_chromosome() { zoom_.end_chromosome(); }
  std::size_t blocks() const { return data_.blocks.size(); }

  // The file; `count` is the number that stands before the data. Call it once, after all values.
  void write(OutputFile& output, std::uint64_t count);

 private:
  // Compressed blocks in the order of the file. Small ones share a blob of the spool, for which a file of
  // many scaffolds would else take more memory than for the index.
  struct Blocks {
    BbiBlocks blocks;
    std::vector<std::size_t> blobs;   // blobs of the spool
    std::vector<std::byte> gathered;  // behind them
    std::uint64_t bytes = 0;
  };
  void pack(Blocks& blocks, const std::string& block, const BbiRange& range);
  void spool_gathered(Blocks& blocks);
  void copy(const Blocks& blocks, OutputFile& output) const;

  ListedChromosomes chromosomes_;
  BbiKind kind_;
  BbiOptions options_;
  TempSpool spool_;
  Blocks data_;
  std::vector<Blocks> levels_;
  BbiZoom zoom_;
  std::uint32_t largest_ = 0;  // bytes of a block that is not compressed
  using Compressor = std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)>;
  Compressor compressor_;
  std::vector<std::byte> buffer_;
};

}  // namespace semicrf
