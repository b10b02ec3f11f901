#include "io/text/region.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;

const std::vector<Chromosome> kChromosomes = {{"chr1", 2000000}, {"chr2", 500},   {"HLA:A*01", 300},
                                              {"HLA", 1000},     {"HLA:1-5", 77}, {"a{b", 10}};
const ChromosomeIndex kKnown(kChromosomes);

TEST_CASE("regions as samtools users write them") {
  CHECK(parse_region("chr1:1-1", kKnown) == Region{"chr1", 0, 1});
  CHECK(parse_region("chr1:1,000-1,000,000", kKnown) == Region{"chr1", 999, 1000000});
  CHECK(parse_region("chr1", kKnown) == Region{"chr1", 0, 2000000});
  CHECK(parse_region("chr2:101-", kKnown) == Region{"chr2", 100, 500});
  CHECK(parse_region("chr2:101", kKnown) == Region{"chr2", 100, 500});
  CHECK(parse_region("chr2:-101", kKnown) == Region{"chr2", 0, 101});
  CHECK(parse_region("chr2:400-9999", kKnown) == Region{"chr2", 399, 500});
}

TEST_CASE("chromosome names with colons are told by the list") {
  CHECK(parse_region("HLA:A*01", kKnown) == Region{"HLA:A*01", 0, 300});
  CHECK(parse_region("HLA:A*01:5-6", kKnown) == Region{"HLA:A*01", 4, 6});
  CHECK(parse_region("HLA:2-6", kKnown) == Region{"HLA", 1, 6});
  CHECK_THROWS_AS(parse_region("HLA:1-5", kKnown), UsageError);
  CHECK(parse_region("{HLA:1-5}", kKnown) == Region{"HLA:1-5", 0, 77});
  CHECK(parse_region("{HLA}:1-5", kKnown) == Region{"HLA", 0, 5});
  CHECK(parse_region("{a{b}:2-3", kKnown) == Region{"a{b", 1, 3});
}

TEST_CASE("regions that make no sense are refused") {
  for (const char* text : {"", "chr1:", "chr1:-", "chr1:0-5", "chr1:5-4", "chr1:x-5", "chr1:5-x",
                           "chr1:1-2-3", "chr1:,5-6", "chr1:1.5-6", "chr1: 1-5", "chr1:99999999999999999999-",
                           "chr1:+1-5", "{chr1", "{chr1}x", "{chr1}:"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_region(text, kKnown), UsageError);
  }
}

TEST_CASE("regions that do not fit the inputs are refused") {
  for (const char* text : {"chr3", "chr3:1-5", "1:1-5", "chr2:501-600", "{chr3}", "{}", "chr1\n:1-5"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_region(text, kKnown), InputError);
  }
  CHECK_THROWS_WITH(parse_region("1:1-5", kKnown),
                    Catch::Matchers::Contains("no chromosome '1'") &&
                        Catch::Matchers::Contains("chr1, chr2, HLA:A*01 and 3 more"));
}

TEST_CASE("regions of a BED file: known chromosomes only, cut at their ends") {
  const TempFolder folder;
  const std::string path = folder.add("r.bed", "chr2\t400\t600\nchrUn\t5\t6\nchr1\t0\t10\nchrUn\t7\t8\n");
  std::vector<Warning> warnings;
  CHECK(read_regions(path, RegionRole::kIncluded, kKnown, warnings) ==
        std::vector<Region>{{"chr2", 400, 500}, {"chr1", 0, 10}});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "regions-not-used");
  CHECK(warnings[0].message ==
        "2 of 4 regions of " + path + " are on chromosomes that the inputs do not have: chrUn");
}

TEST_CASE("a BED file without regions leaves nothing, or excludes nothing") {
  const TempFolder folder;
  const std::string path = folder.add("none.bed", "#nothing\n");
  std::vector<Warning> warnings;
  CHECK_THROWS_WITH(read_regions(path, RegionRole::kIncluded, kKnown, warnings),
                    Catch::Matchers::Contains("none.bed: has no region"));
  CHECK(warnings.empty());
  CHECK(read_regions(path, RegionRole::kExcluded, kKnown, warnings).empty());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].code == "nothing-excluded");
}

TEST_CASE("a BED file of another genome is refused") {
  const TempFolder folder;
  std::vector<Warning> warnings;
  const auto read = [&](const std::string& path) {
    return read_regions(path, RegionRole::kIncluded, kKnown, warnings);
  };
  CHECK_THROWS_WITH(read(folder.add("names.bed", "1\t0\t5\n2\t0\t5\n1\t7\t9\n")),
                    Catch::Matchers::Contains("the regions are on 1, 2, the inputs have chr1, chr2"));
  CHECK_THROWS_WITH(read(folder.add("long.bed", "chr2\t0\t5\nchr2\t500\t501\n")),
                    Catch::Matchers::Contains("long.bed:line 2: begins at chr2:500"));
  CHECK_THROWS_AS(read(folder / "names.bed"), InputError);
}

}  // namespace
}  // namespace semicrf
