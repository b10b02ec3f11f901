#include "io/segments/bed_reader.h"

#include <filesystem>

#include "core/error.h"
#include "io/files/output_file.h"
#include "io/text/chromosomes.h"
#include "support/catch.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;

const char* const kBed =
    "browser position chr1:1-10\n"
    "track name=\"x\"\r\n"
    "#comment\n"
    "\n"
    "chr1\t0\t10\r\n"
    "chr1\t10\t20\tname with blanks\t7\t.\n"
    "track1 20   30 y\n"
    "chr2\t5\t6\t\t\n";

TEST_CASE("BED lines, comments and CRLF") {
  const TempFolder folder;
  const auto records = read_bed(folder.add("a.bed", kBed));
  REQUIRE(records.size() == 4);
  CHECK(records[0].chromosome == "chr1");
  CHECK(records[0].begin == 0);
  CHECK(records[0].end == 10);
  CHECK(records[0].name.empty());
  CHECK(records[0].line == 5);
  CHECK(records[1].name == "name with blanks");
  CHECK(records[1].fields == std::vector<std::string>{"chr1", "10", "20", "name with blanks", "7", "."});
  CHECK(records[2].chromosome == "track1");
  CHECK(records[2].fields == std::vector<std::string>{"track1", "20", "30", "y"});
  CHECK(records[3].fields == std::vector<std::string>{"chr2", "5", "6", "", ""});
  CHECK(records[3].line == 8);
}

TEST_CASE("a BED file without a final newline, and an empty one") {
  const TempFolder folder;
  CHECK(read_bed(folder.add("a.bed", "c\t1\t2\nc\t3\t4")).size() == 2);
  CHECK(read_bed(folder.add("b.bed", "")).empty());
}

TEST_CASE("compressed BED files read the same; truncated ones are refused") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 30000; ++i)
    text += "chr1\t" + std::to_string(i * 10) + "\t" + std::to_string(i * 10 + 9) + "\n";
  const std::string path = folder / "a.bed.gz";
  OutputFile output({path});
  output.write(text);
  output.commit();
  const auto records = read_bed(path);
  REQUIRE(records.size() == 30000);
  CHECK(records.back().begin == 299990);

  const auto size = std::filesystem::file_size(path);
  for (const auto cut : {size - 1, size - 28, size - 29, size / 2}) {
    std::filesystem::resize_file(path, cut);
    CHECK_THROWS_AS(read_bed(path), InputError);
  }
  const std::string damaged = folder.add("damaged.bed.gz", test::read_file(path).substr(0, 200));
  CHECK_THROWS_AS(read_bed(damaged), InputError);
}

TEST_CASE("damaged BED lines are refused with their number") {
  const TempFolder folder;
  for (const char* line : {"chr1\t5", "chr1", "chr1\t5\t5", "chr1\t6\t5", "chr1\t-1\t5", "chr1\tx\t5",
                           "chr1\t1\t5x", "chr1\t1\t", "\t1\t5", "chr1\t1.0\t5", "chr1\t+1\t5",
                           "chr1\t0x1\t5", "chr1\t1\t99999999999999999999", "chr1\t1 \t5"}) {
    CAPTURE(line);
    const std::string path = folder.add("bad.bed", std::string("#header\nchr1\t1\t2\n") + line + "\n");
    CHECK_THROWS_AS(read_bed(path), InputError);
    CHECK_THROWS_WITH(read_bed(path), Catch::Matchers::StartsWith(path + ":line 3: "));
  }
}

TEST_CASE("a file that cannot be opened is a ReadError") {
  const TempFolder folder;
  CHECK_THROWS_AS(read_bed(folder / "missing.bed"), ReadError);
  CHECK_THROWS_AS(read_bed(folder.path()), ReadError);
  CHECK_THROWS_AS(read_chrom_sizes(folder / "missing"), ReadError);
}

TEST_CASE("chromosome sizes, plain and .fai") {
  const TempFolder folder;
  const std::vector<Chromosome> expected = {{"chr2", 20}, {"chr1", 10}};
  CHECK(read_chrom_sizes(folder.add("a.sizes", "#name length\nchr2\t20\r\n\nchr1 10\n")) == expected);
  CHECK(read_chrom_sizes(folder.add("a.fai", "chr2\t20\t6\t60\t61\nchr1\t10\t33\t60\t61\n")) == expected);
  CHECK(ChromosomeIndex(expected).find("chr1")->length == 10);
  CHECK(ChromosomeIndex(expected).find("1") == nullptr);
  CHECK(chromosome_names(expected) == "chr2, chr1");
  CHECK(chromosome_names({}) == "none");
}

TEST_CASE("damaged chromosome sizes are refused with their line") {
  const TempFolder folder;
  for (const char* text : {"chr1\n", "chr1\tx\n", "chr1\t0\n", "chr1\t-5\n", "\t5\n", "chr1\t5x\n",
                           "chr1\t\n", "chr1\t5\nchr2\t6\nchr1\t5\n", "", "#only\n"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read_chrom_sizes(folder.add("bad.sizes", text)), InputError);
  }
  CHECK_THROWS_WITH(read_chrom_sizes(folder.add("twice", "a\t5\nb\t6\na\t5\n")),
                    Catch::Matchers::Contains("twice:line 3: chromosome 'a' is listed twice"));
}

}  // namespace
}  // namespace semicrf
