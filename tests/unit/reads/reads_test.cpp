// Counts of reads without files: rules as text, tiles, stores and thresholds.
#include <cmath>
#include <random>
#include <vector>

#include "core/error.h"
#include "reads/bin_values.h"
#include "reads/count_rule.h"
#include "reads/read_counter.h"
#include "reads/tile_counter.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("the text of a rule has what is not usual, and is read as the same rule") {
  CHECK(count_rule_text({}).empty());
  CHECK(count_rule_text(parse_count_rule("shift=100&mapq=30")) == "mapq=30&shift=100");
  CHECK(count_rule_text(parse_count_rule("mapq=0&count=start&exclude=3844")).empty());
  CHECK(count_rule_text(parse_count_rule("fragments=500")) == "fragments=500");
  CHECK(count_rule_text(parse_count_rule("keep-dup=2&mapq=3")) == "mapq=3&keep-dup=2");
  CHECK(count_rule_text(parse_count_rule("mixed=1&fragments=9&shift=4")) == "shift=4&fragments=9&mixed=1");
  CHECK(parse_count_rule("fragments=500").part == CountedPart::kCentre);
  CHECK(parse_count_rule("strand=-&count=depth").strand == ReadStrand::kReverse);
  for (const char* wrong : {"keep-dup=-1", "mapq", "mapq=", "mapq=-1", "mapq=256", "quality=3",
                            "shift=1&shift=1", "count=end", "strand=", "fragments=0", "fragments=9&extend=1",
                            "mixed=1", "mixed=2&fragments=9", "fragments=9&count=start", "&", "mapq=1&"})
    CHECK_THROWS_AS(parse_count_rule(wrong), UsageError);
}

TEST_CASE("a store gives back what was put, and 0 elsewhere") {
  CountStore store(3);
  std::mt19937_64 random(1);
  std::vector<std::vector<std::int64_t>> tiles;
  for (std::int64_t tile = 0; tile < 50; ++tile) {
    std::vector<std::int64_t>& counts = tiles.emplace_back(1000);
    for (std::int64_t& count : counts)
      count = random() % 3 == 0 ? static_cast<std::int64_t>(random() >> (1 + random() % 63)) : 0;
    store.put(1, tile, counts);
  }
  std::vector<std::int64_t> found(1000, 7);
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    store.read(1, static_cast<std::int64_t>(tile), found);
    CHECK(found == tiles[tile]);
  }
  CHECK(store.has(1));
  CHECK(!store.has(0));
  store.put(2, 0, std::vector<std::int64_t>(1000, 0));
  CHECK(!store.has(2));
  store.read(2, 0, found);
  CHECK(found == std::vector<std::int64_t>(1000, 0));
}

TEST_CASE("tiles that are counted apart have the counts of the chromosome") {
  const ReadGrid grid{{{"chr1", 2'500'000}}, 700};  // three tiles
  std::mt19937_64 random(2);
  std::vector<ReadBlock> blocks(4000);
  for (ReadBlock& block : blocks) {
    block.begin = static_cast<std::int64_t>(random() % 2'490'000);
    block.end = block.begin + 1 + static_cast<std::int64_t>(random() % 9000);
  }
  for (const char* text :
       {"shift=400", "extend=2000&count=centre", "count=overlap&shift=-900", "count=depth"}) {
    const CountRule rule = parse_count_rule(text);
    const ExcludedBases excluded(grid, {{"chr1", 1'000'000, 1'000'900}, {"chr1", 5, 6}});
    CountStore whole(1), parts(1);
    const auto count = [&](CountStore& store, std::int64_t begin, std::int64_t end) {
      TileCounter counter(grid, rule, excluded, store);
      counter.begin(0, begin, end);
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        Read read;
        read.begin = blocks[i].begin;
        read.end = blocks[i].end;
        read.strand = i % 2 == 0 ? ReadStrand::kForward : ReadStrand::kReverse;
        read.blocks = {&blocks[i], 1};
        CHECK(counter.add(read));
      }
      counter.end();
    };
    count(whole, 0, grid.bins(0));
    REQUIRE(grid.tiles(0) == 3);
    for (std::int64_t tile = 0; tile < 3; ++tile)
      count(parts, tile * grid.tile_bins(), std::min(grid.bins(0), (tile + 1) * grid.tile_bins()));
    CHECK(whole.reads() == parts.reads());
    CHECK(whole.reads() > 3000);
    for (std::int64_t tile = 0; tile < 3; ++tile) {
      const auto bins =
          static_cast<std::size_t>(std::min(grid.tile_bins(), grid.bins(0) - tile * grid.tile_bins()));
      std::vector<std::int64_t> one(bins), other(bins);
      whole.read(0, tile, one);
      parts.read(0, tile, other);
      CHECK(one == other);
    }
  }
}

TEST_CASE("a threshold is the count that Poisson numbers reach with the probability that is asked for") {
  for (const double expected : {0.01, 0.3, 1.0, 7.5, 120.0})
    for (const double tail : {0.05, 1e-4, 1e-8}) {
      const auto reached = [&](std::int64_t count) {  // P(X >= count)
        double below = 0;
        for (std::int64_t k = 0; k < count; ++k)
          below += std::exp(static_cast<double>(k) * std::log(expected) - expected -
                            std::lgamma(static_cast<double>(k) + 1));
        return 1 - below;
      };
      const std::int64_t usual = binary_threshold(expected, {.tail = tail});
      const std::int64_t beyond = binary_threshold(expected, {.tail = tail, .beyond = true});
      CHECK(beyond == std::max<std::int64_t>(usual + (usual > 1 || reached(1) > tail ? 1 : 0), 1));
      CHECK(reached(beyond) < tail);
      if (usual > 1) CHECK(reached(usual) >= tail);
    }
  CHECK(binary_threshold(0, {}) == 1);
  CHECK(binary_threshold(2, {.fold = 10}) == 20);
  CHECK(binary_threshold(2, {.least = 33.2}) == 34);
}

TEST_CASE("bins of regions are those with one of their bases") {
  const std::vector<Chromosome> chromosomes = {{"chr1", 1000}, {"chr2", 95}};
  const WantedBins some(chromosomes, 10,
                        {{"chr1", 205, 206}, {"chr1", 100, 131}, {"chr1", 139, 150}, {"chr1", 110, 120}});
  std::vector<std::int64_t> found;
  for (std::int64_t bin = 0; bin < 100; ++bin)
    if (some.has(0, bin)) found.push_back(bin);
  CHECK(found == std::vector<std::int64_t>{10, 11, 12, 13, 14, 20});
  CHECK(some.first(0, 0, 30) == 10);
  CHECK(some.first(0, 12, 30) == 12);
  CHECK(some.first(0, 15, 30) == 20);
  CHECK(some.first(0, 15, 18) == 18);
  CHECK(some.first(1, 2, 9) == 9);
  const auto hull = [&](std::int64_t begin, std::int64_t end) {
    const ReadBlock bins = some.hull(0, begin, end);
    return std::pair(bins.begin, bins.end);
  };
  CHECK(hull(0, 100) == std::pair<std::int64_t, std::int64_t>(10, 21));
  CHECK(hull(12, 20) == std::pair<std::int64_t, std::int64_t>(12, 15));
  CHECK(hull(15, 20).first == hull(15, 20).second);
  CHECK(!some.has(1, 0));
  CHECK(!some.all());
  CHECK(WantedBins().has(1, 7));
}

TEST_CASE("duplicates have one 5' end, strand, fragment and cell") {
  CountRule rule;
  rule.keep_duplicates = 1;
  DuplicateFilter filter(rule);
  const auto keep = [&](std::int64_t begin, std::int64_t end, ReadStrand strand, std::int64_t mate = 0,
                        std::size_t cell = 0) {
    Read read;
    read.begin = begin;
    read.end = end;
    read.strand = strand;
    read.mate = mate;
    read.pair_bases = end - begin;
    read.is_of_pair = mate != 0;
    return filter.keep(read, cell);
  };
  constexpr auto kForward = ReadStrand::kForward, kReverse = ReadStrand::kReverse,
                 kNone = ReadStrand::kUnknown;
  CHECK(keep(10, 60, kForward));
  CHECK(!keep(10, 50, kForward));
  CHECK(keep(10, 50, kForward, 200));
  CHECK(keep(10, 50, kForward, 0, 1));
  CHECK(keep(10, 80, kReverse));
  CHECK(keep(11, 60, kForward));
  CHECK(!keep(20, 80, kReverse));
  CHECK(keep(20, 81, kReverse));
  CHECK(keep(21, 80, kNone));
  CHECK(keep(21, 90, kNone));
  CHECK(!keep(21, 90, kNone));
}

TEST_CASE("a store adds up what is put at several times") {
  CountStore store(1);
  store.put(0, 2, std::vector<std::int64_t>{1, 0, 5});
  store.put(0, 2, std::vector<std::int64_t>{0, 2, 7});
  std::vector<std::int64_t> found(3);
  store.read(0, 2, found);
  CHECK(found == std::vector<std::int64_t>{1, 2, 12});
}
