// Regions by chromosome, for any number of regions, chromosomes and parts of chromosomes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "inputs/input_options.h"
#include "io/text/chromosomes.h"
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

// What -r, -L and --exclude leave of chromosomes, in bases and not widened to bins.
struct GivenRegions {
  bool include_given = false;  // by -r or -L
  RegionRanges include, exclude;
  std::vector<Warning> warnings;

  // What is left of the bases [0, length) of a chromosome.
  std::vector<BinRange> within(const std::string& chromosome, std::int64_t length) const;
};
// Throws the errors of parse_region() and read_regions().
GivenRegions read_given_regions(const InputOptions& input, const ChromosomeIndex& known);

}  // namespace semicrf
