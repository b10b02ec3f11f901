// Pieces of the text that eval prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace semicrf {

using TableRow = std::vector<std::string>;

// Columns as wide as their widest cell (in characters of UTF-8); the first is aligned left, the others right.
// No line ends in blanks.
std::string text_table(const std::vector<TableRow>& rows);
// Four decimals, "-" where it is not defined.
std::string ratio_text(std::optional<double> value);

// part / whole; nothing where there is no whole.
template <class Number>
std::optional<double> ratio(Number part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace semicrf
