// Labels against the labels that follow them: a heat map and its table, of what was seen and of what the
// model says.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "draw/heat_map.h"
#include "report/blocks.h"
#include "report/data/basis.h"

namespace semicrf {

struct TransitionMap {
  std::string name, title, reading;  // texts of the figure
  std::string map_title, what;       // texts about the map and its values
  std::string column_title;          // what the labels at the top are
  HeatScale scale = HeatScale::kCommon;
  std::vector<std::string> value_columns;  // columns of the table, after "from" and "to"
};

// What is known of one label after another.
struct TransitionEntry {
  std::optional<double> drawn;  // nothing: grey
  std::vector<Cell> cells;      // cells of value_columns
};

// Labels of `basis` in its order; `entry(from, to)` is asked row by row.
Figure transition_figure(const ReportBasis& basis, const TransitionMap& map,
                         const std::function<TransitionEntry(std::size_t, std::size_t)>& entry);

}  // namespace semicrf
