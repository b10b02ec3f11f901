// Colours of pages and pictures, by role, on light and on dark backgrounds and on paper.
//
// Roles of shapes: axis, grid (lines); track (an area), model (a line), mark (a label's colour with an edge),
// more and less (cells of a heat map: their opacity says how much), nothing (a cell without a value), paper.
// Roles of text: none (ordinary), muted, value (a number of the table), title, tick. All texts have a
// contrast of at least 4.5 to their background (WCAG 2, AA), axes and lines of models one of 3.
#pragma once

#include <string>

namespace semicrf {

// CSS: the variables of both themes, of the root element.
std::string theme_variables();
// CSS: what roles look like in a picture.
std::string picture_styles();

// Opacity of a full cell of a heat map, with which its number is read on both backgrounds.
inline constexpr double kFullCell = 0.8;

}  // namespace semicrf
