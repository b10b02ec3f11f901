#include "report/sections/transition_map.h"

#include "report/sections/drawn.h"

namespace semicrf {

Figure transition_figure(const ReportBasis& basis, const TransitionMap& map,
                         const std::function<TransitionEntry(std::size_t, std::size_t)>& entry) {
  Figure figure;
  figure.name = map.name;
  figure.title = map.title;
  figure.reading = map.reading;
  figure.table.names = {"from", "to"};
  figure.table.names.insert(figure.table.names.end(), map.value_columns.begin(), map.value_columns.end());
  HeatMap picture = map_of_labels(basis, map.map_title);
  picture.columns = picture.rows;
  picture.what = map.what;
  picture.column_title = map.column_title;
  picture.scale = map.scale;
  for (std::size_t from = 0; from < basis.num_labels(); ++from)
    for (std::size_t to = 0; to < basis.num_labels(); ++to) {
      const TransitionEntry one = entry(from, to);
      picture.values.push_back(one.drawn);
      std::vector<Cell>& row = figure.table.rows.emplace_back();
      row = {text_cell(basis.label(from)), text_cell(basis.label(to))};
      row.insert(row.end(), one.cells.begin(), one.cells.end());
    }
  const std::vector<std::size_t> drawn = drawn_labels(basis, kMostRows);
  keep_cells(picture, drawn, drawn);
  figure.reading += undrawn_labels(basis, kMostRows);
  figure.panels = {draw_heat_map(picture)};
  return figure;
}

}  // namespace semicrf
