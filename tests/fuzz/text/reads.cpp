// Files of reads as text, SAM too, and their counts. HTSlib asks for as much memory as a BAM header says,
// which the fuzzer takes for a fault: binary files are left out.
#include <memory>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "reads/count_reads.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  const std::string_view text = text_of(bytes);
  if (text.starts_with("\x1f\x8b") || text.starts_with("CRAM")) return;
  constexpr std::int64_t kLongest = 100'000;  // of chromosomes whose bins are looked at
  static const std::vector<CountRule> rules = {
      parse_count_rule(""), parse_count_rule("shift=-30&extend=50&count=overlap"),
      parse_count_rule("exclude=0&count=depth"), parse_count_rule("fragments=400&keep-dup=1"),
      parse_count_rule("count=overlap&keep-dup=2")};
  allow_refusal([&] {
    const ReadFileInfo file = inspect_reads(as_file(bytes));
    const std::vector<Chromosome> sizes = {{"chr1", 1000}, {"2", 50}};
    ReadGrid grid{
        chromosomes_of_reads({&file}, file.is_text ? sizes : std::vector<Chromosome>(), "sizes").list, 7};
    for (const Chromosome& chromosome : grid.chromosomes)
      if (chromosome.length > kLongest) return;
    const CountRule& rule = rules[bytes.size() % rules.size()];
    const bool in_order = rule.keep_duplicates > 0 || bytes.size() % 3 > 0;
    const auto counts = std::make_shared<CountStore>(grid.chromosomes.size());
    count_reads(grid, {}, {{file, rule, {counts}}}, 1, in_order);
    const Chromosome& first = grid.chromosomes.front();
    grid.wanted = WantedBins(grid.chromosomes, grid.bin, {{first.name, first.length / 3, first.length}});
    const auto parts = std::make_shared<CountStore>(grid.chromosomes.size());
    count_reads(grid, {}, {{file, rule, {parts}}}, 1, in_order);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < grid.chromosomes.size(); ++i) {
      std::vector<std::int64_t> bins(wide(grid.bins(i)));  // one tile
      counts->read(i, 0, bins);
      std::vector<std::int64_t> wanted(bins.size());
      parts->read(i, 0, wanted);
      for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        require(bins[bin] >= 0, "counts are not negative");
        sum += bins[bin];
        const bool is_wanted = grid.wanted.has(i, static_cast<std::int64_t>(bin));
        require(wanted[bin] == (is_wanted ? bins[bin] : 0), "bins of regions have the counts of all");
      }
    }
    require(rule.is_place() ? sum == counts->reads() : sum >= counts->reads(), "every read is in a bin");
  });
}

}  // namespace semicrf::fuzz
