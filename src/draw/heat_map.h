// A table of numbers as a picture.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "draw/svg.h"

namespace semicrf {

enum class HeatScale {
  kColumn,  // every column by itself, from 0 to its largest value
  kCommon,  // all columns, from 0 to the largest value
  kLog,  // log2 of the value, all columns: 1 has no colour, the farthest from it on either side full colour
  kSigned,        // all columns: 0 has no colour, the largest magnitude full colour of its sign
  kSignedColumn,  // every column by itself, as kSigned
};

// Columns that belong together, with a name over them and a gap between them.
struct ColumnGroup {
  std::string name;
  std::size_t columns = 0;
};

struct HeatMap {
  std::string title;          // written into the picture where `titled`
  std::string what = "fold";  // the name of a value
  std::string column_title, row_title;
  std::vector<std::string> rows, columns;
  std::vector<std::optional<double>> values;  // (rows, columns) row-major; nothing: grey
  HeatScale scale = HeatScale::kColumn;
  std::vector<ColumnGroup> groups;            // groups of all columns; or empty
  std::vector<std::optional<Rgb>> row_marks;  // a colour beside each row; or empty
  std::optional<double> largest;              // a full colour, shared with other maps; nothing: of this one
  bool titled = true;
};

// Leaves these rows and columns, in this order, and their row marks. Without groups.
void keep_cells(HeatMap& map, const std::vector<std::size_t>& rows, const std::vector<std::size_t>& columns);

// A cell per value with its number, or without numbers where there are more than 12 columns; a legend that
// says how colours go with values; a text for those who do not see it. Of more than 1,000 cells those of one
// colour, in steps of a fiftieth, are one path without texts under the pointer. Same table, same bytes.
Drawing draw_heat_map(const HeatMap& map);
std::string heat_map_picture(const HeatMap& map);  // the file

}  // namespace semicrf
