// The structure of a bigWig file without its data: header, chromosome list (a B+ tree) and data index (an
// R-tree), both walked whole and checked once, when the file is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "io/files/byte_view.h"

namespace semicrf {

// One data block, as its index record describes it.
struct BigWigBlock {
  std::uint64_t offset = 0;  // in the file
  std::uint32_t bytes = 0;   // as stored, compressed or not
  std::uint32_t begin = 0;   // bases: all its intervals lie in [begin, end)
  std::uint32_t end = 0;
};

// Records [first, first + count) of the leaf whose records start at `offset`: all of one chromosome.
struct IndexRun {
  std::uint64_t offset = 0;
  std::uint32_t count = 0;
};

struct BigWigIndex {
  bool bigbed = false;  // else bigWig
  int version = 0;
  int zoom_levels = 0;
  bool compressed = false;
  std::optional<BigWigSummary> summary;
  std::vector<Chromosome> chromosomes;        // by ascending id
  std::vector<std::uint32_t> chromosome_ids;  // parallel to chromosomes
  std::vector<std::vector<IndexRun>> runs;    // parallel: where the chromosome's index records are
  std::uint64_t block_count = 0;

  // `view` is the whole file, its byte order already known from the magic number. InputError when damaged.
  static BigWigIndex read(const ByteView& view);

  // The block of record `place` among those of a chromosome; not compared with its neighbours.
  BigWigBlock block(const ByteView& view, std::size_t chrom, std::uint64_t place) const;

  // The blocks of a chromosome in ascending order; checked not to overlap and to lie inside the chromosome
  // and the file.
  std::vector<BigWigBlock> blocks_of(const ByteView& view, std::size_t chrom) const;
};

}  // namespace semicrf
