// How much more often than by chance labels lie on annotation.
#include <fmt/format.h>

#include "draw/heat_map.h"
#include "draw/scale.h"
#include "report/sections/charts.h"
#include "report/sections/sections.h"

namespace semicrf {

Section enrichment_section(const ReportBasis& basis, const std::vector<Annotation>& annotations) {
  Section section{"enrichment", "Enrichment", {}};
  if (annotations.empty()) {
    section.add(
        Paragraph{"No annotation was given: add --annotation NAME=FILE, a BED file such as of TSS or CpG "
                  "islands, as often as you like, to see which labels lie on it."});
    return section;
  }
  Figure figure;
  figure.name = "enrichment";
  figure.title = "Fold enrichment of annotation in labels";
  figure.reading =
      "How many times more often a base of the label is annotated than any segmented base is: 1 is chance, "
      "orange is more, blue is less. The table has the four counts that each fold is made of.";
  HeatMap map = map_of_labels(basis, figure.title);
  map.scale = HeatScale::kLog;
  std::vector<std::vector<Overlap>> columns;
  for (const Annotation& annotation : annotations) {
    map.columns.push_back(annotation.name);
    columns.push_back(overlaps(basis.segmentation, annotation, {}));
  }
  const StatisticList<Overlap> numbers = overlap_statistics();
  add_columns(numbers, "label", "", figure.table);
  figure.table.headings.clear();  // the figure's table has plain names
  figure.table.names.insert(figure.table.names.begin() + 1, "annotation");
  for (std::size_t c = 0; c < basis.num_labels(); ++c)
    for (std::size_t a = 0; a < annotations.size(); ++a) {
      const Overlap& overlap = columns[a][c];
      map.values.push_back(overlap.fold());
      add_row(numbers, basis.label(c), overlap, figure.table);
      figure.table.rows.back().insert(figure.table.rows.back().begin() + 1, text_cell(annotations[a].name));
    }
  keep_cells(map, drawn_labels(basis, kMostRows),
             largest(std::vector<double>(annotations.size()), kMostTracks));
  figure.reading += undrawn_labels(basis, kMostRows);
  if (annotations.size() > kMostTracks)
    figure.reading += fmt::format(" Of the annotations the first {} are drawn.", kMostTracks);
  figure.panels = {draw_heat_map(map)};
  section.add(std::move(figure));
  return section;
}

}  // namespace semicrf
