// What the bigWig reader makes of sound files, against a base-by-base computation.
#include "io/bigwig/bigwig_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/error.h"
#include "support/catch.h"
#include "support/files/bigwig_fixture.h"
#include "support/scratch_file.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Bins {
  std::vector<double> sum;
  std::vector<std::uint32_t> covered;
};

Bins read_bins(BigWigFile& file, std::size_t chrom, std::int64_t first, std::size_t count, std::int64_t size,
               int threads = 1) {
  Bins bins{std::vector<double>(count, -1), std::vector<std::uint32_t>(count, 99)};
  file.bin_sums(chrom, first, size, {bins.sum, bins.covered}, threads);
  return bins;
}

std::vector<BigWigInterval> read_intervals(BigWigFile& file, std::size_t chrom, std::int64_t begin,
                                           std::int64_t end) {
  std::vector<BigWigInterval> all;
  file.read(chrom, begin, end, [&](std::span<const BigWigInterval> some) {
    CHECK(!some.empty());
    all.insert(all.end(), some.begin(), some.end());
  });
  return all;
}

std::vector<float> base_values(const BigWigFixture& fixture, std::uint32_t chrom) {
  std::vector<float> values(static_cast<std::size_t>(fixture.chromosomes[chrom].length), kNaN);
  for (const FixtureSection& section : fixture.sections) {
    if (section.chrom_id != chrom) continue;
    for (const FixtureInterval& i : section.intervals)
      std::fill(values.begin() + i.begin, values.begin() + i.end, i.value);
  }
  return values;
}

Bins expected_bins(const std::vector<float>& bases, std::size_t size) {
  Bins bins;
  for (std::size_t begin = 0; begin < bases.size(); begin += size) {
    double sum = 0;
    std::uint32_t covered = 0;
    for (std::size_t i = begin; i < std::min(begin + size, bases.size()); ++i) {
      if (std::isnan(bases[i])) continue;
      sum += static_cast<double>(bases[i]);
      ++covered;
    }
    bins.sum.push_back(sum);
    bins.covered.push_back(covered);
  }
  return bins;
}

class FixtureMaker {
 public:
  explicit FixtureMaker(unsigned seed) : random_(seed) {}

  BigWigFixture make() {
    BigWigFixture fixture;
    const int count = below(4) + 1;
    for (int i = 0; i < count; ++i)
      fixture.chromosomes.push_back({"chr" + std::to_string(i), 50 + below(3000)});
    std::vector<std::uint32_t> order;
    for (int i = 0; i < count; ++i) order.push_back(static_cast<std::uint32_t>(i));
    std::shuffle(order.begin(), order.end(), random_);  // the data's order is not the header's
    for (const std::uint32_t chrom : order) {
      if (below(5) > 0) add_sections(fixture, chrom);
    }
    fixture.big_endian = below(2) == 1;
    fixture.compressed = below(3) > 0;
    fixture.fanout = static_cast<std::uint32_t>(2 + below(4));
    return fixture;
  }

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

 private:
  // Dyadic, so that sums are exact in any order.
  float value() { return below(12) == 0 ? kNaN : static_cast<float>(below(4001) - 2000) / 16; }

  void add_sections(BigWigFixture& fixture, std::uint32_t chrom) {
    const auto length = static_cast<std::uint32_t>(fixture.chromosomes[chrom].length);
    std::uint32_t at = static_cast<std::uint32_t>(below(40));
    while (at + 200 < length) {
      FixtureSection section = make_section(chrom, at);
      while (section.intervals.back().end > length) section.intervals.pop_back();
      at = section.intervals.back().end + static_cast<std::uint32_t>(below(3) == 0 ? below(60) : 0);
      fixture.sections.push_back(std::move(section));
    }
  }

  FixtureSection make_section(std::uint32_t chrom, std::uint32_t at) {
    const int count = 1 + below(20);
    const auto span = static_cast<std::uint32_t>(1 + below(10));
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(value());
    if (below(3) == 0) {  // sometimes aligned with bins of 5 or 10
      const std::uint32_t step = below(2) == 0 ? 5 : 10;
      return fixed_step_section(chrom, (at + 9) / 10 * 10, step, step, values);
    }
    if (below(2) == 0)
      return fixed_step_section(chrom, at, span + static_cast<std::uint32_t>(below(4)), span, values);
    std::vector<std::uint32_t> begins;
    std::vector<FixtureInterval> intervals;
    for (const float v : values) {
      begins.push_back(at);
      intervals.push_back({at, at + span, v});
      at += span + static_cast<std::uint32_t>(below(3) == 0 ? below(9) : 0);
    }
    return below(2) == 0 ? variable_step_section(chrom, span, begins, values)
                         : bedgraph_section(chrom, intervals);
  }

  std::mt19937 random_;
};

void check_chromosome(BigWigFile& file, const BigWigFixture& fixture, std::uint32_t chrom,
                      FixtureMaker& maker) {
  const std::vector<float> bases = base_values(fixture, chrom);
  const auto length = static_cast<std::int64_t>(bases.size());
  for (const std::int64_t size :
       {std::int64_t{1}, std::int64_t{5}, std::int64_t{10}, std::int64_t{7}, length, length + 9}) {
    const Bins expected = expected_bins(bases, static_cast<std::size_t>(size));
    const std::size_t total = expected.sum.size();
    for (const int threads : {1, 3}) {
      const Bins found = read_bins(file, chrom, 0, total, size, threads);
      REQUIRE(found.sum == expected.sum);
      REQUIRE(found.covered == expected.covered);
    }
    const auto first = static_cast<std::size_t>(maker.below(static_cast<int>(total)));
    const std::size_t count = 1 + static_cast<std::size_t>(maker.below(static_cast<int>(total - first)));
    const Bins part = read_bins(file, chrom, static_cast<std::int64_t>(first), count, size);
    REQUIRE(std::equal(part.sum.begin(), part.sum.end(),
                       expected.sum.begin() + static_cast<std::ptrdiff_t>(first)));
    REQUIRE(std::equal(part.covered.begin(), part.covered.end(),
                       expected.covered.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  const std::int64_t begin = maker.below(static_cast<int>(length));
  const std::int64_t end = begin + maker.below(static_cast<int>(length - begin + 1));
  std::vector<float> seen(bases.size(), kNaN);
  for (const BigWigInterval& i : read_intervals(file, chrom, begin, end)) {
    REQUIRE(begin <= i.begin);
    REQUIRE(i.end <= end);
    std::fill(seen.begin() + i.begin, seen.begin() + i.end, i.value);
  }
  for (std::int64_t i = 0; i < length; ++i) {
    const float expected = i < begin || i >= end ? kNaN : bases[static_cast<std::size_t>(i)];
    const float found = seen[static_cast<std::size_t>(i)];
    REQUIRE((expected == found || (std::isnan(expected) && std::isnan(found))));
  }
}

}  // namespace

TEST_CASE("bigWig: random files of every shape give the base-by-base bin sums") {
  const unsigned first_seed = 20240611;
  INFO("seeds from " << first_seed);
  for (unsigned seed = first_seed; seed < first_seed + 150; ++seed) {
    INFO("seed " << seed);
    FixtureMaker maker(seed);
    const BigWigFixture fixture = maker.make();
    const ScratchFile scratch(write_bigwig(fixture));
    BigWigFile file = BigWigFile::open(scratch.path());
    REQUIRE(file.chromosomes() == fixture.chromosomes);
    CHECK(file.big_endian() == fixture.big_endian);
    CHECK(file.compressed() == fixture.compressed);
    CHECK(file.block_count() == fixture.sections.size());
    for (std::uint32_t chrom = 0; chrom < fixture.chromosomes.size(); ++chrom) {
      const bool listed = std::any_of(fixture.sections.begin(), fixture.sections.end(),
                                      [&](const FixtureSection& s) { return s.chrom_id == chrom; });
      CHECK(file.has_values(chrom) == listed);
      check_chromosome(file, fixture, chrom, maker);
    }
  }
}

TEST_CASE("bigWig: a chromosome whose data stands in another order than the header's is read whole") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"a", 100}, {"b", 100}, {"c", 100}, {"d", 100}};
  fixture.fanout = 2;
  for (const std::uint32_t chrom : {3u, 0u, 2u, 1u, 3u}) {
    const std::uint32_t at = fixture.sections.size() == 4 ? 50 : 0;
    fixture.sections.push_back(fixed_step_section(chrom, at, 10, 10, {1, 2, 3}));
  }
  const ScratchFile scratch(write_bigwig(fixture));
  BigWigFile file = BigWigFile::open(scratch.path());
  for (std::size_t chrom = 0; chrom < 3; ++chrom) {
    CHECK(read_bins(file, chrom, 0, 10, 10).sum == std::vector<double>{10, 20, 30, 0, 0, 0, 0, 0, 0, 0});
  }
  CHECK(read_bins(file, 3, 0, 10, 10).sum == std::vector<double>{10, 20, 30, 0, 0, 10, 20, 30, 0, 0});
}

TEST_CASE("bigWig: blocks that share a bin are joined in order, for any number of threads") {
  // Values whose sum depends on the order of addition: 1e8 and small ones, three blocks inside one bin.
  BigWigFixture fixture;
  fixture.chromosomes = {{"a", 1000}};
  fixture.sections = {bedgraph_section(0, {{0, 3, 1e8f}, {3, 5, 0.1f}}), bedgraph_section(0, {{5, 9, 0.3f}}),
                      bedgraph_section(0, {{9, 11, -1e8f}, {90, 150, 0.7f}}),
                      bedgraph_section(0, {{150, 151, 0.9f}})};
  const ScratchFile scratch(write_bigwig(fixture));
  BigWigFile file = BigWigFile::open(scratch.path());
  const Bins one = read_bins(file, 0, 0, 10, 100, 1);
  CHECK(one.covered == std::vector<std::uint32_t>{21, 51, 0, 0, 0, 0, 0, 0, 0, 0});
  for (const int threads : {2, 3, 4, 16}) CHECK(read_bins(file, 0, 0, 10, 100, threads).sum == one.sum);
  for (std::int64_t bin = 0; bin < 10; ++bin) {
    CHECK(read_bins(file, 0, bin, 1, 100).sum[0] == one.sum[static_cast<std::size_t>(bin)]);
  }
}

TEST_CASE("bigWig: the last bin ends with the chromosome, NaN is no value") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"a", 25}};
  fixture.sections = {fixed_step_section(0, 0, 10, 10, {4, kNaN}), bedgraph_section(0, {{20, 25, 2}})};
  const ScratchFile scratch(write_bigwig(fixture));
  BigWigFile file = BigWigFile::open(scratch.path());
  const Bins bins = read_bins(file, 0, 0, 3, 10);
  CHECK(bins.sum == std::vector<double>{40, 0, 10});
  CHECK(bins.covered == std::vector<std::uint32_t>{10, 0, 5});
  CHECK(read_intervals(file, 0, 0, 25) == std::vector<BigWigInterval>{{0, 10, 4}, {20, 25, 2}});
  CHECK(read_intervals(file, 0, 5, 22) == std::vector<BigWigInterval>{{5, 10, 4}, {20, 22, 2}});
  CHECK(read_intervals(file, 0, 10, 20).empty());
  CHECK(read_bins(file, 0, 2, 0, 10).sum.empty());
  CHECK_THROWS_AS(read_bins(file, 0, 0, 4, 10), std::logic_error);
  CHECK_THROWS_AS(read_bins(file, 0, -1, 1, 10), std::logic_error);
  CHECK_THROWS_AS(file.read(0, 0, 26, [](auto) {}), std::logic_error);
}

TEST_CASE("bigWig: what the header says") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"chrB", 70}, {"chrA", 80}};
  fixture.sections = {bedgraph_section(1, {{0, 7, 1}})};
  const ScratchFile scratch(write_bigwig(fixture));
  BigWigFile file = BigWigFile::open(scratch.path());
  CHECK(file.version() == 4);
  CHECK(file.path() == scratch.path());
  CHECK(file.find_chromosome("chrA") == std::optional<std::size_t>{1});
  CHECK(file.find_chromosome("chr") == std::nullopt);
  CHECK_FALSE(file.has_values(0));
  CHECK(file.has_values(1));
  REQUIRE(file.summary().has_value());
  CHECK(file.summary()->bases_covered == 7);
}

TEST_CASE("bigWig: the step is the common divisor of the edges") {
  const bool big_endian = GENERATE(false, true);
  BigWigFixture fixture;
  fixture.big_endian = big_endian;
  fixture.chromosomes = {{"a", 1007}, {"b", 907}};
  // The end of a chromosome is no edge, and a base without a value has none.
  fixture.sections = {bedgraph_section(0, {{0, 60, 1}, {61, 63, kNaN}, {120, 1007, 2}}),
                      fixed_step_section(1, 30, 90, 60, {1, 2, 3}), variable_step_section(1, 30, {600}, {4}),
                      fixed_step_section(1, 900, 7, 7, {5})};
  std::int64_t step = 30;
  SECTION("as they are") {}
  SECTION("a finer edge in the last section") {
    fixture.sections.back() = bedgraph_section(1, {{900, 905, 5}});
    step = 5;
  }
  SECTION("a finer span") {
    fixture.sections[1] = fixed_step_section(1, 30, 90, 20, {1, 2, 3});
    step = 10;
  }
  SECTION("single bases") {
    fixture.sections[2] = variable_step_section(1, 30, {601}, {4});
    step = 1;
  }
  const ScratchFile scratch(write_bigwig(fixture));
  CHECK(BigWigFile::open(scratch.path()).sampled_step().bases == step);
}

TEST_CASE("bigWig: the step of many sections is that of some of them") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"a", 100000}, {"b", 10}, {"c", 100000}};
  for (std::uint32_t i = 0; i < 20; ++i) {
    fixture.sections.push_back(bedgraph_section(0, {{100 * i, 100 * i + 50, 1}}));
    fixture.sections.push_back(bedgraph_section(2, {{100 * i, 100 * i + 50, 1}}));
  }
  std::sort(fixture.sections.begin(), fixture.sections.end(),
            [](const auto& a, const auto& b) { return a.chrom_id < b.chrom_id; });
  fixture.sections.back() = bedgraph_section(2, {{5000, 5040, 1}});  // the last one is always read
  const ScratchFile scratch(write_bigwig(fixture));
  const BigWigStep step = BigWigFile::open(scratch.path()).sampled_step();
  CHECK(step.bases == 10);
  CHECK(step.sections == 16);
}

TEST_CASE("bigWig: the step passes over damaged sections") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"a", 1000}};
  fixture.sections = {bedgraph_section(0, {{0, 40, 1}}), bedgraph_section(0, {{80, 120, 1}})};
  BigWigLayout layout;
  ByteVector bytes = write_bigwig(fixture, &layout);
  for (std::size_t i = 0; i < layout.blocks[1].bytes; ++i) bytes[layout.blocks[1].data + i] ^= 0x5a;
  const ScratchFile scratch(bytes);
  const BigWigStep step = BigWigFile::open(scratch.path()).sampled_step();
  CHECK(step.bases == 40);
  CHECK(step.sections == 1);
}

TEST_CASE("bigWig: a file without data is read as such") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"a", 10}};
  const ScratchFile scratch(write_bigwig(fixture));
  BigWigFile file = BigWigFile::open(scratch.path());
  CHECK_FALSE(file.has_values(0));
  CHECK(read_bins(file, 0, 0, 2, 5).covered == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("bigWig: a file that shrinks or grows while it is open is noticed") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"a", 100}};
  fixture.sections = {bedgraph_section(0, {{0, 7, 1}})};
  ByteVector bytes = write_bigwig(fixture);
  const ScratchFile scratch(bytes);
  BigWigFile file = BigWigFile::open(scratch.path());
  bytes.push_back(0);
  scratch.write(bytes);
  CHECK_THROWS_AS(read_bins(file, 0, 0, 1, 5), ReadError);
  bytes.resize(bytes.size() / 2);
  scratch.write(bytes);
  CHECK_THROWS_AS(read_bins(file, 0, 0, 1, 5), ReadError);
}
