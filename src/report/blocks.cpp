#include "report/blocks.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/text/text.h"
#include "draw/scale.h"
#include "draw/svg.h"

namespace semicrf {

Cell text_cell(const std::string& text) { return {escape_control(text), "", {}, false}; }

Cell count_cell(std::int64_t count) { return {fmt::format("{}", count), count_text(count), {}, true}; }

Cell integer_cell(std::int64_t number) { return {fmt::format("{}", number), "", {}, true}; }
Cell bases_cell(double bases) { return {exact_number(bases), bases_text(bases), {}, true}; }

Cell share_cell(std::optional<double> share) {
  if (!share) return {".", "\xe2\x80\x93", {}, false};
  return {exact_number(*share), share_text(*share), {}, true};
}

Cell number_cell(std::optional<double> number) {
  if (!number || std::isnan(*number)) return {".", "\xe2\x80\x93", {}, false};
  if (std::isinf(*number))
    return {
        *number < 0 ? "-inf" : "inf", *number < 0 ? "\xe2\x88\x92\xe2\x88\x9e" : "\xe2\x88\x9e", {}, false};
  return {exact_number(*number), short_number(*number), {}, true};
}

Cell statistic_cell(StatisticUnit unit, const StatisticValue& value) {
  const std::optional<double> number = value.number();
  if (!number) return number_cell({});
  switch (unit) {
    case StatisticUnit::kCount:
      return count_cell(static_cast<std::int64_t>(*number));
    case StatisticUnit::kBases:
      return bases_cell(*number);
    case StatisticUnit::kShare:
      return share_cell(*number);
    default:
      return number_cell(*number);
  }
}

std::string tsv_text(const Table& table) {
  std::string text = joined(table.names, "\t") + "\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : "\t") + row[i].value;
    text += "\n";
  }
  return text;
}

namespace {

std::string mark_of(const Cell& cell) {
  if (!cell.color) return "";
  return "<i class=\"mark\" style=\"background:" + hex_color(*cell.color) + "\"></i>";
}

std::string content_of(const Cell& cell) {
  const std::string shown = markup_escaped(cell.shown.empty() ? cell.value : cell.shown);
  if (!cell.is_number) return mark_of(cell) + shown;
  return "<data value=\"" + cell.value + "\">" + shown + "</data>";
}

}  // namespace

std::string html_table(const Table& table, std::string_view caption) {
  const std::vector<std::string>& headings = table.headings.empty() ? table.names : table.headings;
  const auto is_text = [&](std::size_t column) {
    return !table.rows.empty() && !table.rows[0][column].is_number && table.rows[0][column].value != ".";
  };
  std::string html = "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"" +
                     markup_escaped(caption) + "\"><table><caption>" + markup_escaped(caption) +
                     "</caption>\n<thead><tr>";
  for (std::size_t i = 0; i < headings.size(); ++i)
    html += std::string("<th scope=\"col\"") + (is_text(i) ? "" : " class=\"n\"") + ">" +
            markup_escaped(headings[i]) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < headings.size(); ++i) {
      if (i == 0) {
        html += std::string("<th scope=\"row\"") + (is_text(0) ? "" : " class=\"n\"") + ">" +
                content_of(row[i]) + "</th>";
      } else {
        html += std::string("<td") + (is_text(i) ? "" : " class=\"n\"") + ">" + content_of(row[i]) + "</td>";
      }
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace semicrf
