#include "io/text/reliability_picture.h"

#include <array>
#include <cstddef>
#include <initializer_list>

#include "io/text/svg.h"

namespace semicrf {
namespace {

// Pixels; the plot is a square.
constexpr double kLeft = 64, kTop = 40, kSide = 320, kWidth = 420, kHeight = 448;
constexpr int kTicks = 5;  // parts of each axis
struct Look {
  const char* colour;
  bool is_square;  // the mark, for those who do not see the colour
};
constexpr std::array<Look, 2> kLooks = {{{"#1f78c8", false}, {"#c8601a", true}}};

std::string x_of(double predicted) { return svg_pixels(kLeft + kSide * predicted); }
std::string y_of(double observed) { return svg_pixels(kTop + kSide * (1 - observed)); }

std::string line(const std::string& x1, const std::string& y1, const std::string& x2, const std::string& y2,
                 const std::string& style) {
  return "<line x1=\"" + x1 + "\" y1=\"" + y1 + "\" x2=\"" + x2 + "\" y2=\"" + y2 + "\" " + style + "/>\n";
}

std::string axes() {
  const std::string ink = "stroke=\"" + std::string(kSvgInk) + "\"";
  std::string svg = "<rect x=\"" + x_of(0) + "\" y=\"" + y_of(1) + "\" width=\"" + svg_pixels(kSide) +
                    "\" height=\"" + svg_pixels(kSide) + "\" fill=\"none\" " + ink + "/>\n";
  svg += line(x_of(0), y_of(0), x_of(1), y_of(1), ink + " stroke-dasharray=\"5 4\"");
  for (int i = 0; i <= kTicks; ++i) {
    const double at = static_cast<double>(i) / kTicks;
    svg += line(x_of(at), svg_pixels(kTop + kSide), x_of(at), svg_pixels(kTop + kSide + 5), ink);
    svg += line(svg_pixels(kLeft - 5), y_of(at), svg_pixels(kLeft), y_of(at), ink);
    svg += svg_text(kLeft + kSide * at, kTop + kSide + 20, "text-anchor=\"middle\"", svg_significant(at));
    svg += svg_text(kLeft - 9, kTop + kSide * (1 - at) + 4, "text-anchor=\"end\"", svg_significant(at));
  }
  svg += svg_text(kLeft + kSide / 2, kTop + kSide + 40, "text-anchor=\"middle\"",
                  "predicted probability (mean of the bin)");
  svg += svg_text(
      0, 0,
      "text-anchor=\"middle\" transform=\"translate(18 " + svg_pixels(kTop + kSide / 2) + ") rotate(-90)\"",
      "share that happened");
  return svg;
}

std::string mark(const Look& look, const std::string& x, const std::string& y, const std::string& tip) {
  const std::string fill =
      "fill=\"" + std::string(look.colour) + "\"><title>" + svg_escaped(tip) + "</title>";
  if (look.is_square)
    return "<rect x=\"-4\" y=\"-4\" width=\"8\" height=\"8\" transform=\"translate(" + x + " " + y + ")\" " +
           fill + "</rect>\n";
  return "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"4.5\" " + fill + "</circle>\n";
}

std::string points(const Look& look, const ReliabilitySeries& series) {
  const std::string stroke = "stroke=\"" + std::string(look.colour) + "\"";
  std::string path, marks;
  for (const ReliabilityBin& bin : series.reliability->bins()) {
    if (bin.count == 0) continue;
    const double predicted = *bin.mean_predicted(), observed = *bin.observed();
    const std::string x = x_of(predicted);
    if (!path.empty()) path += ' ';
    path += x + ',' + y_of(observed);
    marks +=
        line(x, y_of(bin.observed_lower()), x, y_of(bin.observed_upper()), stroke + " stroke-width=\"1.5\"");
    marks += mark(look, x, y_of(observed),
                  series.name + ": predicted " + svg_significant(predicted) + ", happened " +
                      svg_significant(observed) + " of " + std::to_string(bin.count));
  }
  return "<polyline points=\"" + path + "\" fill=\"none\" " + stroke + " stroke-width=\"1.5\"/>\n" + marks;
}

}  // namespace

std::string reliability_picture(const std::string& title, const std::vector<ReliabilitySeries>& series) {
  std::string description =
      "Share of the events that happened over their predicted probability, with 95 % intervals. Points on "
      "the "
      "dashed diagonal are right.";
  for (const ReliabilitySeries& one : series)
    if (const auto error = one.reliability->calibration_error())
      description += ' ' + one.name + ": " + std::to_string(one.reliability->count()) +
                     " predictions, expected calibration error " + svg_significant(*error) + ".";
  std::string svg = svg_begin(kWidth, kHeight, title, description);
  svg += svg_text(kLeft, 24, "font-size=\"14\"", title) + axes();
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Look& look = kLooks[i % kLooks.size()];
    svg += points(look, series[i]);
    const double x = kLeft + static_cast<double>(i) * 170, y = kHeight - 20;
    svg += mark(look, svg_pixels(x + 4), svg_pixels(y), series[i].name) +
           svg_text(x + 16, y + 4, "", series[i].name);
  }
  return svg + "</svg>\n";
}

}  // namespace semicrf
