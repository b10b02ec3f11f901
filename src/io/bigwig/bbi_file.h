// What the writers of bigWig and of bigBed share: blocks that wait in a spool until the sizes of everything
// that stands before them are known, zoom levels, trees, and the layout of the file (version 4,
// little-endian, compressed). Offsets are bytes of the file.
#pragma once

#include <libdeflate.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "io/files/output_file.h"
#include "io/files/temp_spool.h"
#include "io/text/chromosomes.h"

namespace semicrf {

// Appends the number as the format stores it, whatever the byte order of the machine. It fits: lengths of
// chromosomes and numbers of chromosomes were checked, and blocks are small.
template <class Stored, class Number>
void put(std::string& text, Number number) {
  const auto stored = static_cast<Stored>(number);
  if constexpr (std::is_same_v<Stored, float>) {
    put<std::uint32_t>(text, std::bit_cast<std::uint32_t>(stored));
  } else if constexpr (std::is_same_v<Stored, double>) {
    put<std::uint64_t>(text, std::bit_cast<std::uint64_t>(stored));
  } else {
    for (std::size_t i = 0; i < sizeof(Stored); ++i) text += static_cast<char>(stored >> (8 * i));
  }
}

// A base, or the number of a chromosome or of bytes, as both formats store it.
inline std::uint32_t stored(std::uint64_t number) { return static_cast<std::uint32_t>(number); }

// From base `begin` of a chromosome up to base `end` of the same or a later one.
struct BbiRange {
  std::uint32_t chrom = 0, begin = 0, last_chrom = 0, end = 0;
};

// A compressed block of data, all of one chromosome, or of zoom records.
struct BbiBlock {
  BbiRange range;
  std::uint32_t bytes = 0;  // compressed
};
using BbiBlocks = std::deque<BbiBlock>;  // takes no copy of all when it grows

// Takes a tree, a part at a time.
using TakeText = std::function<void(const std::string& part)>;

// The R-tree over blocks that lie one after the other from `first`; the tree itself begins at `at`.
void write_block_index(const BbiBlocks& blocks, std::uint64_t first, std::uint64_t at, const TakeText& take);
std::uint64_t block_index_bytes(std::size_t blocks);

// The tree of chromosomes, which begins at `at`. Keys are sorted by name; ids are the places in the list.
void write_chromosome_tree(const ListedChromosomes& chromosomes, std::uint64_t at, const TakeText& take);
std::uint64_t chromosome_tree_bytes(const ListedChromosomes& chromosomes);

// Zoom levels of bigWig and bigBed files: records of so many bases, made while the data come.
// Not thread-safe.
class BbiZoom {
 public:
  // What to do with a full block of records of a level: its bytes as the file has them, and the bases that
  // they lie on, which may be of several chromosomes.
  using Emit = std::function<void(std::size_t level, const std::string& block, const BbiRange& range)>;

  // `finest`: bases of a record of the first level, >= 1. Each further one has four times as many, as long as
  // that is less than the longest chromosome; there is always one level.
  BbiZoom(std::int64_t finest, std::int64_t longest, Emit emit);

  // Bases [begin, end) of the chromosome have this value; from left to right.
  void add(std::size_t chrom, std::int64_t begin, std::int64_t end, double value);
  // What is left of the chromosome. Records do not cross chromosomes, blocks do: a genome of many small
  // scaffolds would else have a block of each on each level.
  void end_chromosome();
  // What is left of all.
  void end();

  std::size_t levels() const { return levels_.size(); }
  std::int64_t reduction(std::size_t level) const { return levels_[level].reduction; }
  std::uint32_t records(std::size_t level) const { return stored(levels_[level].written); }
  // The summary of all that was added.
  const BigWigSummary& summary() const { return summary_; }

 private:
  struct Record {
    std::uint32_t chrom = 0, begin = 0, end = 0, covered = 0;
    double minimum = 0, maximum = 0, sum = 0, squares = 0;
  };
  struct Level {
    std::int64_t reduction = 0;  // bases of a record
    Record open;                 // covered 0: none
    std::string block;           // finished records that were not emitted
    std::uint64_t waiting = 0;   // number of these records
    BbiRange range;              // range of these records
    std::uint64_t written = 0;
  };

  void add_part(std::size_t level, const Record& part);
  void end_record(std::size_t level);
  void end_block(std::size_t level);

  std::vector<Level> levels_;
  BigWigSummary summary_;
  Emit emit_;
};

// Which of the two formats.
struct BbiKind {
  const char* name = "bigWig";                 // for messages
  std::uint32_t magic = 0x888FFC26;            // bigWig
  std::size_t fields = 0, defined_fields = 0;  // bigBed: columns, and those of them that BED defines
  std::string columns;                         // bigBed: autoSql
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
  void add_block(const std::string& block, std::size_t chrom, std::int64_t begin, std::int64_t end);
  // For zoom levels and the summary: bases [begin, end) have this value; from left to right.
  void add_value(std::size_t chrom, std::int64_t begin, std::int64_t end, double value) {
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
  std::size_t largest_ = 0;  // bytes of a block that is not compressed
  using Compressor = std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)>;
  Compressor compressor_;
  std::vector<std::byte> buffer_;
};

}  // namespace semicrf
