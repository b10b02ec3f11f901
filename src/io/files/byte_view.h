// Checked access to the numbers of a binary file held in memory.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/error.h"

namespace semicrf {

static_assert(std::endian::native == std::endian::little, "the readers assume a little-endian machine");

// The bytes of `value` reversed.
template <typename Number>
Number byte_swapped(Number value) {
  if constexpr (sizeof(Number) == 2) {
    return std::bit_cast<Number>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(Number) == 4) {
    return std::bit_cast<Number>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  } else {
    static_assert(sizeof(Number) == 8);
    return std::bit_cast<Number>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  }
}

// The number stored at `from`, at any alignment, unchecked.
template <typename Number, bool kSwap>
Number load_number(const std::uint8_t* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (kSwap && sizeof(Number) > 1) value = byte_swapped(value);
  return value;
}

// Every access is checked against the size; a miss is an InputError that says what was being read, and where.
class ByteView {
 public:
  ByteView(std::span<const std::uint8_t> bytes, std::string file, bool swap)
      : bytes_(bytes), file_(std::move(file)), swap_(swap) {}

  std::uint64_t size() const { return bytes_.size(); }
  bool swap() const { return swap_; }
  const std::string& file() const { return file_; }

  // The `length` bytes from `offset`.
  std::span<const std::uint8_t> slice(std::uint64_t offset, std::uint64_t length, const char* what) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) {
      throw InputError({file_, fmt::to_string(offset),
                        fmt::format("{} ({} bytes) runs past the end of the file of {} bytes", what, length,
                                    bytes_.size()),
                        "the file is truncated or damaged"});
    }
    return bytes_.subspan(offset, length);
  }

  template <typename Number>
  Number number(std::uint64_t offset, const char* what) const {
    const std::uint8_t* from = slice(offset, sizeof(Number), what).data();
    return swap_ ? load_number<Number, true>(from) : load_number<Number, false>(from);
  }

  [[noreturn]] void fail(std::uint64_t offset, const std::string& what) const {
    throw InputError({file_, fmt::to_string(offset), what, "the file is damaged"});
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::string file_;
  bool swap_;
};

}  // namespace semicrf
