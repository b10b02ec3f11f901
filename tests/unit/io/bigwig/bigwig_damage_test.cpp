// Damaged and hostile bigWig files: each is refused with its place, none crashes or takes memory.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "core/error.h"
#include "io/bigwig/bigwig_reader.h"
#include "support/catch.h"
#include "support/files/bigwig_fixture.h"
#include "support/scratch_file.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

// Reads everything in both ways.
void read_all(const std::string& path) {
  BigWigFile file = BigWigFile::open(path);
  for (std::size_t chrom = 0; chrom < file.chromosomes().size(); ++chrom) {
    const std::int64_t length = file.chromosomes()[chrom].length;
    const std::int64_t size = length / 100 + 1;
    const auto bins = static_cast<std::size_t>((length + size - 1) / size);
    std::vector<double> sum(bins);
    std::vector<std::uint32_t> covered(bins);
    file.bin_sums(chrom, 0, size, {sum, covered}, 2);
    file.read(chrom, 0, length, [](auto) {});
  }
}

// The message of the error that reading `bytes` gives; "" when there is none.
std::string error_of(const ByteVector& bytes) {
  const ScratchFile scratch(bytes);
  try {
    read_all(scratch.path());
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(message.rfind(scratch.path(), 0) == 0);
    return message.substr(scratch.path().size());
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BigWigFixture sound_fixture() {
  BigWigFixture fixture;
  fixture.chromosomes = {{"chr1", 1000}, {"chr2", 500}};
  fixture.sections = {
      fixed_step_section(0, 0, 10, 10, {1, 2, 3, 4}), variable_step_section(0, 5, {100, 110, 120}, {1, 2, 3}),
      bedgraph_section(0, {{200, 210, 1}, {210, 250, 2}}),
      bedgraph_section(0, {{300, 310, 1}, {310, 350, 2}}), bedgraph_section(1, {{0, 500, 7}})};
  return fixture;
}

struct Sound {
  explicit Sound(bool compressed = false, bool big_endian = false) {
    BigWigFixture fixture = sound_fixture();
    fixture.compressed = compressed;
    fixture.big_endian = big_endian;
    bytes = write_bigwig(fixture, &layout);
  }
  ByteVector bytes;
  BigWigLayout layout;
};

template <typename Number>
std::string patched(std::size_t offset, Number value) {
  Sound sound;
  patch(sound.bytes, offset, value);
  return error_of(sound.bytes);
}

std::string section_error(FixtureSection section) {
  BigWigFixture fixture;
  fixture.chromosomes = {{"chr1", 1000}};
  fixture.sections = {std::move(section)};
  return error_of(write_bigwig(fixture));
}

}  // namespace

TEST_CASE("bigWig damage: the fixture itself is sound") {
  for (const bool compressed : {false, true}) {
    for (const bool big_endian : {false, true}) CHECK(error_of(Sound(compressed, big_endian).bytes) == "");
  }
}

TEST_CASE("bigWig damage: values and intervals that cannot be are refused with chrom:position") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(contains(section_error(fixed_step_section(0, 100, 10, 10, {1, infinity, 2})),
                 ":chr1:111: the value is +Inf"));
  CHECK(contains(section_error(bedgraph_section(0, {{5, 8, -infinity}})), ":chr1:6: the value is -Inf"));
  CHECK(contains(section_error(bedgraph_section(0, {{5, 10, 1}, {9, 12, 1}})),
                 ":chr1:10: an interval begins before"));
  CHECK(contains(section_error(bedgraph_section(0, {{5, 10, 1}, {30, 20, 1}, {40, 50, 1}})),
                 ":chr1:31: an interval ends before it begins"));
  CHECK(contains(section_error(bedgraph_section(0, {{5, 10, 1}, {20, 20, 1}, {40, 50, 1}})),
                 ":chr1:21: an interval is empty"));
  CHECK(contains(section_error(bedgraph_section(0, {{5, 10, 1}, {990, 1001, 1}})),
                 "past the chromosome's end at 1000"));
  CHECK(
      contains(section_error(fixed_step_section(0, 0, 5, 10, {1, 2})), ":chr1:6: an interval begins before"));
  CHECK(contains(section_error(variable_step_section(0, 0, {1, 5, 9}, {1, 2, 3})), "empty"));
}

TEST_CASE("bigWig damage: an interval outside the range of its index record, or past the chromosome") {
  const BigWigLayout layout = Sound().layout;
  // Section 2 is bedGraph; its second interval's end and first interval's begin.
  const std::size_t items = layout.blocks[2].data + 24;
  CHECK(contains(patched(items + 12 + 4, std::uint32_t{260}),
                 ":chr1:211: an interval lies outside its block's range"));
  CHECK(contains(patched(items + 12 + 4, std::uint32_t{1260}),
                 ":chr1:211: an interval ends at 1260, past the chromosome"));
  CHECK(
      contains(patched(items, std::uint32_t{190}), ":chr1:191: an interval lies outside its block's range"));
  CHECK(contains(patched(items + 12 + 4, std::uint32_t{0xffffffff}), "past the chromosome"));
  // Section 0 is fixedStep: first base, step, span.
  CHECK(contains(patched(layout.blocks[0].data + 4, std::uint32_t{0xfffffff0}), "past the chromosome"));
  CHECK(contains(patched(layout.blocks[0].data + 12, std::uint32_t{0xffffffff}), "past the chromosome"));
  CHECK(contains(patched(layout.blocks[0].data + 16, std::uint32_t{0xffffffff}), "past the chromosome"));
}

TEST_CASE("bigWig damage: header fields") {
  CHECK(contains(patched(4, std::uint16_t{9}), ":4: bigWig version 9"));
  CHECK(contains(patched(8, std::uint64_t{1} << 60), "runs past the end of the file"));
  CHECK(contains(patched(8, ~std::uint64_t{0}), "runs past the end of the file"));
  CHECK(contains(patched(8, std::uint64_t{10}), ":10: expected the chromosome list here"));
  CHECK(contains(patched(24, ~std::uint64_t{0} - 40), "runs past the end of the file"));
  CHECK(contains(patched(24, std::uint64_t{10}), ":10: expected the data index here"));
  CHECK(contains(patched(44, ~std::uint64_t{0} - 3), "the summary"));
  CHECK(contains(patched(52, std::uint32_t{32768}), "cannot be decompressed"));
  Sound compressed(true);
  patch(compressed.bytes, 52, std::uint32_t{0});
  CHECK(error_of(compressed.bytes) != "");
  Sound small_buffer(true);  // a lie that harms nobody: the buffer's size is not taken from the file
  patch(small_buffer.bytes, 52, std::uint32_t{1});
  CHECK(error_of(small_buffer.bytes) == "");
  patch(small_buffer.bytes, 52, std::uint32_t{0xffffffff});
  CHECK(error_of(small_buffer.bytes) == "");
}

TEST_CASE("bigWig damage: chromosome list") {
  const BigWigLayout layout = Sound().layout;
  const std::size_t tree = layout.chrom_tree;
  CHECK(contains(patched(tree + 8, std::uint32_t{0}), "names of 0 bytes"));
  CHECK(contains(patched(tree + 8, std::uint32_t{0xffffffff}), "names of 4294967295 bytes"));
  CHECK(contains(patched(tree + 12, std::uint32_t{4}), "values of 4 bytes"));
  CHECK(contains(patched(tree + 16, std::uint64_t{3}), "states 3 chromosomes and holds 2"));
  CHECK(contains(patched(tree + 32 + 2, std::uint16_t{65535}), "runs past the end of the file"));
  CHECK(contains(patched(tree + 32, std::uint8_t{2}), "is not 0 (inner) or 1 (leaf)"));
  CHECK(
      contains(patched(tree + 32, std::uint8_t{0}), "the chromosome list"));  // a leaf read as an inner node
  const std::size_t record = layout.chrom_records;
  CHECK(contains(patched(record, std::uint8_t{0}), "empty name"));
  CHECK(contains(patched(record, std::uint8_t{27}), "control characters"));
  CHECK(contains(patched(record + 3, std::uint8_t{'2'}), "'chr2' is listed twice"));
  CHECK(contains(patched(record + 4, std::uint32_t{1}), "two chromosomes have the id 1"));
  CHECK(contains(patched(record + 8, std::uint32_t{0}), "length 0"));
  CHECK(contains(patched(record + 8, std::uint32_t{340}),
                 ":chr1:311: an interval ends at 350, past the chromosome"));
}

TEST_CASE("bigWig damage: index") {
  const BigWigLayout layout = Sound().layout;
  const std::size_t root = layout.inner_nodes[0];
  const std::size_t inner = layout.inner_nodes[1];
  CHECK(contains(patched(root + 20, std::uint64_t{root}), "reaches the same node twice"));
  CHECK(contains(patched(inner + 4 + 16, std::uint64_t{root}), "reaches the same node twice"));
  CHECK(contains(patched(inner + 4 + 16, std::uint64_t{1} << 50), "runs past the end of the file"));
  CHECK(contains(patched(inner + 2, std::uint16_t{1}), "the index states 5 blocks and lists 3"));
  CHECK(contains(patched(inner + 2, std::uint16_t{65535}), "the index"));
  CHECK(contains(patched(inner, std::uint8_t{77}), "is not 0 (inner) or 1 (leaf)"));
  const std::size_t record = layout.blocks[1].record;
  CHECK(contains(patched(record, std::uint32_t{1}), "spans several chromosomes"));
  Sound other;
  patch(other.bytes, record, std::uint32_t{9});
  patch(other.bytes, record + 8, std::uint32_t{9});
  CHECK(contains(error_of(other.bytes), "chromosome id 9, which is not listed"));
  CHECK(contains(patched(record + 4, std::uint32_t{30}),
                 ":chr1:31: an interval lies outside its block's range"));
  CHECK(contains(patched(record + 4, std::uint32_t{900}), ":chr1:901: a data block is empty or inverted"));
  CHECK(contains(patched(record + 4, std::uint32_t{0}), ":chr1:1: two data blocks begin at the same base"));
  CHECK(contains(patched(record + 16, std::uint64_t{0}), "an index record points to"));
  CHECK(contains(patched(record + 16, ~std::uint64_t{0} - 5), "runs past the end of the file"));
  CHECK(contains(patched(record + 24, std::uint64_t{0}), "an index record points to 0 bytes"));
  CHECK(contains(patched(record + 24, std::uint64_t{1} << 40), "an index record points to"));
  CHECK(contains(patched(record + 24, std::uint64_t{23}), "has no header"));
  CHECK(
      contains(patched(record + 24, std::uint64_t{layout.blocks[1].bytes - 1}), "has 47 bytes, expected 48"));
}

TEST_CASE("bigWig damage: a block's end that is stated too large is what some writers do, and harmless") {
  const BigWigLayout layout = Sound().layout;
  CHECK(patched(layout.blocks[1].record + 12, std::uint32_t{230}) == "");   // into the next block
  CHECK(patched(layout.blocks[3].record + 12, std::uint32_t{2000}) == "");  // past the chromosome
  CHECK(contains(patched(layout.blocks[1].record + 12, std::uint32_t{120}),
                 ":chr1:121: an interval lies outside"));
}

TEST_CASE("bigWig damage: an index of many nested nodes") {
  // A chain of inner nodes, each with the next as its only child.
  Sound sound;
  const std::size_t root = sound.layout.inner_nodes[0];
  std::size_t at = sound.bytes.size();
  patch(sound.bytes, root + 20, std::uint64_t{at});
  for (int i = 0; i < 1000; ++i, at += 28) {
    ByteWriter node;
    node.u8(0);
    node.u8(0);
    node.u16(1);
    node.zeros(16);
    node.u64(at + 28);
    const ByteVector bytes = node.take();
    sound.bytes.insert(sound.bytes.end(), bytes.begin(), bytes.end());
  }
  CHECK(contains(error_of(sound.bytes), "nested too deeply"));
}

TEST_CASE("bigWig damage: sections") {
  const BigWigLayout layout = Sound().layout;
  const std::size_t section = layout.blocks[1].data;
  CHECK(contains(patched(section, std::uint32_t{1}), "is listed under id 0"));
  CHECK(contains(patched(section + 20, std::uint8_t{0}), "section type 0"));
  CHECK(contains(patched(section + 20, std::uint8_t{4}), "section type 4"));
  CHECK(contains(patched(section + 20, std::uint8_t{1}), "expected 60"));
  CHECK(
      contains(patched(section + 22, std::uint16_t{65535}), "a data block of 65535 intervals has 48 bytes"));
}

TEST_CASE("bigWig damage: a block that unpacks to far more than a block can be") {
  BigWigFixture fixture;
  fixture.chromosomes = {{"chr1", 1000000}};
  fixture.sections = {
      fixed_step_section(0, 0, 1, 1, std::vector<float>(200000, 0.0f))};  // its count wraps around
  const ScratchFile scratch(write_bigwig(fixture));
  CHECK(error_of(write_bigwig(fixture)).find("more than the 65535 intervals") != std::string::npos);
}

TEST_CASE("bigWig damage: other kinds of files are named") {
  const auto named = [](std::string text) { return error_of(ByteVector(text.begin(), text.end())); };
  CHECK(contains(named("chr1\t0\t10\t1.5\n"), "this is a text file, not a bigWig file"));
  CHECK(contains(named("\xEB\xF2\x89\x87xxxx"), "this is a bigBed file, not a bigWig file"));
  CHECK(contains(named(""), "this is an empty file, not a bigWig file"));
  CHECK(contains(named("\x26\xFC\x8F\x88"), "runs past the end of the file"));
}

TEST_CASE("bigWig damage: truncated anywhere, an error or a sound read") {
  for (const bool compressed : {false, true}) {
    const Sound sound(compressed);
    for (std::size_t length = 0; length < sound.bytes.size(); length += 1 + length / 100) {
      INFO("first " << length << " bytes");
      CHECK(error_of(ByteVector(sound.bytes.begin(),
                                sound.bytes.begin() + static_cast<std::ptrdiff_t>(length))) != "");
    }
  }
}

TEST_CASE("bigWig damage: random flips never crash") {
  const unsigned seed = 77001;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    Sound sound(round % 2 == 0, round % 4 < 2);
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i) {
      const std::size_t at = random() % sound.bytes.size();
      const std::uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff, static_cast<std::uint8_t>(random())};
      sound.bytes[at] = values[random() % 6];
    }
    error_of(sound.bytes);  // any outcome but a crash or another exception
  }
}
