// Builds binary test files number by number, in either byte order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace semicrf::test {

using ByteVector = std::vector<std::uint8_t>;

template <typename Number>
std::array<std::uint8_t, sizeof(Number)> bytes_of(Number value, bool big_endian) {
  auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(Number)>>(value);
  if (big_endian) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

// Overwrites the number at `offset`.
template <typename Number>
void patch(ByteVector& file, std::size_t offset, Number value, bool big_endian = false) {
  const auto bytes = bytes_of(value, big_endian);
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
}

class ByteWriter {
 public:
  explicit ByteWriter(bool big_endian = false) : big_endian_(big_endian) {}

  template <typename Number>
  void number(Number value) {
    const auto bytes = bytes_of(value, big_endian_);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void u8(std::uint8_t value) { number(value); }
  void u16(std::uint16_t value) { number(value); }
  void u32(std::uint32_t value) { number(value); }
  void u64(std::uint64_t value) { number(value); }
  void text(std::string_view characters) {
    bytes_.insert(bytes_.end(), characters.begin(), characters.end());
  }
  void raw(const ByteVector& bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }
  // Overwrites what was written at `offset`.
  template <typename Number>
  void at(std::size_t offset, Number value) {
    patch(bytes_, offset, value, big_endian_);
  }
  std::size_t size() const { return bytes_.size(); }
  ByteVector take() { return std::move(bytes_); }

 private:
  ByteVector bytes_;
  bool big_endian_;
};

}  // namespace semicrf::test
