// What bigWig and bigBed files are made of besides their data: little-endian numbers, the tree of chromosomes
// (a B+ tree by name) and indexes over blocks (R-trees). Offsets are bytes of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <type_traits>

#include "io/bigwig/listed_chromosomes.h"

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

// From base `begin` of a chromosome up to base `end` of the same or a later one.
struct BbiRange {
  std::uint32_t chrom = 0, begin = 0, last_chrom = 0, end = 0;
};

// A compressed block of data, all of one chromosome, or of zoom records.
struct BbiBlock {
  BbiRange range;
  std::uint32_t bytes = 0;  // compressed
};
using BbiBlocks = std::deque<BbiBlock>;  // takes no copy of all when it grows

// Takes a tree, a part at a time.
using TakeText = std::function<void(const std::string& part)>;

// The R-tree over blocks that lie one after the other from `first`; the tree itself begins at `at`.
void write_block_index(const BbiBlocks& blocks, std::uint64_t first, std::uint64_t at, const TakeText& take);
std::uint64_t block_index_bytes(std::size_t blocks);

// The tree of chromosomes, which begins at `at`. Keys are sorted by name; ids are the places in the list.
void write_chromosome_tree(const ListedChromosomes& chromosomes, std::uint64_t at, const TakeText& take);
std::uint64_t chromosome_tree_bytes(const ListedChromosomes& chromosomes);

}  // namespace semicrf
