// 16-bit floats of IEEE 754 (binary16), as files hold them.
#pragma once

#include <bit>
#include <cstdint>

namespace semicrf {

// IEEE binary16, by its bits.
struct Half {
  std::uint16_t bits;

  explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 31u;
    const std::uint32_t fraction = bits & 1023u;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // zero or subnormal
    return sign != 0 ? -magnitude : magnitude;
  }
  explicit operator double() const { return static_cast<float>(*this); }
};

}  // namespace semicrf
