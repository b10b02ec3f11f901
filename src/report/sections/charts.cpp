#include "report/sections/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text/text.h"
#include "draw/scale.h"
#include "draw/svg.h"

namespace semicrf {

namespace {

constexpr double kWidth = 262, kHeight = 172;  // pixels of a histogram
constexpr double kLeft = 38, kTop = 42, kBottom = 36, kRight = 8;
constexpr double kRow = 24, kBarWidth = 360, kMostName = 120;
constexpr double kTickGap = 8;
constexpr double kTickSize = 11;

double names_width(const std::vector<std::string>& names) {
  double most = 0;
  for (const std::string& name : names) most = std::max(most, text_width(name));
  return std::min(most, kMostName) + 8;
}

std::string fill(const Rgb& color) { return "class=\"mark\" fill=\"" + hex_color(color) + "\""; }

void draw_vertical_axis(Canvas& canvas, const Scale& y, double top) {
  for (const double tick : nice_ticks(0, top, 4)) {
    if (tick > 0) canvas.line(kLeft, y.at(tick), kWidth - kRight, y.at(tick), "grid");
    canvas.text(kLeft - 6, y.at(tick) + 4, Canvas::Anchor::kEnd, "tick",
                short_number(100 * tick) + (tick > 0 ? "%" : ""));
  }
}

void draw_horizontal_axis(Canvas& canvas, const std::vector<Tick>& ticks, const Scale& x, double y,
                          const std::string& title) {
  canvas.line(x.from, y, x.to, y, "axis");
  for (const Tick& tick : ticks_with_room(ticks, x, 0, kWidth)) {
    canvas.line(x.at(tick.at), y, x.at(tick.at), y + 4, "axis");
    canvas.text(x.at(tick.at), y + 15, Canvas::Anchor::kMiddle, "tick", tick.text);
  }
  canvas.text((x.from + x.to) / 2, y + 30, Canvas::Anchor::kMiddle, "tick", title);
}

}  // namespace

std::vector<Tick> ticks_with_room(const std::vector<Tick>& ticks, const Scale& scale, double low,
                                  double high) {
  std::vector<Tick> kept;
  double edge = low - kTickGap;
  for (const Tick& tick : ticks) {
    const double half = text_width(tick.text, kTickSize) / 2, middle = scale.at(tick.at);
    if (middle - half < edge + kTickGap || middle + half > high) continue;
    kept.push_back(tick);
    edge = middle + half;
  }
  return kept;
}

std::vector<Tick> length_ticks(double low, double high) {
  std::vector<Tick> ticks;
  for (const double tick : log_ticks(low, high, 5)) ticks.push_back({tick, bases_text(tick)});
  return ticks;
}

Drawing draw_histogram(const Histogram& histogram) {
  Canvas canvas;
  Scale x = histogram.x;
  x.from = kLeft;
  x.to = kWidth - kRight;
  const Scale y{0, histogram.top, kHeight - kBottom, kTop, false};
  canvas.text(0, 12, Canvas::Anchor::kStart, "title", fitted(histogram.title, (kWidth - kRight) / 1.12));
  canvas.text(0, 28, Canvas::Anchor::kStart, "muted small", fitted(histogram.subtitle, kWidth - kRight, 11));
  draw_vertical_axis(canvas, y, histogram.top);
  for (std::size_t i = 0; i < histogram.shares.size(); ++i) {
    if (!(histogram.shares[i] > 0)) continue;
    const double left = x.at(histogram.edges[i]), right = x.at(histogram.edges[i + 1]);
    const double gap = right - left > 4 ? 1 : 0;
    canvas.rect(left, y.at(histogram.shares[i]), right - left - gap, y.from - y.at(histogram.shares[i]),
                fill(histogram.color), histogram.tips[i]);
  }
  SvgPath line;
  for (std::size_t i = 0; i < histogram.line.size(); ++i) {
    const double level = y.at(histogram.line[i]);
    if (line.empty()) line.move(x.at(histogram.edges[0]), level);
    line.upright(level);
    line.across(x.at(histogram.edges[i + 1]));
  }
  if (!line.empty()) canvas.path(line.text(), "class=\"model\"");
  if (histogram.limit > x.begin && histogram.limit < x.end) {
    canvas.line(x.at(histogram.limit), kTop, x.at(histogram.limit), y.from, "axis dashed");
    canvas.text(x.at(histogram.limit) - 4, kTop + 8, Canvas::Anchor::kEnd, "tick", "K");
  }
  draw_horizontal_axis(canvas, histogram.ticks, x, y.from, histogram.x_title);
  return {kWidth, kHeight, histogram.title, histogram.subtitle + ". " + histogram.x_title, canvas.body()};
}

Drawing draw_bars(const Bars& bars) {
  Canvas canvas;
  const double left = names_width(bars.names);
  double room = 0;
  for (const std::string& text : bars.texts) room = std::max(room, text_width(text) + 8);
  const double most = bars.values.empty() ? 1 : std::max(1e-300, std::ranges::max(bars.values));
  const Scale x{0, most, left, kBarWidth - room, false};
  canvas.text(0, 12, Canvas::Anchor::kStart, "title", bars.title);
  for (std::size_t i = 0; i < bars.names.size(); ++i) {
    const double y = 26 + kRow * static_cast<double>(i);
    canvas.text(left - 8, y + 14, Canvas::Anchor::kEnd, "", fitted(bars.names[i], kMostName));
    canvas.rect(left, y + 3, std::max(0.5, x.at(bars.values[i]) - left), kRow - 8, fill(bars.colors[i]),
                bars.names[i] + ": " + bars.texts[i]);
    canvas.text(x.at(bars.values[i]) + 6, y + 14, Canvas::Anchor::kStart, "value", bars.texts[i]);
  }
  return {kBarWidth, 30 + kRow * static_cast<double>(bars.names.size()), bars.title, "A bar for each label",
          canvas.body()};
}

Drawing draw_ranges(const Ranges& ranges) {
  Canvas canvas;
  const double left = names_width(ranges.names);
  const double bottom = 26 + kRow * static_cast<double>(ranges.names.size());
  double low = 0, high = 0;
  for (const Ranges::Range& range : ranges.ranges) {
    if (!(range.low > 0)) continue;
    low = low > 0 ? std::min(low, range.low) : range.low;
    high = std::max(high, range.high);
  }
  if (!(high > low)) high = 2 * std::max(1.0, low);
  const Scale x{std::max(low, 1e-9), high, left, kBarWidth - 14, true};
  canvas.text(0, 12, Canvas::Anchor::kStart, "title", ranges.title);
  for (const Tick& tick : ticks_with_room(length_ticks(x.begin, x.end), x, left - 20, kBarWidth)) {
    canvas.line(x.at(tick.at), 24, x.at(tick.at), bottom, "grid");
    canvas.text(x.at(tick.at), bottom + 14, Canvas::Anchor::kMiddle, "tick", tick.text);
  }
  for (std::size_t i = 0; i < ranges.names.size(); ++i) {
    const double y = 26 + kRow * static_cast<double>(i);
    const Ranges::Range& range = ranges.ranges[i];
    canvas.text(left - 8, y + 14, Canvas::Anchor::kEnd, "", fitted(ranges.names[i], kMostName));
    if (!(range.low > 0)) continue;
    canvas.rect(x.at(range.low), y + 8, std::max(1.0, x.at(range.high) - x.at(range.low)), 4,
                fill(ranges.colors[i]), ranges.names[i] + ": " + range.text);
    canvas.circle(x.at(range.middle), y + 10, 4.5, fill(ranges.colors[i]),
                  ranges.names[i] + ": " + range.text);
  }
  return {kBarWidth, bottom + 22, ranges.title, "A range with a dot for each label", canvas.body()};
}

std::vector<std::size_t> largest(const std::vector<double>& sizes, std::size_t most) {
  std::vector<std::size_t> places(sizes.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= most) return places;
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  places.resize(most);
  std::ranges::sort(places);
  return places;
}

std::vector<std::size_t> drawn_labels(const ReportBasis& basis, std::size_t most) {
  std::vector<double> bases;
  for (const DecodedLabelStats& label : basis.labels) bases.push_back(static_cast<double>(label.bases));
  return largest(bases, most);
}

std::vector<std::size_t> drawn_tracks(const ReportBasis& basis, std::size_t tracks) {
  if (basis.tracks_are_scores && tracks == basis.num_labels()) return drawn_labels(basis, kMostTracks);
  return largest(std::vector<double>(tracks), kMostTracks);
}

HeatMap map_of_labels(const ReportBasis& basis, const std::string& title) {
  HeatMap map;
  map.title = title;
  map.titled = false;
  map.rows = names_of(basis.model().labels);
  map.row_marks.assign(basis.colors.begin(), basis.colors.end());
  return map;
}

std::string undrawn_labels(const ReportBasis& basis, std::size_t most) {
  if (basis.num_labels() <= most) return {};
  return fmt::format(" Of {} labels the {} with most {} are drawn; the table has all.", basis.num_labels(),
                     most, units().many);
}

std::string undrawn_tracks(const ReportBasis& basis, std::size_t tracks) {
  if (tracks <= kMostTracks) return {};
  const bool by_label = basis.tracks_are_scores && tracks == basis.num_labels();
  return fmt::format(" Of {} tracks {} are drawn; the table has all.", tracks,
                     by_label ? fmt::format("those of the {} labels with most {}", kMostTracks, units().many)
                              : fmt::format("the first {}", kMostTracks));
}

Figure transition_figure(const ReportBasis& basis, const TransitionMap& map,
                         const std::function<TransitionEntry(std::size_t, std::size_t)>& entry) {
  Figure figure;
  figure.name = map.name;
  figure.title = map.title;
  figure.reading = map.reading;
  figure.table.names = {"from", "to"};
  figure.table.names.insert(figure.table.names.end(), map.value_columns.begin(), map.value_columns.end());
  HeatMap picture = map_of_labels(basis, map.map_title);
  picture.columns = picture.rows;
  picture.what = map.what;
  picture.column_title = map.column_title;
  picture.scale = map.scale;
  for (std::size_t from = 0; from < basis.num_labels(); ++from)
    for (std::size_t to = 0; to < basis.num_labels(); ++to) {
      const TransitionEntry one = entry(from, to);
      picture.values.push_back(one.drawn);
      std::vector<Cell>& row = figure.table.rows.emplace_back();
      row = {text_cell(basis.label(from)), text_cell(basis.label(to))};
      row.insert(row.end(), one.cells.begin(), one.cells.end());
    }
  const std::vector<std::size_t> drawn = drawn_labels(basis, kMostRows);
  keep_cells(picture, drawn, drawn);
  figure.reading += undrawn_labels(basis, kMostRows);
  figure.panels = {draw_heat_map(picture)};
  return figure;
}

Histogram probability_panel(const std::string& title, const Rgb& color, const ProbabilityClasses& classes,
                            const std::string& things) {
  Histogram panel;
  panel.title = title;
  panel.color = color;
  panel.subtitle = count_text(std::llround(classes.total)) + " " + things +
                   (classes.mean() ? ", mean " + short_number(*classes.mean()) : "");
  for (std::size_t i = 0; i <= kProbabilityClasses; ++i)
    panel.edges.push_back(static_cast<double>(i) / kProbabilityClasses);
  for (std::size_t i = 0; i < kProbabilityClasses; ++i) {
    panel.shares.push_back(classes.total > 0 ? classes.counts[i] / classes.total : 0);
    panel.tips.push_back(short_number(panel.edges[i]) + " to " + short_number(panel.edges[i + 1]) + ": " +
                         count_text(std::llround(classes.counts[i])) + " " + things + ", " +
                         share_text(panel.shares[i]));
  }
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) panel.ticks.push_back({tick, short_number(tick)});
  return panel;
}

}  // namespace semicrf
