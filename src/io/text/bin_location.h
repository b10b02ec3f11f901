// Where the bins of a piece lie on their chromosome: the door between bins (inside) and bases (in files).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace semicrf {

// "chr1:101-200": bases [begin, end), counted from 1 with both ends included, as in messages.
inline std::string place_of_bases(const std::string& chromosome, std::int64_t begin, std::int64_t end) {
  return chromosome + ":" + std::to_string(begin + 1) + "-" + std::to_string(end);
}

struct BinLocation {
  std::string chromosome;
  std::int64_t bin_size = 1;  // bases
  std::int64_t origin =
      0;  // base at which bin 0 of the sequence begins; not 0 for an array of a part of a chromosome
  std::int64_t limit = 0;      // base at which the sequence ends; the last bin is cut there
  std::int64_t first_bin = 0;  // bin of the sequence at which the piece begins

  // First base of bin `bin` of the piece.
  std::int64_t begin_base(std::int64_t bin) const { return origin + (first_bin + bin) * bin_size; }
  // One past the last base of the bins before bin `bin` of the piece.
  std::int64_t end_base(std::int64_t bin) const { return std::min(begin_base(bin), limit); }
  // The bases of bins [begin, end) of the piece as people write them, 1-based inclusive: "chr1:1001-2000".
  std::string place(std::int64_t begin, std::int64_t end) const {
    return place_of_bases(chromosome, begin_base(begin), end_base(end));
  }
};

}  // namespace semicrf
