// Zoom levels of bigWig and bigBed files: records of so many bases, made while the data come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/bigwig/bbi_trees.h"
#include "io/bigwig/bigwig_reader.h"

namespace semicrf {

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
  void add(std::uint32_t chrom, std::int64_t begin, std::int64_t end, double value);
  // What is left of the chromosome. Records do not cross chromosomes, blocks do: a genome of many small
  // scaffolds would else have a block of each on each level.
  void end_chromosome();
  // What is left of all.
  void end();

  std::size_t levels() const { return levels_.size(); }
  std::int64_t reduction(std::size_t level) const { return levels_[level].reduction; }
  std::uint32_t records(std::size_t level) const { return levels_[level].written; }
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
    std::size_t waiting = 0;     // number of these records
    BbiRange range;              // range of these records
    std::uint32_t written = 0;
  };

  void add_part(std::size_t level, const Record& part);
  void end_record(std::size_t level);
  void end_block(std::size_t level);

  std::vector<Level> levels_;
  BigWigSummary summary_;
  Emit emit_;
};

}  // namespace semicrf
