// Pieces of SVG that pictures share. The same numbers give the same text.
//
// A picture names the role of what it draws ("axis", "grid", "muted"; theme_variables) and not a colour, so
// that it is read on light and on dark backgrounds. Only labels have colours of their own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/utf8.h"

namespace semicrf {

using Rgb = std::array<std::uint8_t, 3>;

// A length in pixels, with at most two decimals.
std::string svg_pixels(double value);
// A value, with four significant digits.
std::string svg_significant(double value);
// Black or white: whichever is read better on `color`.
const char* ink_on(const Rgb& color);

// The attribute d of a path.
class SvgPath {
 public:
  void move(double x, double y) { add('M', x, y); }
  void line(double x, double y) { add('L', x, y); }
  void across(double x) { add('H', x); }  // to this x, at the same height
  void upright(double y) { add('V', y); }
  void close() { text_ += 'Z'; }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  void add(char command, double value);
  void add(char command, double x, double y);

  std::string text_;
};

// What is drawn, in pixels from the top left corner.
class Canvas {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };

  // `role`: a role of picture_styles.
  void line(double x1, double y1, double x2, double y2, std::string_view role);
  // `attributes`: such as class="mark" fill="#ff0000"; a `tip` is shown under the pointer.
  void rect(double x, double y, double width, double height, std::string_view attributes,
            std::string_view tip = {});
  void circle(double x, double y, double radius, std::string_view attributes, std::string_view tip = {});
  // `path`: the attribute d.
  void path(std::string_view path, std::string_view attributes, std::string_view tip = {});
  // The baseline of the text is at y.
  void text(double x, double y, Anchor anchor, std::string_view role, std::string_view text,
            std::string_view more = {});
  // Turned by 90 degrees to the left; (x, y) is where it starts (or its middle), at its baseline.
  void upright_text(double x, double y, Anchor anchor, std::string_view role, std::string_view text);

  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

// A finished picture.
struct Drawing {
  double width = 0, height = 0;  // pixels
  std::string title;
  std::string description;  // for those who do not see it
  std::string body;
};

// A file of its own, with the styles.
std::string svg_file(const Drawing& drawing);
// An element of a page that has the styles (picture_styles).
std::string svg_element(const Drawing& drawing);

// Colours of pages and pictures, by role, on light and on dark backgrounds and on paper.
//
// Roles of shapes: axis, grid (lines); track (an area), model (a line), mark (a label's colour with an edge),
// more and less (cells of a heat map: their opacity says how much), nothing (a cell without a value), paper.
// Roles of text: none (ordinary), muted, value (a number of the table), title, tick. All texts have a
// contrast of at least 4.5 to their background (WCAG 2, AA), axes and lines of models one of 3.

// CSS: the variables of both themes, of the root element.
std::string theme_variables();
// CSS: what roles look like in a picture.
std::string picture_styles();

// Opacity of a full cell of a heat map, with which its number is read on both backgrounds.
inline constexpr double kFullCell = 0.8;

// How much room text takes, without a font: an upper bound for the usual sans-serif ones.
// Pixels of `text` (UTF-8) at a font size of `size` pixels: the widths of DejaVu Sans, which is the widest of
// the fonts that system-ui stands for.
double text_width(std::string_view text, double size = 12);

// `text` if it fits into `width` pixels, else its beginning and an ellipsis; empty where not even that fits.
std::string fitted(std::string_view text, double width, double size = 12);

}  // namespace semicrf
