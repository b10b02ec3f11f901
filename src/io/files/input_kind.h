// What a file is, told from its first bytes and never from its name.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace semicrf {

enum class InputKind {
  kNpy,
  kNpz,     // any zip archive
  kBigWig,  // either byte order
  kBigBed,
  kBam,
  kBgzip,  // blocked gzip that is not BAM
  kGzip,
  kCram,
  kHdf5,
  kTwoBit,
  kBzip2,
  kXz,
  kZstd,
  kJson,
  kText,  // printable text that is not JSON: BED, wiggle, FASTA, ...
  kEmpty,
  kUnknown,
};

// `bytes` is the file, or at least its first 64 KiB (BAM is recognised inside the first compressed block).
InputKind detect_input_kind(std::span<const std::uint8_t> bytes);

// ReadError when the file cannot be opened or is not a regular file.
InputKind detect_input_kind(const std::string& path);

// With its article, for messages: "a BAM file", "an empty file", "text".
const char* describe(InputKind kind);

// InputError "this is a BAM file, not a bigWig file" (with `expected` as in describe()) unless `bytes` are of
// that kind.
void require_input_kind(InputKind expected, const std::string& path, std::span<const std::uint8_t> bytes);

}  // namespace semicrf
