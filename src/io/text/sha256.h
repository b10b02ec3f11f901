// SHA-256 (FIPS 180-4), for the provenance lines of the outputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace semicrf {

class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  // 64 lower-case hexadecimal digits; ends the message, so call it once.
  std::string hex_digest();

 private:
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_;
  std::array<unsigned char, 64> buffer_{};
  std::size_t buffered_ = 0;
  std::uint64_t length_ = 0;  // bytes
};

std::string sha256_hex(std::string_view bytes);

}  // namespace semicrf
