#include "inputs/region_ranges.h"

#include <algorithm>

namespace semicrf {

RegionRanges::RegionRanges(std::span<const Region> regions) {
  for (const Region& region : regions) ranges_[region.chromosome].push_back({region.begin, region.end});
  for (auto& [chromosome, ranges] : ranges_) {
    std::ranges::sort(ranges, {}, &BaseRange::begin);
    std::size_t kept = 0;
    for (const BaseRange& range : ranges) {
      if (kept > 0 && range.begin < ranges[kept - 1].end) {
        ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
      } else {
        ranges[kept++] = range;
      }
    }
    ranges.resize(kept);
  }
}

std::vector<BaseRange> RegionRanges::within(const std::string& chromosome, std::int64_t begin,
                                            std::int64_t end) const {
  std::vector<BaseRange> found;
  const auto known = ranges_.find(chromosome);
  if (known == ranges_.end()) return found;
  auto range = std::ranges::upper_bound(known->second, begin, {}, &BaseRange::end);
  for (; range != known->second.end() && range->begin < end; ++range)
    found.push_back({std::max(range->begin, begin) - begin, std::min(range->end, end) - begin});
  return found;
}

std::size_t RegionRanges::kept_bytes() const {
  constexpr std::size_t kPerChromosome = 128;
  std::size_t bytes = ranges_.size() * kPerChromosome;
  for (const auto& [chromosome, ranges] : ranges_) bytes += ranges.capacity() * sizeof(BaseRange);
  return bytes;
}

}  // namespace semicrf
