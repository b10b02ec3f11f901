// The counts of one track until they are written, packed by tile: a temporary file takes what memory should
// not.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "io/files/temp_spool.h"

namespace semicrf {

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

}  // namespace semicrf
