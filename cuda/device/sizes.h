// Sizes on the host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace semicrf::cuda {

// n >= 0 as a size.
constexpr std::size_t wide(std::int64_t n) { return static_cast<std::size_t>(n); }

// a / b, rounded up; a >= 0, b > 0.
template <class T>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

}  // namespace semicrf::cuda
