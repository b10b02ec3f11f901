#include "draw/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "core/text/text.h"

namespace semicrf {
namespace {

std::string closed(std::string_view name, std::string_view tip) {
  if (tip.empty()) return "/>\n";
  return "><title>" + markup_escaped(tip) + "</title></" + std::string(name) + ">\n";
}

std::string role_attribute(std::string_view role) {
  return role.empty() ? std::string() : " class=\"" + std::string(role) + "\"";
}

const char* anchor_attribute(Canvas::Anchor anchor) {
  switch (anchor) {
    case Canvas::Anchor::kMiddle:
      return " text-anchor=\"middle\"";
    case Canvas::Anchor::kEnd:
      return " text-anchor=\"end\"";
    default:
      return "";
  }
}

// The relative luminance of an sRGB colour, 0 to 1 (WCAG 2).
double luminance(const Rgb& color) {
  constexpr std::array<double, 3> kWeights{0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (std::size_t i = 0; i < color.size(); ++i) {
    const double share = color[i] / 255.0;
    sum += kWeights[i] * (share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
  }
  return sum;
}

std::string box(const Drawing& drawing) {
  return "viewBox=\"0 0 " + svg_pixels(drawing.width) + " " + svg_pixels(drawing.height) + "\" width=\"" +
         svg_pixels(drawing.width) + "\" height=\"" + svg_pixels(drawing.height) + "\" role=\"img\"";
}

constexpr const char* kLight =
    "--paper:#fff;--ink:#1b1f24;--muted:#57606a;--axis:#868e96;--grid:#e6e8eb;--track:#5b7083;--model:#"
    "1b1f24;"
    "--shade:#0003;--edge:#0006;--nothing:#d0d4d8;--more:#c25e00;--less:#2274b8;--wash:#f5f6f7;--link:#"
    "0b5cad;--notice:#"
    "7a4b00;";
constexpr const char* kDark =
    "--paper:#15181c;--ink:#e8eaed;--muted:#a8b0b9;--axis:#737b84;--grid:#2a2f35;--track:#8ea3b6;--model:#"
    "e8eaed;"
    "--shade:#fff3;--edge:#fff7;--nothing:#3b4148;--more:#c25e00;--less:#2274b8;--wash:#1d2126;--link:#"
    "7db7f0;--notice:#"
    "f0c060;";

// Thousandths of the font size, of the characters from blank to ~.
constexpr std::array<int, 95> kWidths{
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr int kOther = 700;  // accented letters, Greek, Cyrillic
constexpr int kWide = 1000;  // characters of three and four bytes
constexpr const char* kEllipsis = "\xe2\x80\xa6";

int width_of(unsigned char first) {
  if (first >= 0x20 && first < 0x7f) return kWidths[first - 0x20U];
  if (first < 0x20 || first == 0x7f) return kWidths[0];  // shown as a blank
  if (first < 0xc0) return 0;                            // inside of a character
  return first < 0xe0 ? kOther : kWide;
}

}  // namespace

std::string svg_pixels(double value) {
  std::string result = fmt::format("{:.2f}", value);
  while (result.back() == '0') result.pop_back();
  if (result.back() == '.') result.pop_back();
  return result == "-0" ? "0" : result;
}

std::string svg_significant(double value) { return fmt::format("{:.4g}", value); }

const char* ink_on(const Rgb& color) { return luminance(color) > 0.18 ? "#000" : "#fff"; }

void SvgPath::add(char command, double value) {
  text_ += command;
  text_ += svg_pixels(value);
}

void SvgPath::add(char command, double x, double y) {
  add(command, x);
  text_ += ' ';
  text_ += svg_pixels(y);
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view role) {
  SvgPath path;
  path.move(x1, y1);
  if (y1 == y2) {
    path.across(x2);
  } else if (x1 == x2) {
    path.upright(y2);
  } else {
    path.line(x2, y2);
  }
  body_ += "<path class=\"" + std::string(role) + "\" d=\"" + path.text() + "\"/>\n";
}

void Canvas::rect(double x, double y, double width, double height, std::string_view attributes,
                  std::string_view tip) {
  body_ += "<rect x=\"" + svg_pixels(x) + "\" y=\"" + svg_pixels(y) + "\" width=\"" + svg_pixels(width) +
           "\" height=\"" + svg_pixels(height) + "\" " + std::string(attributes) + closed("rect", tip);
}

void Canvas::circle(double x, double y, double radius, std::string_view attributes, std::string_view tip) {
  body_ += "<circle cx=\"" + svg_pixels(x) + "\" cy=\"" + svg_pixels(y) + "\" r=\"" + svg_pixels(radius) +
           "\" " + std::string(attributes) + closed("circle", tip);
}

void Canvas::path(std::string_view path, std::string_view attributes, std::string_view tip) {
  body_ += "<path d=\"" + std::string(path) + "\" " + std::string(attributes) + closed("path", tip);
}

void Canvas::text(double x, double y, Anchor anchor, std::string_view role, std::string_view text,
                  std::string_view more) {
  body_ += "<text x=\"" + svg_pixels(x) + "\" y=\"" + svg_pixels(y) + "\"" + anchor_attribute(anchor) +
           role_attribute(role);
  if (!more.empty()) body_ += ' ';
  body_ += more;
  body_ += '>';
  body_ += markup_escaped(text) + "</text>\n";
}

void Canvas::upright_text(double x, double y, Anchor anchor, std::string_view role, std::string_view text) {
  body_ += "<text transform=\"translate(" + svg_pixels(x) + " " + svg_pixels(y) + ") rotate(-90)\"" +
           anchor_attribute(anchor) + role_attribute(role);
  body_ += '>';
  body_ += markup_escaped(text) + "</text>\n";
}

std::string svg_file(const Drawing& drawing) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + box(drawing) +
         " aria-labelledby=\"title description\" class=\"picture\">\n<title id=\"title\">" +
         markup_escaped(drawing.title) + "</title>\n<desc id=\"description\">" +
         markup_escaped(drawing.description) + "</desc>\n<style>" + theme_variables() + picture_styles() +
         "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" + drawing.body + "</svg>\n";
}

std::string svg_element(const Drawing& drawing) {
  return "<svg " + box(drawing) + " class=\"picture\" aria-label=\"" +
         markup_escaped(drawing.title + ". " + drawing.description) + "\">\n" + drawing.body + "</svg>\n";
}

std::string theme_variables() {
  return std::string(":root{color-scheme:light dark;") + kLight +
         "}@media screen and (prefers-color-scheme:dark){:root{" + kDark + "}}";
}

std::string picture_styles() {
  return ".picture{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu "
         "Sans\",sans-serif;fill:var(--ink)}"
         ".picture .muted,.picture .tick{fill:var(--muted)}.picture .tick{font-size:11px}"
         ".picture .value{font-variant-numeric:tabular-nums}.picture .title{font-weight:600}"
         ".picture .small{font-size:11px}"
         ".picture .axis{stroke:var(--axis);fill:none}.picture .grid{stroke:var(--grid);fill:none}"
         ".picture .track{fill:var(--track)}.picture .model{stroke:var(--model);stroke-width:1.5;fill:none;"
         "stroke-linejoin:round}.picture .mark{stroke:var(--edge);stroke-width:.5}"
         ".picture .more{fill:var(--more)}.picture .less{fill:var(--less)}.picture "
         ".nothing{fill:var(--nothing)}"
         ".picture .paper{fill:var(--paper)}.picture .cell{stroke:var(--grid);stroke-width:1}"
         ".picture .dashed{stroke-dasharray:5 4}"
         ".picture .more-line{stroke:var(--more);fill:none;stroke-width:1.5}"
         ".picture .less-line{stroke:var(--less);fill:none;stroke-width:1.5}";
}

double text_width(std::string_view text, double size) {
  int sum = 0;
  for (const unsigned char c : text) sum += width_of(c);
  return sum * size / 1000;
}

std::string fitted(std::string_view text, double width, double size) {
  if (text_width(text, size) <= width) return std::string(text);
  const double room = width - text_width(kEllipsis, size);
  double used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    std::size_t next = end + 1;  // where the next character begins
    while (next < text.size() && (text[next] & 0xc0) == 0x80) ++next;
    used += width_of(text[end]) * size / 1000;
    if (used > room) break;
    end = next;
  }
  return end == 0 ? std::string() : std::string(text.substr(0, end)) + kEllipsis;
}

}  // namespace semicrf
