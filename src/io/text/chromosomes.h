// Chromosomes: their names and lengths, lists of them, and where bins and bases lie on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/names.h"

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

// The chromosomes that bigWig and bigBed files list: one list for all files of a run.
// Copies share the list: about 50 bytes for each chromosome, whatever the number of files.
class ListedChromosomes {
 public:
  ListedChromosomes() = default;
  // In the order in which their data come. At most 2^32 - 1.
  ListedChromosomes(std::vector<Chromosome> chromosomes);

  std::span<const Chromosome> list() const;
  std::size_t size() const { return list().size(); }
  bool empty() const { return list().empty(); }
  // The place of a chromosome that the list has (std::logic_error).
  std::size_t place(const std::string& name) const;
  // The places, sorted by the names.
  std::span<const std::uint32_t> by_name() const;

 private:
  struct Lists {
    std::vector<Chromosome> chromosomes;
    std::vector<std::uint32_t> by_name;
  };
  std::shared_ptr<const Lists> lists_;
};

// The bases of sites, increasing, in place of bins of equal sizes. Those from the middle between two sites on
// are the second one's.
using SitePositions = std::vector<std::uint32_t>;
// First base of site `site` of all, 0..number of sites; for the last, one past the last site.
inline std::int64_t begin_of_site(const SitePositions& at, std::int64_t site) {
  const std::size_t i = site;
  if (i == at.size()) return std::int64_t{at.back()} + 1;
  return i == 0 ? at[0] : (std::int64_t{at[i - 1]} + 1 + at[i]) / 2;
}

// Where the bins of a piece lie on their chromosome: the door between bins (inside) and bases (in files).
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
  std::shared_ptr<const SitePositions> sites =
      nullptr;  // bins are these sites of the sequence; null: they are not

  // First base of bin `bin` of the piece.
  std::int64_t begin_base(std::int64_t bin) const {
    return sites ? begin_of_site(*sites, first_bin + bin) : origin + (first_bin + bin) * bin_size;
  }
  // One past the last base of the bins before bin `bin` of the piece.
  std::int64_t end_base(std::int64_t bin) const { return std::min(begin_base(bin), limit); }
  // The bases of bins [begin, end) of the piece as people write them, 1-based inclusive: "chr1:1001-2000".
  std::string place(std::int64_t begin, std::int64_t end) const {
    return place_of_bases(chromosome, begin_base(begin), end_base(end));
  }
};

// The first `bins` sites of a piece that has some.
inline std::span<const std::uint32_t> sites_of(const BinLocation& location, std::int64_t bins) {
  return std::span(*location.sites).subspan(location.first_bin, bins);
}

}  // namespace semicrf
