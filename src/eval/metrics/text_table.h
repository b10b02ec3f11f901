// Pieces of the text that eval prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/statistic.h"

namespace semicrf {

using TableRow = std::vector<std::string>;

// Columns as wide as their widest cell (in characters of UTF-8); the first is aligned left, the others right.
// No line ends in blanks.
std::string text_table(const std::vector<TableRow>& rows);

// Headings speak of bases, in whose place the units of the run stand.
std::string in_units(std::string_view heading);

// Rows of what has a heading in a list of statistics: the headings, and the values of `of`.
template <class Of>
TableRow heading_row(const std::string& first, const StatisticList<Of>& list) {
  TableRow row = {first};
  for (const Statistic<Of>& one : list)
    if (!one.heading.empty()) row.push_back(in_units(one.heading));
  return row;
}
template <class Of>
TableRow value_row(const std::string& first, const StatisticList<Of>& list, const Of& of,
                   const char* unknown = "-") {
  TableRow row = {first};
  for (const Statistic<Of>& one : list)
    if (!one.heading.empty()) row.push_back(statistic_text(one, of, unknown));
  return row;
}
// A row for each: its heading and its value.
template <class Of>
void add_lines(const StatisticList<Of>& list, const Of& of, std::vector<TableRow>& rows) {
  for (const Statistic<Of>& one : list)
    if (!one.heading.empty()) rows.push_back({in_units(one.heading), statistic_text(one, of, "-")});
}

// part / whole; nothing where there is no whole.
template <class Number>
std::optional<double> share_of(Number part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace semicrf
