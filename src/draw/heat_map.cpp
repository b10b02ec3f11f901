#include "draw/heat_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/counts.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

using Anchor = Canvas::Anchor;

constexpr double kCellWidth = 56, kNarrowCell = 24, kCellHeight = 24, kGap = 8, kGroupGap = 10, kMark = 10;
constexpr double kLine = 18;               // height of a line of text
constexpr std::size_t kMostNumbered = 12;  // columns
constexpr std::size_t kMostSingle = 1000;  // cells with a text under the pointer
constexpr double kShades = 50;             // shades of cells that are drawn together
constexpr double kMostName = 190;          // pixels of a name of a row or a column

bool is_signed(HeatScale scale) { return scale == HeatScale::kSigned || scale == HeatScale::kSignedColumn; }
bool by_column(HeatScale scale) { return scale == HeatScale::kColumn || scale == HeatScale::kSignedColumn; }

double widest(const std::vector<std::string>& names) {
  double most = 0;
  for (const std::string& name : names) most = std::max(most, text_width(name));
  return std::min(most, kMostName);
}

class Picture {
 public:
  explicit Picture(const HeatMap& map)
      : map_(map),
        numbered_(map.columns.size() <= kMostNumbered),
        cell_(numbered_ ? kCellWidth : kNarrowCell),
        upright_(widest(map.columns) > cell_ - 4),
        left_(std::ceil(std::max(widest(map.rows), widest({map.row_title})) + kGap +
                        (map.row_marks.empty() ? 0 : kMark + 6))),
        title_height_(map.titled ? 26 : 0),
        top_(std::ceil(title_height_ + (map.column_title.empty() ? 0 : kLine) +
                       (map.groups.empty() ? 0 : kLine) + (upright_ ? widest(map.columns) : 12) + kGap)) {
    double x = left_;
    std::size_t in_group = 0, group = 0;
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      if (!map.groups.empty() && in_group == map.groups[group].columns) {
        x += kGroupGap;
        in_group = 0;
        ++group;
      }
      x_.push_back(x);
      x += cell_;
      ++in_group;
    }
    right_ = x;
    for (std::size_t c = 0; c < map.columns.size(); ++c)
      full_.push_back(c == 0 || by_column(map.scale) ? full(c) : full_.front());
    if (full_.empty()) full_.push_back(1);
  }

  Drawing drawing() {
    if (map_.titled) canvas_.text(0, 14, Anchor::kStart, "title", map_.title);
    if (!map_.column_title.empty())
      canvas_.text(left_, title_height_ + 12, Anchor::kStart, "muted", map_.column_title);
    group_names();
    for (std::size_t c = 0; c < map_.columns.size(); ++c) column_name(c);
    if (!map_.row_title.empty())
      canvas_.text(left_ - kGap, top_ - kGap, Anchor::kEnd, "muted", fitted(map_.row_title, left_ - kGap));
    for (std::size_t r = 0; r < map_.rows.size(); ++r) {
      row_name(r);
      for (std::size_t c = 0; c < map_.columns.size() && are_single(); ++c) cell(r, c);
    }
    if (!are_single()) cells();
    legend();
    // What the legend says must fit.
    const double legend_width = 140 + text_width(legend_text(), 11);
    return {std::max(right_ + 2, std::max(legend_width, map_.titled ? 1.12 * text_width(map_.title) : 0)),
            y_of(map_.rows.size()) + 40, map_.title, legend_text(), canvas_.body()};
  }

 private:
  double y_of(std::size_t row) const { return top_ + kCellHeight * static_cast<double>(row); }
  const std::optional<double>& value(std::size_t row, std::size_t column) const {
    return map_.values[row * map_.columns.size() + column];
  }

  void group_names() {
    std::size_t column = 0;
    for (const ColumnGroup& group : map_.groups) {
      const double width = static_cast<double>(group.columns) * cell_;
      if (group.columns > 0)
        canvas_.text(x_[column] + width / 2, title_height_ + (map_.column_title.empty() ? 12 : 12 + kLine),
                     Anchor::kMiddle, "", fitted(group.name, width + kGroupGap - 4));
      column += group.columns;
    }
  }

  void column_name(std::size_t column) {
    const double x = x_[column] + cell_ / 2, y = top_ - kGap;
    const std::string& name = map_.columns[column];
    if (upright_) {
      canvas_.upright_text(x + 4, y, Anchor::kStart, "", fitted(name, kMostName));
    } else {
      canvas_.text(x, y, Anchor::kMiddle, "", name);
    }
  }

  void row_name(std::size_t row) {
    double x = left_ - kGap;
    if (!map_.row_marks.empty()) {
      x -= kMark + 6;
      if (map_.row_marks[row])
        canvas_.rect(left_ - kGap - kMark, y_of(row) + (kCellHeight - kMark) / 2, kMark, kMark,
                     "class=\"mark\" fill=\"" + hex_color(*map_.row_marks[row]) + "\"");
    }
    canvas_.text(x, y_of(row) + kCellHeight / 2 + 4, Anchor::kEnd, "", fitted(map_.rows[row], kMostName));
  }

  // The largest value of a column or of all; on the log scale the largest distance from 1 in doublings.
  double full(std::size_t column) const {
    if (map_.largest) return *map_.largest;
    double most = 0;
    for (std::size_t r = 0; r < map_.rows.size(); ++r)
      for (std::size_t c = 0; c < map_.columns.size(); ++c) {
        if (by_column(map_.scale) && c != column) continue;
        const std::optional<double>& one = value(r, c);
        if (!one) continue;
        if (map_.scale != HeatScale::kLog)
          most = std::max(most, is_signed(map_.scale) ? std::fabs(*one) : *one);
        if (map_.scale == HeatScale::kLog && *one > 0) most = std::max(most, std::fabs(std::log2(*one)));
      }
    return most > 0 ? most : 1;
  }

  // From -1 to 1: how full the colour is, and which one.
  double strength(double one, std::size_t column) const {
    if (map_.scale != HeatScale::kLog) return std::clamp(one / full_[column], -1.0, 1.0);
    return one > 0 ? std::log2(one) / full_[column] : -1;
  }

  static std::string fill(double strength) {
    return std::string("class=\"cell ") + (strength < 0 ? "less" : "more") + "\" fill-opacity=\"" +
           svg_pixels(kFullCell * std::fabs(strength)) + "\"";
  }

  static std::string number_text(double one) {
    const double size = std::fabs(one);
    if (size >= 99999.5) return svg_significant(one);
    return formatted(size >= 999.5 ? "%.0f" : size >= 9.995 ? "%.1f" : "%.2f", one);
  }

  void cell(std::size_t row, std::size_t column) {
    const std::optional<double>& one = value(row, column);
    const std::string tip = map_.rows[row] + ", " + map_.columns[column] + ": " +
                            (one ? map_.what + " " + svg_significant(*one) : "no " + map_.what);
    canvas_.rect(x_[column], y_of(row), cell_, kCellHeight,
                 one ? fill(strength(*one, column)) : "class=\"cell nothing\"", tip);
    number(row, column);
  }

  bool are_single() const { return map_.values.size() <= kMostSingle; }

  // Neighbours of one shade in a row together; the lines between cells over all of them.
  void cells() {
    std::map<std::string, SvgPath> shades;
    const std::size_t columns = map_.columns.size();
    for (std::size_t r = 0; r < map_.rows.size(); ++r)
      for (std::size_t c = 0; c < columns;) {
        const std::string shade = shade_of(r, c);
        const std::size_t first = c;
        while (c < columns && shade_of(r, c) == shade &&
               x_[c] == x_[first] + cell_ * static_cast<double>(c - first))
          ++c;
        SvgPath& path = shades[shade];
        path.move(x_[first], y_of(r));
        path.across(x_[c - 1] + cell_);
        path.upright(y_of(r + 1));
        path.across(x_[first]);
        path.close();
      }
    for (const auto& [shade, path] : shades) canvas_.path(path.text(), shade);
    SvgPath lines;
    for (std::size_t r = 0; r <= map_.rows.size(); ++r) {
      lines.move(left_, y_of(r));
      lines.across(right_);
    }
    for (std::size_t c = 0; c <= columns; ++c) {
      lines.move(c < columns ? x_[c] : right_, y_of(0));
      lines.upright(y_of(map_.rows.size()));
    }
    canvas_.path(lines.text(), "class=\"grid\"");
    for (std::size_t r = 0; r < map_.rows.size(); ++r)
      for (std::size_t c = 0; c < columns; ++c) number(r, c);
  }

  std::string shade_of(std::size_t row, std::size_t column) const {
    const std::optional<double>& one = value(row, column);
    if (!one) return "class=\"nothing\"";
    const double shade = std::round(strength(*one, column) * kShades) / kShades;
    return std::string("class=\"") + (shade < 0 ? "less" : "more") + "\" fill-opacity=\"" +
           svg_pixels(kFullCell * std::fabs(shade)) + "\"";
  }

  void number(std::size_t row, std::size_t column) {
    if (const std::optional<double>& one = value(row, column); numbered_ && one)
      canvas_.text(x_[column] + cell_ / 2, y_of(row) + kCellHeight / 2 + 4, Anchor::kMiddle, "value",
                   number_text(*one));
  }

  std::string legend_text() const {
    switch (map_.scale) {
      case HeatScale::kColumn:
        return "Colours: each column from 0 (none) to its largest value.";
      case HeatScale::kCommon:
        return "Colours: from 0 (none) to the largest value, " + svg_significant(full_.front()) + ".";
      case HeatScale::kLog:
        return "Colours: log2; 1 has none, full are " + svg_significant(std::exp2(-full_.front())) +
               " (blue) and " + svg_significant(std::exp2(full_.front())) + " (orange).";
      case HeatScale::kSigned:
        return "Colours: 0 has none, full are " + svg_significant(-full_.front()) + " (blue) and " +
               svg_significant(full_.front()) + " (orange).";
      default:
        return "Colours: of each column; 0 has none, its largest magnitude is full (blue below 0, orange "
               "above).";
    }
  }

  void legend() {
    constexpr int kSteps = 24;
    constexpr double kStep = 5;
    const double y = y_of(map_.rows.size()) + 14;
    const bool two_sided = is_signed(map_.scale) || map_.scale == HeatScale::kLog;
    for (int i = 0; i < kSteps; ++i) {
      const double at = ratio(i, kSteps - 1);
      const double strength = two_sided ? 2 * at - 1 : at;
      canvas_.rect(kStep * i, y, kStep, 10,
                   std::string("class=\"") + (strength < 0 ? "less" : "more") + "\" fill-opacity=\"" +
                       svg_pixels(kFullCell * std::fabs(strength)) + "\"");
    }
    canvas_.text(kStep * kSteps + 10, y + 9, Anchor::kStart, "muted small", legend_text());
  }

  const HeatMap& map_;
  bool numbered_;
  double cell_;
  bool upright_;  // names of columns are written upwards
  double left_, title_height_, top_;
  std::vector<double> x_;     // left edges of the columns
  std::vector<double> full_;  // by column: the value that has the full colour
  double right_ = 0;
  Canvas canvas_;
};

}  // namespace

void keep_cells(HeatMap& map, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns) {
  const auto picked = [](const auto& all, const std::vector<std::size_t>& places) {
    std::remove_cvref_t<decltype(all)> kept;
    for (const std::size_t place : places) kept.push_back(all[place]);
    return kept;
  };
  std::vector<std::optional<double>> values;
  for (const std::size_t r : rows)
    for (const std::size_t c : columns) values.push_back(map.values[r * map.columns.size() + c]);
  map.values = std::move(values);
  map.rows = picked(map.rows, rows);
  map.columns = picked(map.columns, columns);
  if (!map.row_marks.empty()) map.row_marks = picked(map.row_marks, rows);
}

Drawing draw_heat_map(const HeatMap& map) { return Picture(map).drawing(); }

std::string heat_map_picture(const HeatMap& map) { return svg_file(draw_heat_map(map)); }

}  // namespace semicrf
