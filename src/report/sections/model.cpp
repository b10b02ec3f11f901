// What the model that made the segments consists of.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/text.h"
#include "draw/heat_map.h"
#include "draw/scale.h"
#include "model/scores/centering.h"
#include "report/sections/charts.h"
#include "report/sections/sections.h"

namespace semicrf {
namespace {

// A finite score; nothing for one that forbids.
std::optional<double> finite(double score) {
  return std::isfinite(score) ? std::optional(score) : std::nullopt;
}

TableBlock parameter_table(const ReportBasis& basis) {
  const Parameters& model = basis.model();
  const double bin = static_cast<double>(model.bin_size);
  TableBlock block{"model-labels", "Durations and constant scores", {}};
  block.table.names = {"label",     "shortest", "most_likely", "mean", "tail_q",
                       "tail_mass", "bias",     "start",       "end"};
  block.table.headings = {"Label",   "Shortest allowed", "Most likely length",  "Mean length",       "Tail q",
                          "In tail", "Emission bias",    "First-segment score", "Last-segment score"};
  for (int c = 0; c < model.num_labels(); ++c) {
    const std::size_t i = c;
    const DurationSummary durations = summarize_durations(model.chain, c);
    const double log_q = model.chain.has_tail() ? model.chain.log_tail[i] : kNegativeInfinity;
    std::vector<Cell>& row = block.table.rows.emplace_back();
    row.push_back(text_cell(basis.label(i)));
    row.back().color = basis.colors[i];
    if (durations.shortest > 0) {
      row.push_back(bases_cell(durations.shortest * bin));
      row.push_back(bases_cell(durations.most_likely * bin));
      row.push_back(bases_cell(durations.mean * bin));
    } else {
      row.resize(4, number_cell({}));
    }
    row.push_back(number_cell(log_q == kNegativeInfinity ? std::nullopt : std::optional(std::exp(log_q))));
    row.push_back(share_cell(log_q == kNegativeInfinity ? std::nullopt : std::optional(durations.tail_mass)));
    row.push_back(number_cell(model.emission ? std::optional(model.emission->bias[i]) : std::nullopt));
    row.push_back(number_cell(model.chain.start_scores[i]));
    row.push_back(number_cell(model.chain.end_scores[i]));
  }
  return block;
}

Figure weight_figure(const ReportBasis& basis) {
  const Parameters& model = basis.model();
  Figure figure;
  figure.name = "weights";
  figure.title = "Emission weights";
  figure.reading =
      "How much one unit of a track speaks for (orange) or against (blue) a label in a bin; compare within a "
      "column before you compare across tracks.";
  HeatMap map = map_of_labels(basis, figure.title);
  map.what = "weight";
  map.scale = HeatScale::kSigned;
  figure.table.names = {"label", "track", "weight"};
  for (const Track& track : model.tracks) map.columns.push_back(track.name);
  for (std::size_t c = 0; c < basis.num_labels(); ++c)
    for (std::size_t f = 0; f < model.tracks.size(); ++f) {
      map.values.emplace_back(model.emission->weights[c * model.tracks.size() + f]);
      figure.table.rows.push_back(
          {text_cell(basis.label(c)), text_cell(model.tracks[f].name), number_cell(map.values.back())});
    }
  keep_cells(map, drawn_labels(basis, kMostRows), drawn_tracks(basis, model.tracks.size()));
  figure.reading += undrawn_labels(basis, kMostRows) + undrawn_tracks(basis, model.tracks.size());
  figure.panels = {draw_heat_map(map)};
  return figure;
}

// Rows: tracks; columns: offsets, of starts and of ends.
HeatMap boundary_map(const ReportBasis& basis, std::size_t c, Table& table) {
  const BoundaryHead& head = *basis.model().boundary;
  const std::size_t tracks = basis.model().tracks.size();
  HeatMap map;
  map.title = basis.label(c);
  map.what = "weight";
  map.scale = HeatScale::kSigned;
  for (const Track& track : basis.model().tracks) map.rows.push_back(track.name);
  const std::size_t offsets = head.last - head.first + 1;
  std::vector<std::pair<std::string, const std::vector<double>*>> sides;
  if (!head.start_weights.empty()) sides.emplace_back("start", &head.start_weights);
  if (!head.end_weights.empty()) sides.emplace_back("end", &head.end_weights);
  for (const auto& [side, weights] : sides) {
    map.groups.push_back({side, offsets});
    for (std::size_t o = 0; o < offsets; ++o) {
      const int offset = head.first + static_cast<int>(o);
      map.columns.push_back(fmt::format("{}", offset));
      if (offset > 0) map.columns.back().insert(map.columns.back().begin(), '+');
    }
  }
  for (std::size_t f = 0; f < tracks; ++f)
    for (const auto& [side, weights] : sides)
      for (std::size_t o = 0; o < offsets; ++o) {
        map.values.emplace_back((*weights)[(c * offsets + o) * tracks + f]);
        table.rows.push_back({text_cell(basis.label(c)), text_cell(side),
                              integer_cell(head.first + static_cast<int>(o)),
                              text_cell(basis.model().tracks[f].name), number_cell(map.values.back())});
      }
  return map;
}

Figure boundary_figure(const ReportBasis& basis) {
  Figure figure;
  figure.name = "boundary-weights";
  figure.title = "Boundary weights";
  figure.reading =
      "How much a track speaks for a segment of the label to start or to end at a bin, by the distance in "
      "bins from the segment's first or last bin (0). All labels share one colour scale.";
  figure.table.names = {"label", "side", "offset", "track", "weight"};
  std::vector<HeatMap> maps;
  double most = 0;
  for (std::size_t c = 0; c < basis.num_labels(); ++c) {
    maps.push_back(boundary_map(basis, c, figure.table));
    for (const std::optional<double>& value : maps.back().values) most = std::max(most, std::fabs(*value));
  }
  for (const std::size_t c : drawn_labels(basis, kMostPanels)) {
    maps[c].largest = most > 0 ? most : 1;
    figure.panels.push_back(draw_heat_map(maps[c]));
  }
  figure.reading += undrawn_labels(basis, kMostPanels);
  return figure;
}

Figure score_transition_figure(const ReportBasis& basis) {
  const TransitionMap map{.name = "transitions",
                          .title = "Transition scores",
                          .reading =
                              "What the model adds when a segment of the label above follows one of the "
                              "label on the left, in natural "
                              "logarithms; differences within a row count. Grey: it never happens.",
                          .map_title = "Transition scores",
                          .what = "score",
                          .column_title = "to",
                          .scale = HeatScale::kSigned,
                          .value_columns = {"score"}};
  return transition_figure(basis, map, [&](std::size_t from, std::size_t to) {
    const double score = basis.model().chain.transition_at(static_cast<int>(from), static_cast<int>(to));
    return TransitionEntry{finite(score), {number_cell(score)}};
  });
}

std::string description(const Parameters& model) {
  return fmt::format(
      "The model has {} labels, bins of {}, and scores for lengths up to K = {} bins ({}){} Scores are added "
      "up along a segmentation; the one with the largest sum is the most probable. Lengths in this table are "
      "those of the duration scores alone.",
      model.num_labels(), amount(model.bin_size), count_text(model.chain.max_duration),
      bases_text(static_cast<double>(model.chain.max_duration) * static_cast<double>(model.bin_size)),
      model.chain.has_tail() ? ", with a geometric tail beyond." : ".");
}

}  // namespace

Section model_section(const ReportBasis& basis) {
  const Parameters& model = basis.model();
  Section section{"model", "Model", {}};
  section.add(Paragraph{description(model)});
  section.add(parameter_table(basis));
  if (model.emission) {
    section.add(weight_figure(basis));
  } else {
    section.add(Paragraph{"It has no emission weights: the inputs are scores of the labels themselves."});
  }
  if (model.boundary && (!model.boundary->start_weights.empty() || !model.boundary->end_weights.empty()))
    section.add(boundary_figure(basis));
  section.add(score_transition_figure(basis));
  return section;
}

}  // namespace semicrf
