// Shares of counts.
#pragma once

#include <cstdint>
#include <optional>

namespace semicrf {

// part / whole; nothing where there is no whole.
template <class Number>
std::optional<double> ratio(Number part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace semicrf
