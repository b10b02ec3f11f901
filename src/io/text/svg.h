// Pieces of SVG that pictures share. The same numbers give the same text.
#pragma once

#include <cstdio>
#include <string>

namespace semicrf {

// As far from white as from black: read on light and on dark backgrounds.
inline constexpr const char* kSvgInk = "#767676";

// Text without the characters that SVG gives a meaning; control characters become blanks.
inline std::string svg_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

// A length, with two decimals.
inline std::string svg_pixels(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

// A value, with four significant digits.
inline std::string svg_significant(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// `attributes`: such as text-anchor="end".
inline std::string svg_text(double x, double y, const std::string& attributes, const std::string& text) {
  return "<text x=\"" + svg_pixels(x) + "\" y=\"" + svg_pixels(y) + "\" " + attributes + ">" +
         svg_escaped(text) + "</text>\n";
}

// The opening tag and title of a picture; `description` is for those who do not see it.
inline std::string svg_begin(double width, double height, const std::string& title,
                             const std::string& description) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + svg_pixels(width) + " " +
         svg_pixels(height) + "\" width=\"" + svg_pixels(width) + "\" height=\"" + svg_pixels(height) +
         "\" role=\"img\" aria-labelledby=\"title description\" font-family=\"sans-serif\" "
         "font-size=\"12\" fill=\"" +
         kSvgInk + "\">\n<title id=\"title\">" + svg_escaped(title) + "</title>\n<desc id=\"description\">" +
         svg_escaped(description) + "</desc>\n";
}

}  // namespace semicrf
