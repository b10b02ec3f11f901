// What the sections of a report are made of.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/text/statistic.h"
#include "draw/scale.h"
#include "draw/svg.h"

namespace semicrf {

// A table of a report: what its TSV has, and how the page shows it.
//
// `value` is written to the TSV; the page shows `shown` in its place, which is the same number for people.
struct Cell {
  std::string value;
  std::string shown;                                      // empty: `value`
  std::optional<std::array<std::uint8_t, 3>> color = {};  // colour of a mark before it
  bool is_number = false;
};

Cell text_cell(const std::string& text);
Cell count_cell(std::int64_t count);     // 1234567 as 1,234,567
Cell integer_cell(std::int64_t number);  // 1234567 as it stands
Cell bases_cell(double bases);           // 24000 as 24 kb
template <std::integral Count>
Cell bases_cell(Count bases) {
  return bases_cell(static_cast<double>(bases));
}
Cell share_cell(std::optional<double> share);    // 0.25 as 25.0 %; nothing: "." in the TSV
Cell number_cell(std::optional<double> number);  // nine significant digits, shown with three; "-inf" too

// The cell of its unit; nothing as number_cell() has it.
Cell statistic_cell(StatisticUnit unit, const StatisticValue& value);

template <std::integral Count>
std::string bases_text(Count bases) {
  return bases_text(static_cast<double>(bases));
}

struct Table {
  std::vector<std::string> names;     // names of the TSV's columns
  std::vector<std::string> headings;  // headings of the page's columns; empty: `names`
  std::vector<std::vector<Cell>> rows;
};

// Columns and rows of a list of statistics, of those that reports have, behind a first one.
template <class Of>
void add_columns(const StatisticList<Of>& list, const char* name, const char* heading, Table& table) {
  table.names = {name};
  table.headings = {heading};
  for (const Statistic<Of>& one : list) {
    if (!one.in_report) continue;
    table.names.emplace_back(one.name);
    table.headings.push_back(capitalized(one.heading));
  }
}
template <class Of>
void add_row(const StatisticList<Of>& list, const std::string& name, const Of& of, Table& table) {
  std::vector<Cell>& row = table.rows.emplace_back(std::vector<Cell>{text_cell(name)});
  for (const Statistic<Of>& one : list)
    if (one.in_report) row.push_back(statistic_cell(one.unit, one.value(of)));
}

// A line of names, a line per row; columns separated by tabs.
std::string tsv_text(const Table& table);
// A table element; numbers are <data value="..."> elements with the TSV's text as their value.
std::string html_table(const Table& table, std::string_view caption);

struct Paragraph {
  std::string text;
  bool is_notice = false;  // something to know before one believes what follows
};

// Text as it stands, such as a command.
struct Verbatim {
  std::string text;
};

struct SubHeading {
  std::string text;
};

// `name`: of the files NAME.tsv and NAME.svg. One panel, or several with shared scales that stand beside each
// other where there is room.
struct Figure {
  std::string name;
  std::string title;
  std::string reading;  // one or two sentences: how to read it
  std::vector<Drawing> panels;
  Table table;
};

struct TableBlock {
  std::string name;  // name of the file NAME.tsv
  std::string caption;
  Table table;
};

using Block = std::variant<Paragraph, Verbatim, SubHeading, Figure, TableBlock>;

struct Section {
  std::string id;
  std::string heading;
  std::vector<Block> blocks;
  bool is_folded = false;  // shown when its heading is opened
  // Figures that are shown; the next one and what follows it are behind a line that opens them.
  std::size_t shown_figures = std::numeric_limits<std::size_t>::max();

  void add(Block block) { blocks.push_back(std::move(block)); }
};

// The panels of a figure as one picture.
Drawing joined_panels(const Figure& figure);

}  // namespace semicrf
