// Charts that several sections draw.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "draw/heat_map.h"
#include "draw/scale.h"
#include "draw/svg.h"
#include "report/blocks.h"
#include "report/data/basis.h"
#include "report/data/certainty.h"

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
// Bars over classes of probabilities. `things`: what is counted, for the texts. `top` is left to the caller.
Histogram probability_panel(const std::string& title, const Rgb& color, const ProbabilityClasses& classes,
                            const std::string& things);

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

// What is drawn where there are many labels or tracks: a picture that nobody can read helps nobody. Tables
// have all.
inline constexpr std::size_t kMostPanels = 30;  // panels of a figure with a panel by label
inline constexpr std::size_t kMostRows = 100;   // rows of a heat map with a row by label
inline constexpr std::size_t kMostTracks = 40;

// The places of the `most` largest of these, in their order; of equals the first.
std::vector<std::size_t> largest(const std::vector<double>& sizes, std::size_t most);

// The labels with most bases, in the order of the model.
std::vector<std::size_t> drawn_labels(const ReportBasis& basis, std::size_t most);
// The tracks that are drawn out of `tracks`: the first ones; or, where they are scores of labels, those of
// the labels with most bases.
std::vector<std::size_t> drawn_tracks(const ReportBasis& basis, std::size_t tracks);

// A heat map with a row for each label, for a figure that says its title itself.
HeatMap map_of_labels(const ReportBasis& basis, const std::string& title);
// Says so behind the text of a figure; nothing where all are drawn.
std::string undrawn_labels(const ReportBasis& basis, std::size_t most);
std::string undrawn_tracks(const ReportBasis& basis, std::size_t tracks);

// Labels against the labels that follow them: a heat map and its table, of what was seen and of what the
// model says.
struct TransitionMap {
  std::string name, title, reading;  // texts of the figure
  std::string map_title, what;       // texts about the map and its values
  std::string column_title;          // what the labels at the top are
  HeatScale scale = HeatScale::kCommon;
  std::vector<std::string> value_columns;  // columns of the table, after "from" and "to"
};

// What is known of one label after another.
struct TransitionEntry {
  std::optional<double> drawn;  // nothing: grey
  std::vector<Cell> cells;      // cells of value_columns
};

// Labels of `basis` in its order; `entry(from, to)` is asked row by row.
Figure transition_figure(const ReportBasis& basis, const TransitionMap& map,
                         const std::function<TransitionEntry(std::size_t, std::size_t)>& entry);

}  // namespace semicrf
