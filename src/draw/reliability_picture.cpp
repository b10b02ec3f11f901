#include "draw/reliability_picture.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "core/counts.h"

namespace semicrf {
namespace {

using Anchor = Canvas::Anchor;

// Pixels; the plot is a square.
constexpr double kLeft = 52, kTop = 34, kSide = 280, kWidth = 352, kHeight = 396;
constexpr int kTicks = 5;  // parts of each axis
struct Look {
  const char* role;
  bool is_square;  // the mark, for those who do not see the colour
};
constexpr std::array<Look, 2> kLooks = {{{"less", false}, {"more", true}}};

double x_of(double predicted) { return kLeft + kSide * predicted; }
double y_of(double observed) { return kTop + kSide * (1 - observed); }

void draw_axes(Canvas& canvas) {
  for (int i = 0; i <= kTicks; ++i) {
    const double at = ratio(i, kTicks);
    canvas.line(x_of(0), y_of(at), x_of(1), y_of(at), "grid");
    canvas.line(x_of(at), y_of(0), x_of(at), y_of(1), "grid");
    canvas.text(x_of(at), y_of(0) + 16, Anchor::kMiddle, "tick", svg_significant(at));
    canvas.text(kLeft - 6, y_of(at) + 4, Anchor::kEnd, "tick", svg_significant(at));
  }
  canvas.line(x_of(0), y_of(0), x_of(1), y_of(0), "axis");
  canvas.line(x_of(0), y_of(0), x_of(0), y_of(1), "axis");
  canvas.line(x_of(0), y_of(0), x_of(1), y_of(1), "axis dashed");
  canvas.text(kLeft + kSide / 2, kTop + kSide + 34, Anchor::kMiddle, "muted",
              "predicted probability (mean of the bin)");
  canvas.upright_text(14, kTop + kSide / 2, Anchor::kMiddle, "muted", "share that happened");
}

void draw_mark(Canvas& canvas, const Look& look, double x, double y, const std::string& tip) {
  const std::string role = "class=\"" + std::string(look.role) + "\"";
  if (look.is_square) {
    canvas.rect(x - 4, y - 4, 8, 8, role, tip);
  } else {
    canvas.circle(x, y, 4.5, role, tip);
  }
}

void draw_points(Canvas& canvas, const Look& look, const ReliabilitySeries& series) {
  const std::string line = std::string(look.role) + "-line";
  SvgPath path;
  for (const ReliabilityBin& bin : series.reliability->bins()) {
    if (bin.count == 0) continue;
    const double x = x_of(*bin.mean_predicted()), y = y_of(*bin.observed());
    if (path.empty()) {
      path.move(x, y);
    } else {
      path.line(x, y);
    }
  }
  canvas.path(path.text(), "class=\"" + line + "\"");
  for (const ReliabilityBin& bin : series.reliability->bins()) {
    if (bin.count == 0) continue;
    const double predicted = *bin.mean_predicted(), observed = *bin.observed();
    canvas.line(x_of(predicted), y_of(bin.observed_lower()), x_of(predicted), y_of(bin.observed_upper()),
                line);
    draw_mark(canvas, look, x_of(predicted), y_of(observed),
              fmt::format("{}: predicted {}, happened {} of {}", series.name, svg_significant(predicted),
                          svg_significant(observed), bin.count));
  }
}

}  // namespace

Drawing draw_reliability(const std::string& title, const std::vector<ReliabilitySeries>& series) {
  std::string description =
      "Share of the events that happened over their predicted probability, with 95 % intervals. Points on "
      "the "
      "dashed diagonal are right.";
  for (const ReliabilitySeries& one : series)
    if (const auto error = one.reliability->calibration_error())
      description += fmt::format(" {}: {} predictions, expected calibration error {}.", one.name,
                                 one.reliability->count(), svg_significant(*error));
  Canvas canvas;
  canvas.text(kLeft, 14, Anchor::kStart, "title", title);
  draw_axes(canvas);
  for (int i = 0; i < count_of(series); ++i) {
    const Look& look = kLooks[i % kLooks.size()];
    draw_points(canvas, look, series[i]);
    const double x = kLeft + i * 150, y = kHeight - 16;
    draw_mark(canvas, look, x + 4, y, series[i].name);
    canvas.text(x + 16, y + 4, Anchor::kStart, "", series[i].name);
  }
  return {kWidth, kHeight, title, description, canvas.body()};
}

std::string reliability_picture(const std::string& title, const std::vector<ReliabilitySeries>& series) {
  return svg_file(draw_reliability(title, series));
}

}  // namespace semicrf
