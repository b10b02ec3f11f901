// Colours for labels that have none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

// The colour that "#rrggbb" is, hexadecimal digits of either case; nothing where the text is something else.
std::optional<std::array<std::uint8_t, 3>> color_in(std::string_view text);

// Red, green, blue of the label with this index: eight hues that people with any common colour blindness can
// tell apart, then darker, then lighter versions of them; repeats after 24.
std::array<std::uint8_t, 3> palette_color(std::size_t index);

// The colour of each label. One without a colour gets palette_color(its rank among all names in natural
// order): the same labels have the same colours in whatever order a model lists them.
std::vector<std::array<std::uint8_t, 3>> label_colors(const std::vector<Label>& labels);
// label_colors() as "r,g,b" for BED.
std::vector<std::string> color_columns(const std::vector<Label>& labels);

}  // namespace semicrf
