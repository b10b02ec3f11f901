// The segmentation against a true one.
#include <fmt/format.h>

#include <algorithm>

#include "core/text/text.h"
#include "draw/heat_map.h"
#include "draw/scale.h"
#include "eval/metrics/text_table.h"
#include "report/sections/charts.h"
#include "report/sections/sections.h"

namespace semicrf {
namespace {

TableBlock overall_table(const Evaluation& evaluation) {
  TableBlock block{"evaluation", "Agreement with the truth", {}};
  add_columns(match_statistics(), "of", "", block.table);
  for (const auto& [name, counts] : overall_matches(evaluation))
    add_row(match_statistics(), name, counts, block.table);
  return block;
}

TableBlock label_table(const EvalReport& report) {
  const Evaluation& evaluation = *report.evaluation;
  TableBlock block{"evaluation-labels", "By label", {}};
  add_columns(evaluated_label_statistics(), "label", "Label", block.table);
  for (std::string& heading : block.table.headings) heading = in_units(heading);
  for (std::size_t i = 0; i < evaluation.num_labels(); ++i) {
    const EvaluatedLabel label = evaluation.label(i);
    if (label.bases.truth > 0 || label.bases.predicted > 0)
      add_row(evaluated_label_statistics(), report.labels[i], label, block.table);
  }
  return block;
}

Figure confusion_figure(const EvalReport& report) {
  const Evaluation& evaluation = *report.evaluation;
  Figure figure;
  figure.name = "confusion";
  figure.title = "What became of each true label";
  figure.reading =
      "Each row shares out the " + units().many +
      " of a true label among the labels that were called there. Where both use the same names, the "
      "diagonal is right and the rest is what it is mistaken for.";
  HeatMap map;
  map.title = "Called labels of each true label";
  map.titled = false;
  map.what = "share";
  map.column_title = "called";
  map.row_title = "true";
  map.scale = HeatScale::kCommon;
  figure.table.names = {"truth", "called", "bases", "share"};
  const std::size_t columns = evaluation.num_labels() + 1;
  std::vector<double> truth, called;  // bases of the rows and of the columns
  const auto is_shown = [&](std::size_t j) {
    return j < evaluation.num_labels() ? evaluation.labels[j].bases.predicted > 0 : evaluation.missing() > 0;
  };
  for (std::size_t j = 0; j < columns; ++j)
    if (is_shown(j)) {
      map.columns.push_back(j < evaluation.num_labels() ? report.labels[j] : "(none)");
      called.push_back(static_cast<double>(j < evaluation.num_labels() ? evaluation.labels[j].bases.predicted
                                                                       : evaluation.missing()));
    }
  for (std::size_t i = 0; i < evaluation.num_labels(); ++i) {
    const std::int64_t all = evaluation.labels[i].bases.truth;
    if (all == 0) continue;
    map.rows.push_back(report.labels[i]);
    truth.push_back(static_cast<double>(all));
    for (std::size_t j = 0; j < columns; ++j) {
      if (!is_shown(j)) continue;
      const std::int64_t bases = evaluation.confusion[i * columns + j];
      map.values.push_back(share_of(bases, all));
      figure.table.rows.push_back({text_cell(report.labels[i]),
                                   text_cell(j < evaluation.num_labels() ? report.labels[j] : "(none)"),
                                   count_cell(bases), share_cell(map.values.back())});
    }
  }
  if (std::max(truth.size(), called.size()) > kMostRows)
    figure.reading += fmt::format(" Of many labels the {} with most {} are drawn; the table has all.",
                                  kMostRows, units().many);
  keep_cells(map, largest(truth, kMostRows), largest(called, kMostRows));
  figure.panels = {draw_heat_map(map)};
  return figure;
}

}  // namespace

Section evaluation_section(const std::optional<EvalReport>& evaluation) {
  Section section{"evaluation", "Evaluation", {}};
  if (!evaluation || !evaluation->evaluation) {
    section.add(
        Paragraph{"No truth was given: add --truth FILE, a BED file of known segments with their labels in "
                  "column 4, to see how well the segments agree with it."});
    return section;
  }
  section.add(
      Paragraph{"Against " + evaluation->truth->file + ", on the " + count_text(evaluation->bases) + " " +
                units().many +
                " that it labels. Precision is the share of what was called that is true, recall the share "
                "of what is true that "
                "was called, F1 their harmonic mean. docs/users/evaluation.md defines every number."});
  for (const Warning& warning : evaluation->warnings) section.add(Paragraph{warning.message, true});
  section.add(overall_table(*evaluation->evaluation));
  // Where truth and prediction have no label in common, a table by label has nothing but zeros.
  if (std::ranges::any_of(evaluation->evaluation->labels, [](const LabelEvaluation& label) {
        return label.bases.truth > 0 && label.bases.predicted > 0;
      }))
    section.add(label_table(*evaluation));
  section.add(confusion_figure(*evaluation));
  return section;
}

}  // namespace semicrf
