#include "draw/svg.h"

#include <cmath>

#include "core/text/text.h"
#include "draw/theme.h"

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

}  // namespace

std::string svg_pixels(double value) {
  std::string result = formatted("%.2f", value);
  while (result.back() == '0') result.pop_back();
  if (result.back() == '.') result.pop_back();
  return result == "-0" ? "0" : result;
}

std::string svg_significant(double value) { return formatted("%.4g", value); }

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

}  // namespace semicrf
