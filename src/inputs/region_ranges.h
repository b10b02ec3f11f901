// Regions by chromosome, for any number of regions, chromosomes and parts of chromosomes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/text/region.h"
#include "model/bins.h"

namespace semicrf {

// Sorted once; those that overlap count as one, those that touch do not.
class RegionRanges {
 public:
  RegionRanges() = default;
  explicit RegionRanges(std::span<const Region> regions);

  // What they have of the bases [begin, end) of a chromosome, counted from `begin`, sorted. Takes the
  // logarithm of their number on the chromosome and what it returns.
  std::vector<BaseRange> within(const std::string& chromosome, std::int64_t begin, std::int64_t end) const;
  // That they take of memory.
  std::size_t kept_bytes() const;

 private:
  std::unordered_map<std::string, std::vector<BaseRange>> ranges_;  // by chromosome, sorted and disjoint
};

}  // namespace semicrf
