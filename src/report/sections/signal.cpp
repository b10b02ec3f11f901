// The mean of each track in the segments of each label.
#include <algorithm>

#include "draw/heat_map.h"
#include "report/sections/charts.h"
#include "report/sections/sections.h"

namespace semicrf {

Section signal_section(const ReportBasis& basis, const std::optional<Signal>& signal) {
  Section section{"signal", "Signal", {}};
  if (!signal) {
    section.add(
        Paragraph{"No tracks were given. Name the bigWig or NPY files that were decoded behind the options, "
                  "as for semicrf decode, and this section shows what each label looks like in them."});
    return section;
  }
  Figure figure;
  figure.name = "signal";
  figure.title =
      basis.tracks_are_scores ? "Mean score of each input in each label" : "Mean of each track in each label";
  figure.reading =
      basis.tracks_are_scores
          ? "The inputs are scores of labels: a label should be high in its own column."
          : "The values are those of the files, before any transform, over the bins that have one. A "
            "column tells where a track is high; a row is the pattern by which the label is known.";
  HeatMap map = map_of_labels(basis, figure.title);
  map.what = "mean";
  map.columns = basis.tracks;
  figure.table.names = {"label", "track", "bins", "mean", "deviation"};
  bool below_zero = false;
  for (std::size_t c = 0; c < basis.num_labels(); ++c)
    for (std::size_t f = 0; f < signal->tracks; ++f) {
      const SignalSum& sum = signal->of(c, f);
      map.values.push_back(sum.bins > 0 ? std::optional(sum.mean()) : std::nullopt);
      below_zero = below_zero || map.values.back().value_or(0) < 0;
      figure.table.rows.push_back(
          {text_cell(basis.label(c)), text_cell(basis.tracks[f]), count_cell(sum.bins),
           number_cell(map.values.back()),
           number_cell(sum.bins > 0 ? std::optional(sum.deviation()) : std::nullopt)});
    }
  map.scale = below_zero ? HeatScale::kSignedColumn : HeatScale::kColumn;
  keep_cells(map, drawn_labels(basis, kMostRows), drawn_tracks(basis, signal->tracks));
  figure.reading += undrawn_labels(basis, kMostRows) + undrawn_tracks(basis, signal->tracks);
  figure.panels = {draw_heat_map(map)};
  section.add(std::move(figure));
  return section;
}

}  // namespace semicrf
