// bigWig files that are written here, read again: by our reader, and by libBigWig where it is installed.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>

#include "core/error.h"
#include "io/bigwig/bbi_writers.h"
#include "support/catch.h"
#include "support/seeds.h"
#include "support/temp_folder.h"
#if SEMICRF_HAVE_LIBBIGWIG
#include "support/files/libbigwig_peer.h"
#endif

namespace semicrf {
namespace {

struct Written {
  std::vector<Chromosome> chromosomes;
  std::vector<std::vector<BigWigInterval>> intervals;  // by chromosome
};

std::string write_file(const test::TempFolder& folder, const Written& written, std::int64_t zoom) {
  const std::string path = folder / "written.bw";
  BigWigWriter writer(written.chromosomes, {.zoom = zoom});
  for (std::size_t c = 0; c < written.chromosomes.size(); ++c)
    for (const BigWigInterval& interval : written.intervals[c])
      writer.add(c, interval.begin, interval.end, interval.value);
  OutputFile output({path});
  writer.write(output);
  output.commit();
  return path;
}

// `even`: values every 10 bases, else of any width with gaps.
Written random_file(std::size_t chromosomes, std::int64_t length, bool even, std::mt19937_64& random) {
  Written written;
  for (std::size_t c = 0; c < chromosomes; ++c) {
    // Not in the order of the names.
    written.chromosomes.push_back({"chr" + std::to_string(chromosomes - c) + (c % 3 == 0 ? "_long" : ""),
                                   length + static_cast<std::int64_t>(c % 7)});
    std::vector<BigWigInterval>& list = written.intervals.emplace_back();
    if (c % 5 == 4) continue;  // no value at all
    std::int64_t at = even ? 0 : static_cast<std::int64_t>(random() % 50);
    while (at < written.chromosomes[c].length) {
      const std::int64_t width = even ? 10 : 1 + static_cast<std::int64_t>(random() % 40);
      const std::int64_t end = std::min(written.chromosomes[c].length, at + width);
      list.push_back({at, end, static_cast<float>(random() % 1000) / 8 - 20});
      at = end + (even || random() % 4 > 0 ? 0 : static_cast<std::int64_t>(random() % 300));
    }
  }
  return written;
}

void check_intervals(const std::vector<BigWigInterval>& found, const std::vector<BigWigInterval>& expected) {
  REQUIRE(found.size() == expected.size());
  CHECK(found == expected);
}

void check_file(const Written& written, const std::string& path) {
  BigWigFile file = BigWigFile::open(path);
  CHECK(file.zoom_levels() >= 1);
  REQUIRE(file.chromosomes().size() == written.chromosomes.size());
  double sum = 0;
  std::uint64_t covered = 0;
  for (std::size_t c = 0; c < written.chromosomes.size(); ++c) {
    const auto found = file.find_chromosome(written.chromosomes[c].name);
    REQUIRE(found);
    CHECK(file.chromosomes()[*found].length == written.chromosomes[c].length);
    std::vector<BigWigInterval> intervals;
    file.read(*found, 0, written.chromosomes[c].length, [&](std::span<const BigWigInterval> some) {
      intervals.insert(intervals.end(), some.begin(), some.end());
    });
    check_intervals(intervals, written.intervals[c]);
    for (const BigWigInterval& interval : written.intervals[c]) {
      covered += static_cast<std::uint64_t>(interval.end - interval.begin);
      sum += static_cast<double>(interval.value) * static_cast<double>(interval.end - interval.begin);
    }
#if SEMICRF_HAVE_LIBBIGWIG
    const test::LibBigWigFile peer(path);
    check_intervals(peer.intervals(written.chromosomes[c].name, 0, written.chromosomes[c].length),
                    written.intervals[c]);
#endif
  }
  REQUIRE(file.summary());
  CHECK(file.summary()->bases_covered == covered);
  CHECK(file.summary()->sum == Approx(sum).epsilon(1e-9));
}

}  // namespace

TEST_CASE("what is written is read again", "[bigwig]") {
  const std::uint64_t seed = testing::test_seed(91);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const test::TempFolder folder;
  for (const bool even : {false, true})
    for (const auto& [chromosomes, length] :
         {std::pair<std::size_t, std::int64_t>{1, 1}, {1, 700}, {2, 10'240}, {3, 10'241}, {7, 60'000}}) {
      INFO(chromosomes << " chromosomes of " << length);
      const Written written = random_file(chromosomes, length, even, random);
      check_file(written, write_file(folder, written, 100));
    }
}

TEST_CASE("intervals of several bins are cut where that is shorter", "[bigwig]") {
  const std::uint64_t seed = testing::test_seed(94);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const test::TempFolder folder;
  const std::vector<Chromosome> chromosomes{{"chr1", 300'007}, {"chr2", 19}};
  for (const std::int64_t longest : {1, 4, 100}) {  // bins of an interval
    std::vector<float> bases(300'007, std::nanf(""));
    BigWigWriter writer(chromosomes, {.zoom = 100}, 10), plain(chromosomes, {.zoom = 100});
    for (std::int64_t at = 0; at < 300'007;) {
      const std::int64_t width = 10 * (1 + static_cast<std::int64_t>(random() % 1000) % longest);
      const std::int64_t end = std::min<std::int64_t>(300'007, at + width);
      const float value = static_cast<float>(random() % 7) / 8;
      if (random() % 5000 > 0) {
        writer.add(0, at, end, value);
        plain.add(0, at, end, value);
        std::fill(bases.begin() + at, bases.begin() + end, value);
      }
      at = end;
    }
    std::vector<std::uintmax_t> sizes;
    for (BigWigWriter* one : {&writer, &plain}) {
      const std::string path = folder / "cut.bw";
      OutputFile output({path});
      one->write(output);
      output.commit();
      BigWigFile file = BigWigFile::open(path);
      std::vector<float> found(300'007, std::nanf(""));
      file.read(0, 0, 300'007, [&](std::span<const BigWigInterval> some) {
        for (const BigWigInterval& interval : some)
          std::fill(found.begin() + interval.begin, found.begin() + interval.end, interval.value);
      });
      CHECK(std::ranges::equal(found, bases, [](float a, float b) { return a == b || (a != a && b != b); }));
      sizes.push_back(std::filesystem::file_size(path));
    }
    INFO("at most " << longest << " bins: " << sizes[0] << " and " << sizes[1] << " bytes");
    if (longest == 4) CHECK(sizes[0] < sizes[1]);
    if (longest != 4) CHECK(sizes[0] <= sizes[1]);
  }
}

TEST_CASE("many scaffolds and many blocks have trees of several levels", "[bigwig]") {
  std::mt19937_64 random(5);
  const test::TempFolder folder;
  const Written scaffolds = random_file(70'000, 40, false, random);
  const std::string path = write_file(folder, scaffolds, 10);
  BigWigFile file = BigWigFile::open(path);
  REQUIRE(file.chromosomes().size() == 70'000);
  for (const std::size_t c : {0u, 1u, 255u, 256u, 65'535u, 65'536u, 69'999u}) {
    const auto found = file.find_chromosome(scaffolds.chromosomes[c].name);
    REQUIRE(found);
    CHECK(file.has_values(*found) == !scaffolds.intervals[c].empty());
  }
  Written blocks{{{"chr1", 2'000'000}}, {{}}};  // 1,954 blocks
  for (std::int64_t at = 0; at < 2'000'000; ++at)
    blocks.intervals[0].push_back({at, at + 1, static_cast<float>(at % 97)});
  check_file(blocks, write_file(folder, blocks, 10));
}

TEST_CASE("a file without values is a file", "[bigwig]") {
  const test::TempFolder folder;
  const Written written{{{"b", 100}, {"a", 7}}, {{}, {}}};
  check_file(written, write_file(folder, written, 100));
}

TEST_CASE("what no bigWig file can hold is refused", "[bigwig]") {
  CHECK_THROWS_AS(BigWigWriter({}, {.zoom = 10}), InputError);
  CHECK_THROWS_AS(BigWigWriter(std::vector<Chromosome>{{"long", std::int64_t{1} << 33}}, {.zoom = 10}),
                  InputError);
  BigWigWriter writer(std::vector<Chromosome>{{"a", 100}, {"b", 100}}, {.zoom = 10});
  writer.add(1, 5, 10, 1);
  CHECK_THROWS_AS(writer.add(1, 9, 12, 1), std::logic_error);
  CHECK_THROWS_AS(writer.add(1, 90, 101, 1), std::logic_error);
  CHECK_THROWS_AS(writer.add(0, 0, 1, 1), std::logic_error);
  CHECK_THROWS_AS(writer.add(1, 20, 30, std::nanf("")), std::logic_error);
}

}  // namespace semicrf
