// bigBed files that are written here, read again: by our reader, and by libBigWig where it is installed.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "core/error.h"
#include "io/bigwig/bbi_writers.h"
#include "io/bigwig/bigbed_reader.h"
#include "io/segments/bed_reader.h"
#include "support/catch.h"
#include "support/seeds.h"
#include "support/temp_folder.h"
#if SEMICRF_HAVE_LIBBIGWIG
#include "support/files/libbigwig_peer.h"
#endif

namespace semicrf {
namespace {

struct Interval {
  std::size_t chrom = 0;
  std::int64_t begin = 0, end = 0;
  std::string rest;

  friend bool operator==(const Interval&, const Interval&) = default;
};

struct Written {
  std::vector<Chromosome> chromosomes;
  std::vector<Interval> intervals;
};

const std::string kDescription = auto_sql("test", "a test",
                                          {{"string", "chrom", "c"},
                                           {"uint", "chromStart", "b"},
                                           {"uint", "chromEnd", "e"},
                                           {"string", "name", "n"}});

std::string write_file(const test::TempFolder& folder, const Written& written, const BbiOptions& options) {
  const std::string path = folder / "written.bb";
  BigBedWriter writer(written.chromosomes, 4, 4, kDescription, options);
  for (const Interval& one : written.intervals) writer.add(one.chrom, one.begin, one.end, one.rest);
  OutputFile output({path});
  writer.write(output);
  output.commit();
  return path;
}

Written random_file(std::size_t chromosomes, std::int64_t length, std::mt19937_64& random) {
  Written written;
  for (std::size_t c = 0; c < chromosomes; ++c) {
    // Not in the order of the names.
    written.chromosomes.push_back({"chr" + std::to_string(chromosomes - c) + (c % 3 == 0 ? "_long" : ""),
                                   length + static_cast<std::int64_t>(c % 7)});
    if (c % 5 == 4) continue;  // no interval at all
    for (auto at = static_cast<std::int64_t>(random() % 3); at < written.chromosomes[c].length;) {
      const std::int64_t end =
          std::min(written.chromosomes[c].length, at + 1 + static_cast<std::int64_t>(random() % 40));
      written.intervals.push_back({c, at, end, std::string(random() % 30, 'x')});
      at = end + (random() % 4 > 0 ? 0 : static_cast<std::int64_t>(random() % 300));
    }
  }
  return written;
}

void check_file(const Written& written, const std::string& path) {
  BigBedFile file(path);
  CHECK(file.zoom_levels() >= 1);
  CHECK(file.chromosomes() == written.chromosomes);
  std::vector<Interval> found;
  for (BigBedInterval one; file.next(one);)
    found.push_back({one.chrom, one.begin, one.end, std::string(one.rest)});
  REQUIRE(found.size() == written.intervals.size());
  CHECK(found == written.intervals);
#if SEMICRF_HAVE_LIBBIGWIG
  const test::LibBigBedFile peer(path);
  CHECK(peer.description() == kDescription);
  std::vector<Interval> of_peer;
  for (std::size_t c = 0; c < written.chromosomes.size(); ++c)
    for (const auto& entry : peer.entries(written.chromosomes[c].name, 0, written.chromosomes[c].length))
      of_peer.push_back({c, entry.begin, entry.end, entry.rest});
  CHECK(of_peer == written.intervals);
#endif
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("bigBed: what is written is read again", "[bigbed]") {
  const std::uint64_t seed = testing::test_seed(92);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const test::TempFolder folder;
  for (const auto& [chromosomes, length] :
       {std::pair<std::size_t, std::int64_t>{1, 1}, {1, 700}, {2, 10'240}, {7, 60'000}, {1000, 300}}) {
    INFO(chromosomes << " chromosomes of " << length);
    const Written written = random_file(chromosomes, length, random);
    const std::string path = write_file(folder, written, {.zoom = 100});
    check_file(written, path);
    const std::string bytes = bytes_of(path);
    CHECK(bytes_of(write_file(folder, written, {.zoom = 100, .one_of_many = true})) == bytes);
  }
  check_file({{{"b", 100}, {"a", 7}}, {}}, write_file(folder, {{{"b", 100}, {"a", 7}}, {}}, {.zoom = 10}));
}

TEST_CASE("bigBed: what no file can hold is refused", "[bigbed]") {
  CHECK_THROWS_AS(BigBedWriter({}, 4, 4, kDescription, {.zoom = 10}), InputError);
  BigBedWriter writer(std::vector<Chromosome>{{"a", 100}, {"b", 100}}, 4, 4, kDescription, {.zoom = 10});
  writer.add(1, 5, 10, "x");
  CHECK_THROWS_AS(writer.add(1, 9, 12, "x"), std::logic_error);
  CHECK_THROWS_AS(writer.add(1, 90, 101, "x"), std::logic_error);
  CHECK_THROWS_AS(writer.add(0, 0, 1, "x"), std::logic_error);
}

TEST_CASE("bigBed: the reader of BED reads it", "[bigbed]") {
  const test::TempFolder folder;
  const std::string path =
      write_file(folder, {{{"b", 100}, {"a", 70}}, {{0, 5, 10, "x\t7"}, {1, 0, 70, ""}}}, {.zoom = 10});
  const std::vector<BedRecord> records = read_bed(path);
  REQUIRE(records.size() == 2);
  CHECK(records[0].fields == std::vector<std::string>{"b", "5", "10", "x", "7"});
  CHECK(records[0].name == "x");
  CHECK(records[1].fields == std::vector<std::string>{"a", "0", "70"});
  CHECK(records[1].line == 2);
}

TEST_CASE("bigBed: damaged files are errors", "[bigbed]") {
  const std::uint64_t seed = testing::test_seed(93);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const test::TempFolder folder;
  const std::string whole = bytes_of(write_file(folder, random_file(3, 3000, random), {.zoom = 10}));
  const std::string path = folder / "damaged.bb";
  int refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::string bytes = whole;
    if (trial % 4 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      BigBedFile file(path);
      for (BigBedInterval one; file.next(one);) CHECK(one.begin < one.end);
    } catch (const InputError&) {
      ++refused;
    } catch (const ReadError&) {
      ++refused;  // an empty file
    }
  }
  CHECK(refused > 100);
}

}  // namespace semicrf
