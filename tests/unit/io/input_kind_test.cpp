#include "io/files/input_kind.h"

#include <libdeflate.h>

#include <string>

#include "core/error.h"
#include "support/catch.h"
#include "support/files/byte_writer.h"
#include "support/scratch_file.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

InputKind kind_of(const std::string& text) { return detect_input_kind(ByteVector(text.begin(), text.end())); }

// `content` as one block of a bgzip file.
ByteVector bgzip_block(const std::string& content) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  ByteVector packed(libdeflate_deflate_compress_bound(compressor, content.size()));
  packed.resize(
      libdeflate_deflate_compress(compressor, content.data(), content.size(), packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  ByteWriter out;
  out.raw({0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255});
  out.u16(6);
  out.text("BC");
  out.u16(2);
  out.u16(static_cast<std::uint16_t>(packed.size() + 25));
  out.raw(packed);
  out.u32(libdeflate_crc32(0, content.data(), content.size()));
  out.u32(static_cast<std::uint32_t>(content.size()));
  return out.take();
}

}  // namespace

TEST_CASE("the kind of a file is told from its content") {
  CHECK(kind_of("") == InputKind::kEmpty);
  CHECK(kind_of("\x93NUMPY\x01") == InputKind::kNpy);
  CHECK(kind_of("PK\x03\x04") == InputKind::kNpz);
  CHECK(kind_of("\x26\xFC\x8F\x88") == InputKind::kBigWig);
  CHECK(kind_of("\x88\x8F\xFC\x26") == InputKind::kBigWig);
  CHECK(kind_of("\x87\x89\xF2\xEB") == InputKind::kBigBed);
  CHECK(kind_of("CRAM\x03") == InputKind::kCram);
  CHECK(kind_of("\x89HDF\r\n\x1a\n") == InputKind::kHdf5);
  CHECK(kind_of("BZh9") == InputKind::kBzip2);
  CHECK(kind_of(" \n{\"format\": 1}") == InputKind::kJson);
  CHECK(kind_of("[1]") == InputKind::kJson);
  CHECK(kind_of("track type=wiggle_0\n") == InputKind::kText);
  CHECK(kind_of(std::string("abc\0def", 7)) == InputKind::kUnknown);
  CHECK(kind_of("\x1f\x8b\x08") == InputKind::kGzip);
  CHECK(kind_of("\x1f\x8b") == InputKind::kGzip);
}

TEST_CASE("BAM is told from other blocked gzip files") {
  CHECK(detect_input_kind(bgzip_block(std::string("BAM\x01\0\0\0\0", 8))) == InputKind::kBam);
  CHECK(detect_input_kind(bgzip_block("chr1\t0\t10\n")) == InputKind::kBgzip);
  ByteVector cut = bgzip_block("chr1\t0\t10\n");
  cut.resize(20);
  CHECK(detect_input_kind(cut) == InputKind::kBgzip);
  cut = bgzip_block(std::string("BAM\x01\0\0\0\0", 8));
  cut[20] ^= 0xff;
  CHECK(detect_input_kind(cut) != InputKind::kBigWig);
}

TEST_CASE("a wrong kind is refused by name") {
  const ScratchFile scratch(bgzip_block(std::string("BAM\x01\0\0\0\0", 8)));
  CHECK(detect_input_kind(scratch.path()) == InputKind::kBam);
  const ByteVector bytes = bgzip_block("text");
  try {
    require_input_kind(InputKind::kBigWig, "a.bw", bytes);
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) ==
          "a.bw: this is a bgzip-compressed file, not a bigWig file; decompress it first");
  }
}
