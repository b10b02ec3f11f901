// Regions that the user names: on the command line (1-based, inclusive) or in a BED file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/text/chromosomes.h"

namespace semicrf {

struct Region {
  std::string chromosome;
  std::int64_t begin = 0;  // base, 0-based
  std::int64_t end = 0;    // one past the last base; begin < end <= length of the chromosome

  friend bool operator==(const Region&, const Region&) = default;
};

// Parses what samtools does: "chr", "chr:beg-end", "chr:beg-", "chr:beg" (to the chromosome's end),
// "chr:-end"; positions are 1-based and inclusive and may have thousands commas; an end beyond the chromosome
// is cut. Names may contain colons: they are told by the list of known chromosomes; "{name}:beg-end" settles
// a text that can be read in two ways. UsageError: bad numbers, begin beyond the end, ambiguous text.
// InputError: unknown chromosome, begin beyond the chromosome.
Region parse_region(std::string_view text, const ChromosomeIndex& chromosomes);

// The texts of regions of a file, one in each line: as parse_region() takes them, or BED, of which the first
// three columns count. Empty lines and those that begin with # are passed over. InputError where there is no
// region, or with the line where BED has no numbers.
std::vector<std::string> read_region_texts(const std::string& path);

// What regions are for: to be the only ones that count, or not to count.
enum class RegionRole { kIncluded, kExcluded };

// The records of a BED file that lie on known chromosomes, in the file's order; ends beyond the chromosome
// are cut. Adds a warning where other chromosomes have some of them ("regions-not-used"), and where there is
// nothing to exclude ("nothing-excluded"). InputError: a record begins beyond its chromosome's end, no record
// lies on a known chromosome (names both sides), or there is no region to include.
std::vector<Region> read_regions(const std::string& bed_path, RegionRole role,
                                 const ChromosomeIndex& chromosomes, std::vector<Warning>& warnings);

}  // namespace semicrf
