// Chromosome sizes and .fai indexes.
#include <unordered_set>

#include "fuzz/fuzz_input.h"
#include "io/text/chromosomes.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const auto chromosomes = read_chrom_sizes(as_file(bytes));
    require(!chromosomes.empty(), "a list is not empty");
    std::unordered_set<std::string> names;
    for (const Chromosome& chromosome : chromosomes) {
      require(!chromosome.name.empty() && chromosome.length >= 1, "names and lengths are there");
      require(names.insert(chromosome.name).second, "names are unique");
    }
    require(!chromosome_names(chromosomes).empty(), "the list has a text");
  });
}

}  // namespace semicrf::fuzz
