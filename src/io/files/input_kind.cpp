#include "io/files/input_kind.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

using Bytes = std::span<const std::uint8_t>;
using std::string_view_literals::operator""sv;

struct Signature {
  std::string_view bytes;
  InputKind kind;
};

constexpr std::array kSignatures = {
    Signature{"\x93NUMPY"sv, InputKind::kNpy},
    Signature{"PK\x03\x04"sv, InputKind::kNpz},
    Signature{"PK\x05\x06"sv, InputKind::kNpz},  // an archive without members
    Signature{"\x26\xFC\x8F\x88"sv, InputKind::kBigWig},
    Signature{"\x88\x8F\xFC\x26"sv, InputKind::kBigWig},
    Signature{"\xEB\xF2\x89\x87"sv, InputKind::kBigBed},
    Signature{"\x87\x89\xF2\xEB"sv, InputKind::kBigBed},
    Signature{"CRAM"sv, InputKind::kCram},
    Signature{"\x89HDF\r\n\x1a\n"sv, InputKind::kHdf5},
    Signature{"\x43\x27\x41\x1A"sv, InputKind::kTwoBit},
    Signature{"\x1A\x41\x27\x43"sv, InputKind::kTwoBit},
    Signature{"BZh"sv, InputKind::kBzip2},
    Signature{"\xFD"
              "7zXZ\0"sv,
              InputKind::kXz},
    Signature{"\x28\xB5\x2F\xFD"sv, InputKind::kZstd},
};

bool starts_with(Bytes bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::memcmp(bytes.data(), signature.data(), signature.size()) == 0;
}

// Bytes of the first block of a blocked gzip file, 0 for other gzip files. The block's size is in the extra
// field "BC".
std::size_t bgzip_block_size(Bytes bytes) {
  constexpr std::size_t kHeader = 18;
  constexpr std::uint8_t kExtraFlag = 4;
  if (bytes.size() < kHeader || (bytes[3] & kExtraFlag) == 0 || bytes[12] != 'B' || bytes[13] != 'C')
    return 0;
  return (bytes[16] | bytes[17] << 8) + 1;
}

InputKind kind_of_gzip(Bytes bytes) {
  const std::size_t block = bgzip_block_size(bytes);
  if (block == 0) return InputKind::kGzip;
  if (block > bytes.size()) return InputKind::kBgzip;
  std::vector<std::uint8_t> content(std::size_t{64} << 10);
  std::size_t length = 0;
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  if (!decompressor) return InputKind::kBgzip;
  const libdeflate_result result = libdeflate_gzip_decompress(decompressor.get(), bytes.data(), block,
                                                              content.data(), content.size(), &length);
  if (result != LIBDEFLATE_SUCCESS) return InputKind::kBgzip;
  return starts_with(Bytes(content).first(length), "BAM\x01"sv) ? InputKind::kBam : InputKind::kBgzip;
}

// Text: the first 4 KiB hold no control characters but white space.
InputKind kind_of_unsigned(Bytes bytes) {
  const Bytes head = bytes.first(std::min<std::size_t>(bytes.size(), 4096));
  const auto is_space = [](std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const bool printable =
      std::all_of(head.begin(), head.end(), [&](std::uint8_t c) { return c >= ' ' || is_space(c); });
  if (!printable) return InputKind::kUnknown;
  const auto first = std::find_if_not(head.begin(), head.end(), is_space);
  return first != head.end() && (*first == '{' || *first == '[') ? InputKind::kJson : InputKind::kText;
}

}  // namespace

InputKind detect_input_kind(Bytes bytes) {
  if (bytes.empty()) return InputKind::kEmpty;
  if (starts_with(bytes, "\x1f\x8b"sv)) return kind_of_gzip(bytes);
  for (const Signature& signature : kSignatures) {
    if (starts_with(bytes, signature.bytes)) return signature.kind;
  }
  return kind_of_unsigned(bytes);
}

InputKind detect_input_kind(const std::string& path) { return detect_input_kind(MappedFile(path).bytes()); }

const char* describe(InputKind kind) {
  // In the order of InputKind.
  constexpr auto kTexts = std::to_array<const char*>(
      {"a NumPy .npy array", "a zip (.npz) archive", "a bigWig file", "a bigBed file", "a BAM file",
       "a bgzip-compressed file", "a gzip-compressed file", "a CRAM file", "an HDF5 file", "a 2bit file",
       "a bzip2-compressed file", "an xz-compressed file", "a zstd-compressed file", "a JSON file",
       "a text file", "an empty file", "a file of an unknown kind"});
  return kTexts.at(static_cast<std::size_t>(kind));
}

void require_input_kind(InputKind expected, const std::string& path, Bytes bytes) {
  const InputKind found = detect_input_kind(bytes);
  if (found == expected) return;
  const bool packed = found == InputKind::kGzip || found == InputKind::kBgzip || found == InputKind::kBzip2 ||
                      found == InputKind::kXz || found == InputKind::kZstd;
  throw InputError({path, "", std::string("this is ") + describe(found) + ", not " + describe(expected),
                    packed ? "decompress it first" : "check the path"});
}

}  // namespace semicrf
