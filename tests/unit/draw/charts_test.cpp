// Charts of the report: classes, and texts that keep apart.
#include "report/sections/charts.h"

#include <cmath>

#include "draw/scale.h"
#include "report/blocks.h"
#include "report/data/certainty.h"
#include "support/catch.h"
#include "support/svg_texts.h"

namespace semicrf {
namespace {

TEST_CASE("probabilities are put into their classes") {
  ProbabilityClasses classes;
  for (const double p : {0.0, 0.049, 0.05, 0.5, 0.999, 1.0}) classes.add(p, 2);
  CHECK(classes.counts[0] == 4);
  CHECK(classes.counts[1] == 2);
  CHECK(classes.counts[10] == 2);
  CHECK(classes.counts[19] == 4);
  CHECK(classes.total == 12);
  CHECK(std::fabs(*classes.mean() - 2.598 / 6) < 1e-12);
  CHECK(!ProbabilityClasses().mean());
  CHECK(event_entropy(0.5) == 1);
  CHECK(event_entropy(0) == 0);
}

TEST_CASE("no two texts of a histogram touch, whatever the lengths") {
  for (const double last : {3.0, 40.0, 1e3, 1e5, 3e8}) {
    Histogram panel;
    panel.title = "a label whose name is much longer than the panel is wide, by far";
    panel.subtitle = "123,456,789 segments, median 123 kb, and more words than there is room for";
    panel.x = {1, last, 0, 1, true};
    panel.edges = {1, std::sqrt(last), last};
    panel.shares = {0.25, 0.75};
    panel.tips = {"a", "b"};
    panel.ticks = length_ticks(1, last);
    panel.x_title = "length of segments";
    INFO(last);
    CHECK(overlapping_texts(draw_histogram(panel)).empty());
  }
}

TEST_CASE("no two texts of bars and ranges touch") {
  Bars bars;
  Ranges ranges;
  bars.title = "Share of bases";
  ranges.title = "Lengths of segments";
  for (int i = 0; i < 12; ++i) {
    const std::string name =
        i % 2 == 0 ? "E" + std::to_string(i) : "a name that is far too long for this place";
    bars.names.push_back(name);
    bars.colors.push_back({10, 20, 30});
    bars.values.push_back(std::pow(0.3, i));
    bars.texts.push_back(share_text(bars.values.back()));
    ranges.ranges.push_back({200, 600, 200 * std::pow(3.0, i), "text"});
  }
  ranges.names = bars.names;
  ranges.colors = bars.colors;
  CHECK(overlapping_texts(draw_bars(bars)).empty());
  CHECK(overlapping_texts(draw_ranges(ranges)).empty());
}

TEST_CASE("cells have the number of the table and the one for people") {
  Table table;
  table.names = {"label", "bases"};
  table.rows = {{text_cell("a\tb<"), bases_cell(1234567)}};
  CHECK(tsv_text(table) == "label\tbases\na\\tb<\t1234567\n");
  const std::string html = html_table(table, "Caption");
  CHECK(html.find("<data value=\"1234567\">1.23 Mb</data>") != std::string::npos);
  CHECK(html.find("a\\tb&lt;") != std::string::npos);
  CHECK(number_cell(-INFINITY).value == "-inf");
  CHECK(number_cell({}).value == ".");
}

}  // namespace
}  // namespace semicrf
