// Charts that several sections draw.
#pragma once

#include <string>
#include <vector>

#include "draw/scale.h"
#include "draw/svg.h"

namespace semicrf {

struct Tick {
  double at = 0;
  std::string text;
};

// Bars over classes of numbers, and a line over the same classes.
struct Histogram {
  std::string title, subtitle;
  Rgb color{};
  Scale x;                        // its pixels are set by the drawing
  std::vector<double> edges;      // edges of the classes
  std::vector<double> shares;     // height of each class's bar
  std::vector<std::string> tips;  // a text for each class
  std::vector<double> line;       // a point for each class; empty: none
  double top = 1;                 // the number at the upper end
  std::vector<Tick> ticks;        // ticks of x; those without room are left out
  std::string x_title;
  double limit = 0;  // a dashed line, with a K over it; 0: none
};
Drawing draw_histogram(const Histogram& histogram);

// Bars, one below the other, each with its number behind it.
struct Bars {
  std::string title;
  std::vector<std::string> names;
  std::vector<Rgb> colors;
  std::vector<double> values;
  std::vector<std::string> texts;
};
Drawing draw_bars(const Bars& bars);

// A range and a dot on a logarithmic axis, one below the other.
struct Ranges {
  std::string title;
  std::vector<std::string> names;
  std::vector<Rgb> colors;
  struct Range {
    double low = 0, middle = 0, high = 0;  // 0: there is none
    std::string text;
  };
  std::vector<Range> ranges;
};
Drawing draw_ranges(const Ranges& ranges);

// Those of the ticks, from left to right, whose texts keep a distance from each other within [low, high]
// pixels.
std::vector<Tick> ticks_with_room(const std::vector<Tick>& ticks, const Scale& scale, double low,
                                  double high);
// Round lengths in bases on a logarithmic axis.
std::vector<Tick> length_ticks(double low, double high);

}  // namespace semicrf
