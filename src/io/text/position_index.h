// Indexes of compressed text with positions, as tabix reads them.
#pragma once

#include <cstdint>
#include <string>

namespace semicrf {

// How the positions of a .csi index are binned.
struct CsiShape {
  int min_shift = 14;  // smallest bins of 2^min_shift bases
  int levels = 6;      // each with bins eight times as wide as the one below
  // Bases that it reaches to.
  std::int64_t reach() const { return std::int64_t{1} << (min_shift + 3 * levels); }
};

// Bins of 16 kb as in .tbi, or as small as six levels over the longest chromosome (bases, at most 2^62)
// allow.
CsiShape csi_shape_for(std::int64_t longest_chromosome);

// Indexes a BGZF file whose lines have chromosome, begin and end in their first columns, sorted by position;
// lines with # do not count. False, with errno where the system said why: the file cannot be read, is not
// sorted or the index cannot be written. A .tbi index reaches to 2^29 bases, a .csi index as far as its
// shape.
bool build_tbi(const std::string& data, const std::string& index);
bool build_csi(const std::string& data, const std::string& index, const CsiShape& shape);

}  // namespace semicrf
