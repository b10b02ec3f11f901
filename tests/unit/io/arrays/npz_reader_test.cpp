#include "io/arrays/npz_reader.h"

#include <random>
#include <string>

#include "core/error.h"
#include "support/catch.h"
#include "support/files/npy_fixture.h"
#include "support/scratch_file.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

void load_all(const std::string& path) {
  const NpzFile npz = NpzFile::open(path);
  for (std::size_t i = 0; i < npz.members().size(); ++i) {
    const NpyArray array = npz.load(i);
    std::vector<double> rows(static_cast<std::size_t>(array.rows() * array.columns()));
    array.read_rows(0, array.rows(), rows.data());
  }
}

std::string error_of(const ByteVector& bytes) {
  const ScratchFile scratch(bytes);
  try {
    load_all(scratch.path());
  } catch (const InputError& error) {
    return std::string(error.what()).substr(scratch.path().size());
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Sound {
  explicit Sound(bool deflate = false, bool zip64 = false, bool sizes_follow = false) {
    bytes = zip_bytes({{"chr1.npy", npy_array({1, 2, 3, 4}, 2, 2), deflate, zip64, sizes_follow},
                       {"chr2.npy", npy_array({5, 6}, 1, 2), deflate, zip64, sizes_follow}},
                      &layout);
  }
  ByteVector bytes;
  ZipLayout layout;
};

template <typename Number>
std::string patched(std::size_t offset, Number value, bool deflate = false) {
  Sound sound(deflate);
  patch(sound.bytes, offset, value);
  return error_of(sound.bytes);
}

}  // namespace

TEST_CASE("NPZ: members stored or deflated, with or without zip64 or leading sizes") {
  for (const bool deflate : {false, true}) {
    for (const bool zip64 : {false, true}) {
      for (const bool sizes_follow : {false, true}) {
        const Sound sound(deflate, zip64, sizes_follow);
        const ScratchFile scratch(sound.bytes);
        const NpzFile npz = NpzFile::open(scratch.path());
        REQUIRE(npz.members().size() == 2);
        CHECK(npz.members()[0].name == "chr1");
        CHECK(npz.members()[1].name == "chr2");
        const NpyArray array = npz.load(0);
        CHECK(array.name() == scratch.path() + "[chr1]");
        std::vector<double> values(4);
        array.read_rows(0, 2, values.data());
        CHECK(values == std::vector<double>{1, 2, 3, 4});
      }
    }
  }
}

TEST_CASE("NPZ: an array outlives its archive") {
  for (const bool deflate : {false, true}) {
    const ScratchFile scratch(Sound(deflate).bytes);
    const NpyArray array = NpzFile::open(scratch.path()).load(1);
    std::vector<double> values(2);
    array.read_rows(0, 1, values.data());
    CHECK(values == std::vector<double>{5, 6});
  }
}

TEST_CASE("NPZ: a deflated member above the memory limit is refused before it is unpacked") {
  const ScratchFile scratch(zip_bytes({{"a.npy", npy_array(std::vector<double>(10000), 10000, 1), true}}));
  const NpzFile npz = NpzFile::open(scratch.path());
  CHECK_THROWS_AS(npz.load(0, 10000), MemoryError);
  CHECK(npz.load(0).rows() == 10000);
}

TEST_CASE("NPZ: what an archive may not be") {
  CHECK(contains(error_of(zip_bytes({})), "the archive has no members"));
  CHECK(contains(error_of(zip_bytes({{"readme.txt", {1, 2}}})), "member 'readme.txt' is not a .npy array"));
  CHECK(contains(error_of(zip_bytes({{".npy", {1, 2}}})), "empty name"));
  CHECK(contains(error_of(zip_bytes({{"a\n.npy", {1, 2}}})), "control characters"));
  const ByteVector array = npy_array({1}, 1, 1);
  CHECK(contains(error_of(zip_bytes({{"a.npy", array}, {"a.npy", array}})), "'a' occurs twice"));
  CHECK(contains(error_of(zip_bytes({{"a.npy", {1, 2, 3}}})),
                 "[a]: this is a file of an unknown kind, not a NumPy"));
  CHECK(contains(error_of(npy_array({1}, 1, 1)), "this is a NumPy .npy array, not a zip"));
}

TEST_CASE("NPZ: fields that contradict each other") {
  const ZipLayout layout = Sound().layout;
  const std::size_t entry = layout.entries[1], local = layout.local_headers[1], end = layout.end_record;
  CHECK(contains(patched(entry, std::uint32_t{0}), "expected a zip directory entry here"));
  CHECK(contains(patched(entry + 8, std::uint16_t{1}), "is encrypted"));
  CHECK(contains(patched(entry + 10, std::uint16_t{12}), "compression method 12"));
  CHECK(contains(patched(entry + 10, std::uint16_t{8}), "compression differs"));
  CHECK(contains(patched(entry + 16, std::uint32_t{5}), "sizes or checksum differ"));
  CHECK(contains(patched(entry + 20, std::uint32_t{5}), "two different sizes"));
  CHECK(contains(patched(entry + 20, std::uint32_t{0xffffffff}), "zip64 field is missing"));
  CHECK(contains(patched(entry + 42, std::uint32_t{7}), "expected a zip member here"));
  CHECK(contains(patched(entry + 42, std::uint32_t{0}), "name differs"));
  CHECK(contains(patched(entry + 42, std::uint32_t{0x7fffffff}), "runs past the end of the file"));
  CHECK(contains(patched(local + 6, std::uint16_t{8}), "flags differ"));
  CHECK(contains(patched(local + 30, std::uint8_t{'X'}), "name differs"));
  CHECK(contains(patched(local + 28, std::uint16_t{60}), "overlaps the next member"));
  CHECK(contains(patched(end + 4, std::uint16_t{1}), "split into several files"));
  CHECK(contains(patched(end + 10, std::uint16_t{1}), "size does not match its entries"));
  CHECK(contains(patched(end + 10, std::uint16_t{60000}), "too many entries"));
  CHECK(contains(patched(end + 16, std::uint32_t{1}), "not where the archive says"));
  CHECK(contains(patched(end + 20, std::uint16_t{1}), "has no directory"));
}

TEST_CASE("NPZ: contents that do not match the directory") {
  Sound stored;
  stored.bytes[stored.layout.local_headers[1] - 1] ^= 1;  // the last byte of the first array
  CHECK(contains(error_of(stored.bytes), "the checksum of the array is wrong"));
  Sound deflated(true);
  deflated.bytes[deflated.layout.local_headers[1] - 8] ^= 0xff;
  CHECK(error_of(deflated.bytes) != "");
  const std::size_t entry = deflated.layout.entries[0], local = deflated.layout.local_headers[0];
  for (const std::uint32_t size : {100u, 1000u}) {
    Sound other(true);
    patch(other.bytes, entry + 24, size);
    patch(other.bytes, local + 22, size);
    CHECK(contains(error_of(other.bytes), "does not unpack to the size"));
  }
  Sound bomb(true);
  patch(bomb.bytes, entry + 24, std::uint32_t{0xf0000000});
  patch(bomb.bytes, local + 22, std::uint32_t{0xf0000000});
  CHECK(contains(error_of(bomb.bytes), "claims 4026531840 bytes, more than"));
}

TEST_CASE("NPZ: truncated anywhere, or with random flips, an error or a sound read") {
  const unsigned seed = 90210;
  INFO("seed " << seed);
  const Sound sound(true, true);
  for (std::size_t length = 0; length < sound.bytes.size(); ++length) {
    CHECK(error_of(ByteVector(sound.bytes.begin(),
                              sound.bytes.begin() + static_cast<std::ptrdiff_t>(length))) != "");
  }
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    ByteVector bytes = Sound(round % 2 == 0, round % 4 < 2, round % 8 < 4).bytes;
    for (int i = 0; i < 1 + round % 3; ++i)
      bytes[4 + random() % (bytes.size() - 4)] = static_cast<std::uint8_t>(random());
    error_of(bytes);
  }
}
