#include "segmentation/heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "io/text/svg.h"

namespace semicrf {
namespace {

constexpr double kCellWidth = 62, kNarrowCell = 24, kCellHeight = 24, kTop = 44, kGap = 8, kMargin = 16;
constexpr double kCharacter = 7;           // pixels, of a name in the font of the picture
constexpr std::size_t kMostNumbered = 12;  // columns
constexpr std::size_t kShortName = 8;      // characters that fit over a cell
using Rgb = std::array<double, 3>;
constexpr Rgb kWhite{255, 255, 255}, kMore{178, 79, 0}, kLess{20, 80, 150};  // told apart by the colour-blind

std::string color_text(const Rgb& color) {
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(std::lround(color[0])),
                static_cast<unsigned>(std::lround(color[1])), static_cast<unsigned>(std::lround(color[2])));
  return text;
}

// From white, `share` of the way to `full`.
Rgb mixed(const Rgb& full, double share) {
  Rgb color{};
  for (std::size_t i = 0; i < 3; ++i)
    color[i] = kWhite[i] + (full[i] - kWhite[i]) * std::clamp(share, 0.0, 1.0);
  return color;
}

std::size_t longest(const std::vector<std::string>& names) {
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, name.size());
  return most;
}

class Picture {
 public:
  explicit Picture(const HeatMap& map)
      : map_(map),
        numbered_(map.columns.size() <= kMostNumbered),
        cell_(numbered_ ? kCellWidth : kNarrowCell),
        upright_(!numbered_ || longest(map.columns) > kShortName),
        left_(kMargin + kCharacter * static_cast<double>(longest(map.rows)) + kGap),
        top_(kTop + 20 + (upright_ ? kCharacter * static_cast<double>(longest(map.columns)) : 16) + kGap),
        // What the legend says must fit.
        width_(std::max(left_ + cell_ * static_cast<double>(map.columns.size()) + kMargin, 460.0)),
        height_(top_ + kCellHeight * static_cast<double>(map.rows.size()) + 58) {}

  std::string text() const {
    std::string svg = svg_begin(width_, height_, map_.title, "Fold enrichment. " + legend_text());
    svg += svg_text(kMargin, 24, "font-size=\"14\"", map_.title);
    svg += svg_text(left_, kTop, "", map_.column_title);
    for (std::size_t c = 0; c < map_.columns.size(); ++c) svg += column_name(c);
    for (std::size_t r = 0; r < map_.rows.size(); ++r) {
      svg += svg_text(left_ - kGap, y_of(r) + kCellHeight / 2 + 4, "text-anchor=\"end\"", map_.rows[r]);
      for (std::size_t c = 0; c < map_.columns.size(); ++c) svg += cell(r, c);
    }
    return svg + legend() + "</svg>\n";
  }

 private:
  double x_of(std::size_t column) const { return left_ + cell_ * static_cast<double>(column); }
  double y_of(std::size_t row) const { return top_ + kCellHeight * static_cast<double>(row); }
  const std::optional<double>& fold(std::size_t row, std::size_t column) const {
    return map_.folds[row * map_.columns.size() + column];
  }

  std::string column_name(std::size_t column) const {
    const double x = x_of(column) + cell_ / 2, y = top_ - kGap;
    if (!upright_) return svg_text(x, y, "text-anchor=\"middle\"", map_.columns[column]);
    return svg_text(0, 0,
                    "transform=\"translate(" + svg_pixels(x + 4) + " " + svg_pixels(y) + ") rotate(-90)\"",
                    map_.columns[column]);
  }

  // The largest fold of a column or of all; on the log scale the largest distance from 1 in doublings.
  double full(std::size_t column) const {
    double most = 0;
    for (std::size_t r = 0; r < map_.rows.size(); ++r)
      for (std::size_t c = 0; c < map_.columns.size(); ++c) {
        if (map_.scale == HeatScale::kColumn && c != column) continue;
        const std::optional<double>& value = fold(r, c);
        if (!value) continue;
        if (map_.scale != HeatScale::kLog) most = std::max(most, *value);
        if (map_.scale == HeatScale::kLog && *value > 0) most = std::max(most, std::fabs(std::log2(*value)));
      }
    return most > 0 ? most : 1;
  }

  Rgb color_of(double value, std::size_t column) const {
    if (map_.scale != HeatScale::kLog) return mixed(kMore, value / full(column));
    const double doublings = value > 0 ? std::log2(value) : -full(column);
    return mixed(doublings > 0 ? kMore : kLess, std::fabs(doublings) / full(column));
  }

  std::string cell(std::size_t row, std::size_t column) const {
    const std::optional<double>& value = fold(row, column);
    const Rgb color = value ? color_of(*value, column) : Rgb{200, 200, 200};
    const std::string tip = map_.rows[row] + ", " + map_.columns[column] + ": " +
                            (value ? "fold " + svg_significant(*value) : "no fold");
    std::string svg = "<rect x=\"" + svg_pixels(x_of(column)) + "\" y=\"" + svg_pixels(y_of(row)) +
                      "\" width=\"" + svg_pixels(cell_) + "\" height=\"" + svg_pixels(kCellHeight) +
                      "\" fill=\"" + color_text(color) + "\" stroke=\"" + kSvgInk +
                      "\" stroke-width=\"0.5\"><title>" + svg_escaped(tip) + "</title></rect>\n";
    if (!numbered_ || !value) return svg;
    const bool dark = color[0] + color[1] + color[2] < 400;
    char number[32];
    std::snprintf(number, sizeof number, *value < 9.995 ? "%.2f" : "%.1f", *value);
    return svg + svg_text(x_of(column) + cell_ / 2, y_of(row) + kCellHeight / 2 + 4,
                          "text-anchor=\"middle\" fill=\"" + std::string(dark ? "#ffffff" : "#000000") + "\"",
                          number);
  }

  std::string legend_text() const {
    if (map_.scale == HeatScale::kColumn) return "Colours: each column from 0 (white) to its largest fold.";
    if (map_.scale == HeatScale::kCommon)
      return "Colours: from 0 (white) to the largest fold, " + svg_significant(full(0)) + ".";
    return "Colours: log2 of the fold; white is 1, full colours are " + svg_significant(std::exp2(-full(0))) +
           " (blue) and " + svg_significant(std::exp2(full(0))) + " (orange).";
  }

  std::string legend() const {
    constexpr int kSteps = 24;
    constexpr double kStep = 5;
    const double y = height_ - 42;
    std::string svg;
    for (int i = 0; i <= kSteps; ++i) {
      const double at = static_cast<double>(i) / kSteps;
      const Rgb color = map_.scale != HeatScale::kLog ? mixed(kMore, at)
                        : at < 0.5                    ? mixed(kLess, 1 - 2 * at)
                                                      : mixed(kMore, 2 * at - 1);
      svg += "<rect x=\"" + svg_pixels(kMargin + kStep * i) + "\" y=\"" + svg_pixels(y) + "\" width=\"" +
             svg_pixels(kStep + 0.5) + "\" height=\"12\" fill=\"" + color_text(color) + "\"/>\n";
    }
    return svg + svg_text(kMargin, y + 28, "", legend_text());
  }

  const HeatMap& map_;
  bool numbered_;
  double cell_;
  bool upright_;  // names of columns are written upwards
  double left_, top_, width_, height_;
};

}  // namespace

std::string heat_map_picture(const HeatMap& map) { return Picture(map).text(); }

}  // namespace semicrf
