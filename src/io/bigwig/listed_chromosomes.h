// The chromosomes that bigWig and bigBed files list: one list for all files of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/text/chrom_sizes.h"

namespace semicrf {

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

}  // namespace semicrf
