// Sizes and how they are rounded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace semicrf {

// n >= 0 as a size.
constexpr std::size_t wide(std::int64_t n) { return static_cast<std::size_t>(n); }

// a / b, rounded up; a >= 0, b > 0.
template <class T>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

// The smallest multiple of `step` that is at least n; n >= 0, step > 0.
template <class T>
constexpr T round_up(T n, T step) {
  return ceil_div(n, step) * step;
}

}  // namespace semicrf
