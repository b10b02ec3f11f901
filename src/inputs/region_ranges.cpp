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

std::vector<BinRange> GivenRegions::within(const std::string& chromosome, std::int64_t length) const {
  PieceRequest request;
  request.length = length;
  if (include_given) request.include = include.within(chromosome, 0, length);
  request.exclude = exclude.within(chromosome, 0, length);
  return make_pieces(request);
}

GivenRegions read_given_regions(const InputOptions& input, const ChromosomeIndex& known) {
  GivenRegions given;
  given.include_given = !input.regions.empty() || !input.regions_file.empty();
  std::vector<Region> included;
  for (const std::string& text : input.regions) included.push_back(parse_region(text, known));
  if (!input.regions_file.empty()) {
    const std::vector<Region> more =
        read_regions(input.regions_file, RegionRole::kIncluded, known, given.warnings);
    included.insert(included.end(), more.begin(), more.end());
  }
  given.include = RegionRanges(included);
  if (!input.exclude_file.empty())
    given.exclude =
        RegionRanges(read_regions(input.exclude_file, RegionRole::kExcluded, known, given.warnings));
  return given;
}

}  // namespace semicrf
