// A table of folds as a picture.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace semicrf {

enum class HeatScale {
  kColumn,  // of every column from 0 to its largest fold
  kCommon,  // of all from 0 to the largest
  kLog,     // log2 of the fold, of all: 1 is white, the farthest from it on either side full colour
};

struct HeatMap {
  std::string title;
  std::string column_title;
  std::vector<std::string> rows, columns;
  std::vector<std::optional<double>> folds;  // (rows, columns) row-major; nothing: grey
  HeatScale scale = HeatScale::kColumn;
};

// SVG: a cell per fold with its number, or without numbers where there are more than 12 columns; a legend
// that says how colours go with folds; a text for those who do not see it. Same table, same bytes.
std::string heat_map_picture(const HeatMap& map);

}  // namespace semicrf
