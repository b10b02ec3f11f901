// How much room text takes, without a font: an upper bound for the usual sans-serif ones.
#pragma once

#include <string>
#include <string_view>

namespace semicrf {

// Pixels of `text` (UTF-8) at a font size of `size` pixels: the widths of DejaVu Sans, which is the widest of
// the fonts that system-ui stands for.
double text_width(std::string_view text, double size = 12);

// `text` if it fits into `width` pixels, else its beginning and an ellipsis; empty where not even that fits.
std::string fitted(std::string_view text, double width, double size = 12);

}  // namespace semicrf
