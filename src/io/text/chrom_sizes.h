// Names and lengths of chromosomes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semicrf {

struct Chromosome {
  std::string name;
  std::int64_t length = 0;  // bases, >= 1

  friend bool operator==(const Chromosome&, const Chromosome&) = default;
};

// Reads a two-column file (name, length) or a .fai index, in the file's order; comments (#) and empty lines
// are skipped, further columns ignored. InputError with the line: not a positive length, a name twice, no
// chromosome at all.
std::vector<Chromosome> read_chrom_sizes(const std::string& path);

// The chromosome of that name, or null. Linear in the list.
const Chromosome* find_chromosome(std::span<const Chromosome> chromosomes, std::string_view name);

// "chr1, chr2, chr3 and 22 more", for messages.
std::string few_names(std::span<const std::string> names);
std::string chromosome_names(std::span<const Chromosome> chromosomes);

}  // namespace semicrf
