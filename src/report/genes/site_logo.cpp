#include "report/genes/site_logo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text/text.h"
#include "draw/scale.h"

namespace semicrf {
namespace {

constexpr double kLogoColumn = 12.5, kLogoHeight = 190, kLogoLeft = 34, kLogoTop = 44, kLogoBottom = 38;
constexpr std::array<const char*, 4> kBaseColors{"#109648", "#255c99", "#d98200", "#d62839"};

// Writes the path of a letter into a box, whose corners are (0, 0) and (1, 1), y downwards. Parts that go
// around in the same direction join, one in the other direction is a hole.
struct Pen {
  double x = 0, y = 0, width = 0, height = 0;
  std::string text;

  std::string at(double u, double v) const {
    return svg_pixels(x + u * width) + " " + svg_pixels(y + v * height);
  }
  void polygon(const std::vector<std::pair<double, double>>& points) {
    for (std::size_t i = 0; i < points.size(); ++i)
      text += (i == 0 ? "M" : "L") + at(points[i].first, points[i].second);
    text += "Z";
  }
  void arc(double rx, double ry, bool clockwise, double u, double v) {
    text += "A" + svg_pixels(rx * width) + " " + svg_pixels(ry * height) + " 0 1 " +
            (clockwise ? "1 " : "0 ") + at(u, v);
  }
  // The open ring of C and G.
  void ring() {
    text += "M" + at(0.96, 0.34);
    arc(0.48, 0.5, false, 0.96, 0.66);
    text += "L" + at(0.76, 0.62);
    arc(0.28, 0.36, true, 0.76, 0.38);
    text += "Z";
  }
};

std::string letter_path(std::size_t base, Pen pen) {
  switch (base) {
    case 0:
      pen.polygon({{0, 1}, {0.38, 0}, {0.62, 0}, {1, 1}, {0.78, 1}, {0.7, 0.76}, {0.3, 0.76}, {0.22, 1}});
      pen.polygon({{0.36, 0.59}, {0.64, 0.59}, {0.5, 0.17}});
      break;
    case 1:
      pen.ring();
      break;
    case 2:
      pen.ring();
      pen.polygon({{0.55, 0.66}, {0.8, 0.66}, {0.8, 0.96}, {0.97, 0.96}, {0.97, 0.5}, {0.55, 0.5}});
      break;
    default:
      pen.polygon({{0, 0}, {1, 0}, {1, 0.17}, {0.61, 0.17}, {0.61, 1}, {0.39, 1}, {0.39, 0.17}, {0, 0.17}});
  }
  return pen.text;
}

// Places are numbered as in the literature: 1 is the first base behind the boundary, -1 the one before.
std::string place_number(int offset) { return fmt::format("{}", offset < 0 ? offset : offset + 1); }

std::array<double, 4> shares_of(const std::array<std::int64_t, 4>& counts) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  std::array<double, 4> shares{};
  for (std::size_t b = 0; b < 4 && all > 0; ++b) shares[b] = static_cast<double>(counts[b]) / all;
  return shares;
}

}  // namespace

double site_bits(const std::array<std::int64_t, 4>& counts, const std::array<double, 4>& background) {
  double bits = 0;
  const std::array<double, 4> shares = shares_of(counts);
  for (std::size_t b = 0; b < 4; ++b)
    if (shares[b] > 0 && background[b] > 0) bits += shares[b] * std::log2(shares[b] / background[b]);
  return std::max(0.0, bits);
}

Drawing draw_logo(const std::string& title, const SiteBases& site, const std::array<double, 4>& background,
                  double top) {
  Canvas canvas;
  const double width = kLogoLeft + kLogoColumn * static_cast<double>(site.counts.size()) + 8;
  const double floor = kLogoHeight - kLogoBottom;
  const Scale y{0, top, floor, kLogoTop, false};
  canvas.text(0, 12, Canvas::Anchor::kStart, "title", title);
  canvas.text(0, 28, Canvas::Anchor::kStart, "muted small", count_text(site.sites) + " sites");
  for (const double tick : nice_ticks(0, top, 4)) {
    if (tick > 0) canvas.line(kLogoLeft, y.at(tick), width - 8, y.at(tick), "grid");
    canvas.text(kLogoLeft - 6, y.at(tick) + 4, Canvas::Anchor::kEnd, "tick", short_number(tick));
  }
  canvas.upright_text(10, (kLogoTop + floor) / 2, Canvas::Anchor::kMiddle, "tick", "bits");
  for (std::size_t i = 0; i < site.counts.size(); ++i) {
    const int offset = site.first + static_cast<int>(i);
    const double left = kLogoLeft + kLogoColumn * static_cast<double>(i);
    const std::array<double, 4> shares = shares_of(site.counts[i]);
    const double bits = site_bits(site.counts[i], background);
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return shares[a] < shares[b]; });
    double bottom = floor;
    for (const std::size_t base : order) {
      const double height = (floor - kLogoTop) * shares[base] * bits / top;
      if (height < 0.3) continue;
      bottom -= height;
      canvas.path(
          letter_path(base, {left + 0.5, bottom, kLogoColumn - 1, height, ""}),
          std::string("fill=\"") + kBaseColors[base] + "\"",
          std::string(1, "ACGT"[base]) + " at " + place_number(offset) + ": " + share_text(shares[base]));
    }
    const int place = offset < 0 ? offset : offset + 1;
    if (place == 1 || place % 5 == 0)
      canvas.text(left + kLogoColumn / 2, floor + 15, Canvas::Anchor::kMiddle, "tick", place_number(offset));
  }
  const double boundary = kLogoLeft - kLogoColumn * site.first;
  canvas.line(kLogoLeft, floor, width - 8, floor, "axis");
  canvas.line(boundary, kLogoTop - 6, boundary, floor + 5, "axis dashed");
  canvas.text((kLogoLeft + width - 8) / 2, floor + 31, Canvas::Anchor::kMiddle, "tick",
              "place along the strand");
  return {width, kLogoHeight, title, "A letter for each base, as high as it tells", canvas.body()};
}

}  // namespace semicrf
