// Names and lengths of chromosomes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/name_index.h"

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

// A list of chromosomes in which names are found in constant time. The list must outlive it.
class ChromosomeIndex {
 public:
  explicit ChromosomeIndex(const std::vector<Chromosome>& chromosomes)
      : list_(chromosomes), places_(NameIndex::of(chromosomes)) {}
  // The chromosome of that name, or null.
  const Chromosome* find(std::string_view name) const {
    const auto place = places_.find(name);
    return place ? &list_[*place] : nullptr;
  }
  std::span<const Chromosome> list() const { return list_; }

 private:
  std::span<const Chromosome> list_;
  NameIndex places_;
};

// "chr1, chr2, chr3 and 22 more", for messages.
std::string few_names(std::span<const std::string> names);
std::string chromosome_names(std::span<const Chromosome> chromosomes);

}  // namespace semicrf
