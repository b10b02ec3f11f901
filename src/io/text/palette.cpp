#include "io/text/palette.h"

#include <fmt/format.h>

#include "core/text/names.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

using Color = std::array<std::uint8_t, 3>;

// The hues that Okabe and Ito chose to stay distinct under every common colour blindness; yellow is late
// because it is faint on white.
constexpr std::array<Color, 8> kHues = {{{0, 114, 178},
                                         {213, 94, 0},
                                         {0, 158, 115},
                                         {204, 121, 167},
                                         {86, 180, 233},
                                         {230, 159, 0},
                                         {240, 228, 66},
                                         {102, 102, 102}}};

constexpr Color darker(Color color) {
  for (auto& channel : color) channel = static_cast<std::uint8_t>(channel * 55 / 100);
  return color;
}

constexpr Color lighter(Color color) {
  for (auto& channel : color) channel = static_cast<std::uint8_t>(255 - (255 - channel) * 45 / 100);
  return color;
}

int hex_digit(char c) {
  const char digit = lower(c);
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::optional<Color> color_in(std::string_view text) {
  if (text.size() != 7 || text[0] != '#') return std::nullopt;
  Color color{};
  for (std::size_t i = 0; i < 3; ++i) {
    const int high = hex_digit(text[1 + 2 * i]), low = hex_digit(text[2 + 2 * i]);
    if (high < 0 || low < 0) return std::nullopt;
    color[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return color;
}

Color palette_color(std::size_t index) {
  const Color hue = kHues[index % kHues.size()];
  switch (index / kHues.size() % 3) {
    case 1:
      return darker(hue);
    case 2:
      return lighter(hue);
    default:
      return hue;
  }
}

std::vector<std::array<std::uint8_t, 3>> label_colors(const std::vector<Label>& labels) {
  const std::vector<std::size_t> ranks = natural_ranks(names_of(labels));
  std::vector<Color> colors;
  colors.reserve(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    colors.push_back(labels[i].color.value_or(palette_color(ranks[i])));
  return colors;
}

std::vector<std::string> color_columns(const std::vector<Label>& labels) {
  std::vector<std::string> columns;
  for (const Color& color : label_colors(labels))
    columns.push_back(fmt::format("{},{},{}", color[0], color[1], color[2]));
  return columns;
}

}  // namespace semicrf
