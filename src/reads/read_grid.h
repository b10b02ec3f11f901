// The bins that reads are counted in, and the tiles that they are counted by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/sizes.h"
#include "io/reads/read_file.h"
#include "io/text/chromosomes.h"
#include "io/text/region.h"

namespace semicrf {

// The bins that count, where not all do: those with a base of some regions.
class WantedBins {
 public:
  WantedBins() = default;  // all
  // `regions`: on some of the chromosomes, not empty.
  WantedBins(const std::vector<Chromosome>& chromosomes, std::int64_t bin, const std::vector<Region>& regions)
      : of_(chromosomes.size()) {
    const ChromosomeIndex known(chromosomes);
    for (const Region& region : regions)
      of_[known.find(region.chromosome) - chromosomes.data()].push_back(
          {region.begin / bin, (region.end - 1) / bin + 1});
    for (std::vector<ReadBlock>& bins : of_) {
      std::ranges::sort(bins, {}, &ReadBlock::begin);
      std::size_t last = 0;
      for (std::size_t i = 1; i < bins.size(); ++i) {
        if (bins[i].begin <= bins[last].end) {
          bins[last].end = std::max(bins[last].end, bins[i].end);
        } else {
          bins[++last] = bins[i];
        }
      }
      if (!bins.empty()) bins.resize(last + 1);
    }
  }

  bool all() const { return of_.empty(); }
  // The first one of the bins [begin, end) that counts; `end`: none does.
  std::int64_t first(std::size_t chromosome, std::int64_t begin, std::int64_t end) const {
    if (all()) return begin;
    const std::vector<ReadBlock>& bins = of_[chromosome];
    const auto next = std::ranges::upper_bound(bins, begin, {}, &ReadBlock::end);
    return next == bins.end() ? end : std::min(end, std::max(begin, next->begin));
  }
  // From the first to one past the last of the bins [begin, end) that count; empty: none does.
  ReadBlock hull(std::size_t chromosome, std::int64_t begin, std::int64_t end) const {
    if (all()) return {begin, end};
    const std::vector<ReadBlock>& bins = of_[chromosome];
    const auto after = std::ranges::lower_bound(bins, end, {}, &ReadBlock::begin);
    if (after == bins.begin() || std::prev(after)->end <= begin) return {end, end};
    return {first(chromosome, begin, end), std::min(end, std::prev(after)->end)};
  }
  bool has(std::size_t chromosome, std::int64_t bin) const { return first(chromosome, bin, bin + 1) == bin; }

 private:
  std::vector<std::vector<ReadBlock>> of_;  // by chromosome, apart from each other, sorted; or empty
};

// Bins of all chromosomes, from base 0 of each; the last one is cut at the chromosome's end. A tile is a
// whole number of bins, the unit of work and of memory.
struct ReadGrid {
  std::vector<Chromosome> chromosomes;
  std::int64_t bin = 200;  // bases
  WantedBins wanted = {};
  std::int64_t tile_bases = kTileBases;  // about that many; fewer where a thread keeps many tiles

  std::int64_t bins(std::size_t chromosome) const { return ceil_div(chromosomes[chromosome].length, bin); }
  std::int64_t tile_bins() const { return std::max<std::int64_t>(1, tile_bases / bin); }
  std::int64_t tiles(std::size_t chromosome) const { return ceil_div(bins(chromosome), tile_bins()); }
  std::int64_t bases_of(std::size_t chromosome, std::int64_t of_bin) const {
    return std::min(bin, chromosomes[chromosome].length - of_bin * bin);
  }

  static constexpr std::int64_t kTileBases = std::int64_t{1} << 20;
};

// Bases that do not count, by chromosome: a blacklist.
class ExcludedBases {
 public:
  ExcludedBases() = default;
  // `regions`: on chromosomes of the grid.
  ExcludedBases(const ReadGrid& grid, const std::vector<Region>& regions) : of_(grid.chromosomes.size()) {
    const ChromosomeIndex known(grid.chromosomes);
    for (const Region& region : regions)
      of_[known.find(region.chromosome) - grid.chromosomes.data()].push_back({region.begin, region.end});
    for (std::vector<ReadBlock>& blocks : of_) {
      std::ranges::sort(blocks, {}, &ReadBlock::begin);
      for (std::size_t i = 1; i < blocks.size(); ++i)  // ends rise as begins do
        blocks[i].end = std::max(blocks[i].end, blocks[i - 1].end);
    }
  }

  // Whether one of the bases [begin, end) is excluded.
  bool any(std::size_t chromosome, std::int64_t begin, std::int64_t end) const {
    if (of_.empty()) return false;
    const std::vector<ReadBlock>& blocks = of_[chromosome];
    const auto after = std::ranges::lower_bound(blocks, end, {}, &ReadBlock::begin);
    return after != blocks.begin() && std::prev(after)->end > begin;
  }
  bool empty() const { return of_.empty(); }

 private:
  std::vector<std::vector<ReadBlock>> of_;  // by chromosome, sorted by begin; or empty
};

}  // namespace semicrf
