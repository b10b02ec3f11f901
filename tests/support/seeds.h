// Seeds of random tests: fixed, so that CI repeats itself, unless SEMICRF_TEST_SEED asks for others.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace semicrf::testing {

// `fixed`, or where the environment variable SEMICRF_TEST_SEED is set a seed made of both.
inline std::uint64_t test_seed(std::uint64_t fixed) {
  const char* const text = std::getenv("SEMICRF_TEST_SEED");
  if (text == nullptr || *text == '\0') return fixed;
  std::uint64_t mixed = std::strtoull(text, nullptr, 10) * 0x9E3779B97F4A7C15u + fixed;
  mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9u;
  return (mixed ^ (mixed >> 29)) % 1'000'000'000;  // short enough to be typed
}

}  // namespace semicrf::testing
