// Adds up reads to counts of bins, tile by tile.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "reads/count_rule.h"
#include "reads/count_store.h"
#include "reads/read_grid.h"

namespace semicrf {

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
