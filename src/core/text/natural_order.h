// The order in which people list names that have numbers in them: E1, E2, E10.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace semicrf {

// Whether `a` comes before `b`: runs of digits are compared by their values, everything else byte by byte.
// Names that differ only in leading zeros are in the order of their bytes, so that no two names are equal.
inline bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t first = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(first, at - first);
    };
    const std::string_view left = number(a, i);
    const std::string_view right = number(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;
}

// The rank of every name in that order.
inline std::vector<std::size_t> natural_ranks(const std::vector<std::string>& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t x, std::size_t y) { return natural_less(names[x], names[y]); });
  std::vector<std::size_t> ranks(names.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

}  // namespace semicrf
