// Colours for labels that have none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace semicrf {

// Red, green, blue of the label with this index: eight hues that people with any common colour blindness can
// tell apart, then darker, then lighter versions of them; repeats after 24.
std::array<std::uint8_t, 3> palette_color(std::size_t index);

}  // namespace semicrf
