// Random numbers that are functions of a key and a place: the same on every machine, in any order, by any
// thread.
//
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011) turns a 64-bit key and a 128-bit counter into 128
// bits. The counter is made of an index (its low words) and a purpose (its high ones), so that nothing has to
// be drawn in a certain order. Uniform numbers are the upper 53 bits of two words times 2^-53; normal numbers
// come from them by the Box-Muller transform with a logarithm and a cosine of our own, which use nothing but
// + - * / and square roots.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace semicrf {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::uint64_t key);

// The key of everything that is drawn for one sequence: the first eight bytes of SHA-256("SEED:NAME"),
// big-endian.
std::uint64_t sequence_key(std::uint64_t seed, std::string_view name);

// What numbers are drawn for: the draws of a segmentation are kDrawPurpose, kDrawPurpose + 1, ...
inline constexpr std::uint64_t kEmissionPurpose = 0;
inline constexpr std::uint64_t kDrawPurpose = 1;

class RandomStream {
 public:
  // Streams of different key or purpose have nothing to do with each other.
  RandomStream(std::uint64_t key, std::uint64_t purpose) : key_(key), purpose_(purpose) {}

  // Two multiples of 2^-53 in [0, 1).
  std::array<double, 2> uniforms(std::uint64_t index) const;
  // Two independent N(0,1) numbers.
  std::array<double, 2> normals(std::uint64_t index) const;

 private:
  std::uint64_t key_;
  std::uint64_t purpose_;
};

}  // namespace semicrf
