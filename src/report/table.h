// A table of a report: what its TSV has, and how the page shows it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/statistic.h"

namespace semicrf {

// `value` is written to the TSV; the page shows `shown` in its place, which is the same number for people.
struct Cell {
  std::string value;
  std::string shown;                                      // empty: `value`
  std::optional<std::array<std::uint8_t, 3>> color = {};  // colour of a mark before it
  bool is_number = false;
};

Cell text_cell(const std::string& text);
Cell count_cell(std::int64_t count);             // 1234567 as 1,234,567
Cell integer_cell(std::int64_t number);          // 1234567 as it stands
Cell bases_cell(double bases);                   // 24000 as 24 kb
Cell share_cell(std::optional<double> share);    // 0.25 as 25.0 %; nothing: "." in the TSV
Cell number_cell(std::optional<double> number);  // nine significant digits, shown with three; "-inf" too

// The cell of its unit; nothing as number_cell() has it.
Cell statistic_cell(StatisticUnit unit, const StatisticValue& value);

struct Table {
  std::vector<std::string> names;     // names of the TSV's columns
  std::vector<std::string> headings;  // headings of the page's columns; empty: `names`
  std::vector<std::vector<Cell>> rows;
};

// A line of names, a line per row; columns separated by tabs.
std::string tsv_text(const Table& table);
// A table element; numbers are <data value="..."> elements with the TSV's text as their value.
std::string html_table(const Table& table, std::string_view caption);

}  // namespace semicrf
