// Where the texts of a picture of ours are, by the widths that drawing goes by.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "draw/svg.h"

namespace semicrf {

struct TextBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  std::string text;
};

// Of texts that are not nested in other coordinates.
inline std::vector<TextBox> text_boxes(const Drawing& drawing) {
  static const std::regex element("<text ([^>]*)>([^<]*)</text>");
  static const std::regex flat("^x=\"([^\"]*)\" y=\"([^\"]*)\"");
  static const std::regex upright("^transform=\"translate\\(([^ ]*) ([^)]*)\\) rotate");
  std::vector<TextBox> boxes;
  for (std::sregex_iterator at(drawing.body.begin(), drawing.body.end(), element), end; at != end; ++at) {
    const std::string attributes = (*at)[1], text = (*at)[2];
    const bool is_small =
        attributes.find("tick") != std::string::npos || attributes.find("small") != std::string::npos;
    const double size = is_small ? 11 : 12, width = text_width(text, size);
    const double shift = attributes.find("\"middle\"") != std::string::npos ? -width / 2
                         : attributes.find("\"end\"") != std::string::npos  ? -width
                                                                            : 0;
    std::smatch place;
    if (std::regex_search(attributes, place, upright)) {
      const double x = std::stod(place[1]), y = std::stod(place[2]);
      boxes.push_back({x - 0.75 * size, y - shift - width, x + 0.2 * size, y - shift, text});
    } else if (std::regex_search(attributes, place, flat)) {
      const double x = std::stod(place[1]), y = std::stod(place[2]);
      boxes.push_back({x + shift, y - 0.75 * size, x + shift + width, y + 0.2 * size, text});
    }
  }
  return boxes;
}

// Pairs of texts that share pixels, and texts that leave the picture.
inline std::vector<std::string> overlapping_texts(const Drawing& drawing) {
  const std::vector<TextBox> boxes = text_boxes(drawing);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const TextBox& a = boxes[i];
    if (a.left < -1 || a.right > drawing.width + 1 || a.top < -2 || a.bottom > drawing.height + 1)
      found.push_back(a.text + " leaves the picture");
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      const TextBox& b = boxes[j];
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        found.push_back(a.text + " | " + b.text);
    }
  }
  return found;
}

}  // namespace semicrf
