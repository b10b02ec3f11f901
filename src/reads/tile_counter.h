// Adds up reads to counts of bins, tile by tile.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "io/files/temp_spool.h"
#include "reads/count_rule.h"
#include "reads/read_grid.h"

namespace semicrf {

// The counts of one track until they are written, packed by tile: a temporary file takes what memory should
// not.
class CountStore {
 public:
  static constexpr std::size_t kInMemory = std::size_t{1} << 20, kPerTile = 112;  // bytes

  // Keeps that many bytes of counts in memory, besides kPerTile for each tile that has any.
  explicit CountStore(std::size_t chromosomes, std::size_t in_memory = kInMemory)
      : has_(chromosomes, 0), spool_(in_memory, "") {}

  // Adds to the counts of the bins of a tile; all >= 0. Thread-safe.
  void put(std::size_t chromosome, std::int64_t tile, std::span<const std::int64_t> counts);
  void add_reads(std::int64_t reads);  // thread-safe

  // Reads that were counted.
  std::int64_t reads() const { return reads_; }
  // Whether a bin of the chromosome has a count.
  bool has(std::size_t chromosome) const { return has_[chromosome] != 0; }
  // Fills `counts`, which has as many entries as the tile has bins.
  void read(std::size_t chromosome, std::int64_t tile, std::span<std::int64_t> counts) const;

 private:
  std::mutex mutex_;
  std::int64_t reads_ = 0;
  std::vector<char> has_;  // by chromosome
  // Chromosome and tile -> blobs of the spool: several where files are counted together.
  std::unordered_multimap<std::uint64_t, std::size_t> blobs_;
  TempSpool spool_;
};

// Not thread-safe. Counts of kDepth are sums over the bases of a bin.
class TileCounter {
 public:
  // All must outlive it.
  TileCounter(const ReadGrid& grid, const CountRule& rule, const ExcludedBases& excluded, CountStore& store)
      : grid_(grid), rule_(rule), excluded_(excluded), store_(store) {}

  // Reads of a chromosome follow, of which the bins [begin, end) count, whole tiles.
  void begin(std::size_t chromosome, std::int64_t begin, std::int64_t end);
  // False: the read has no strand, and these options need one.
  bool add(const Read& read);
  // No read that is still to come counts at a base below `base`.
  void pass(std::int64_t base);
  // The tiles that are left are complete.
  void end();

 private:
  struct Tile {
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> steps;  // changes of the number of intervals from bin to bin; empty for places
  };
  Tile& tile(std::int64_t tile);
  void add_place(std::int64_t base);
  void add_blocks(std::span<const ReadBlock> blocks, std::int64_t by);
  void add_bins(std::int64_t begin, std::int64_t end);  // one more in each of these bins
  void add_depth(std::int64_t begin, std::int64_t end);
  void store(std::int64_t tile, Tile& filled);

  const ReadGrid& grid_;
  const CountRule& rule_;
  const ExcludedBases& excluded_;
  CountStore& store_;
  std::size_t chromosome_ = 0;
  std::int64_t length_ = 0, begin_ = 0, end_ = 0;  // bases of the chromosome; bins that count
  std::int64_t reads_ = 0;
  std::map<std::int64_t, Tile> open_;
  std::vector<Tile> spare_;
  std::int64_t last_ = -1;  // tile of last_tile_
  Tile* last_tile_ = nullptr;
};

}  // namespace semicrf
