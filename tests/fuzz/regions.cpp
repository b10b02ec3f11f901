// Regions: the first line is one as on the command line, the next lines up to an empty one are chromosomes
// (name, tab, a byte that gives the length), and the rest is a BED file of regions.
#include <algorithm>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "io/text/region.h"

namespace semicrf::fuzz {
namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void check(const Region& region, const ChromosomeIndex& chromosomes) {
  const Chromosome* const chromosome = chromosomes.find(region.chromosome);
  require(chromosome != nullptr, "regions lie on known chromosomes");
  require(0 <= region.begin && region.begin < region.end && region.end <= chromosome->length,
          "regions lie inside their chromosome");
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  std::string_view text = text_of(bytes);
  const std::string_view region_text = next_line(text);
  std::vector<Chromosome> list;
  NameIndex names;
  while (list.size() < 20) {
    const std::string_view line = next_line(text);
    const std::size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string_view::npos || tab + 1 == line.size()) break;
    const std::string name(line.substr(0, tab));
    if (!names.add(name).second) continue;
    list.push_back({name, 1 + 3 * static_cast<unsigned char>(line[tab + 1])});
  }
  const ChromosomeIndex chromosomes(list);
  allow_refusal([&] {
    const Region region = parse_region(region_text, chromosomes);
    check(region, chromosomes);
    if (region.chromosome.find('}') != std::string::npos) return;
    const std::string full =
        "{" + region.chromosome + "}:" + std::to_string(region.begin + 1) + "-" + std::to_string(region.end);
    require(parse_region(full, chromosomes) == region, "the region in full is the same one");
  });
  allow_refusal([&] {
    std::vector<Warning> warnings;
    for (const Region& region :
         read_regions(as_file({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}),
                      RegionRole::kIncluded, chromosomes, warnings))
      check(region, chromosomes);
  });
}

}  // namespace semicrf::fuzz
