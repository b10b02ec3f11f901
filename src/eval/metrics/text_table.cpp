#include "eval/metrics/text_table.h"

#include <algorithm>
#include <cstddef>

#include "core/text/text.h"

namespace semicrf {
namespace {

// Characters of UTF-8 text, for the width of columns.
std::size_t width(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

}  // namespace

std::string text_table(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths;
  for (const TableRow& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      const bool last = i + 1 == row.size();
      text += i == 0 ? row[i] + (last ? "" : space) : "  " + space + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string in_units(std::string_view heading) {
  std::string text(heading);
  if (const std::size_t at = text.find("bases"); at != std::string::npos) text.replace(at, 5, units().many);
  return text;
}

}  // namespace semicrf
