// What bigWig and bigBed files are made of besides their data: little-endian numbers, the tree of chromosomes
// (a B+ tree by name) and indexes over blocks (R-trees). Offsets are bytes of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "io/bigwig/bigwig_reader.h"

namespace semicrf {

// Appends the number, whatever the byte order of the machine.
template <class Number>
void put_number(std::string& text, Number number) {
  if constexpr (sizeof(Number) == 4 && std::is_floating_point_v<Number>) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    put_number(text, bits);
  } else if constexpr (std::is_floating_point_v<Number>) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    put_number(text, bits);
  } else {
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      text += static_cast<char>(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i)));
  }
}

// A compressed block of data or of zoom records: bases [begin, end) of one chromosome.
struct BbiBlock {
  std::uint32_t chrom = 0, begin = 0, end = 0;
  std::uint32_t bytes = 0;  // compressed
};

// The R-tree over blocks that lie one after the other from `first`; the tree itself begins at `at`.
std::string block_index(std::span<const BbiBlock> blocks, std::uint64_t first, std::uint64_t at);

// The tree of chromosomes, which begins at `at`. Keys are sorted by name; ids are the places in the list.
std::string chromosome_tree(const std::vector<Chromosome>& chromosomes, std::uint64_t at);

}  // namespace semicrf
