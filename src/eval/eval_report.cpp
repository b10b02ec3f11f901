#include "eval/eval_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "core/error.h"
#include "core/units.h"

namespace semicrf {
namespace {

using Row = std::vector<std::string>;

std::string number(std::int64_t value) { return std::to_string(value); }

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string ratio(std::optional<double> value) { return value ? formatted("%.4f", *value) : "-"; }

// Characters of UTF-8 text, for the width of columns.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Columns as wide as their widest cell; the first is aligned left, the others right.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      const bool last = i + 1 == row.size();
      text += i == 0 ? row[i] + (last ? "" : space) : "  " + space + row[i];
    }
    text += '\n';
  }
  return text;
}

Row match_row(const std::string& name, const MatchCounts& counts) {
  return {name,
          number(counts.truth),
          number(counts.predicted),
          number(counts.matched),
          ratio(counts.precision()),
          ratio(counts.recall()),
          ratio(counts.f1())};
}

std::string within(std::int64_t tolerance) { return "within " + number(tolerance); }

std::string overall_table(const Evaluation& evaluation) {
  const LabelEvaluation sum = evaluation.over_labels();
  const std::string near = within(evaluation.tolerance);
  return table({{"overall", "truth", "predicted", "matched", "precision", "recall", "F1"},
                match_row(units().many, sum.bases),
                match_row("boundaries, exact", evaluation.boundary_exact),
                match_row("boundaries, " + near, evaluation.boundary_within),
                match_row("boundaries and label, exact", sum.boundary_exact),
                match_row("boundaries and label, " + near, sum.boundary_within),
                match_row("segments, exact", sum.segment_exact),
                match_row("segments, overlap", sum.segment_overlap)});
}

std::string label_table(const EvalReport& report) {
  const Evaluation& evaluation = report.evaluation;
  std::vector<Row> rows = {{"label", units().many, "accuracy", "precision", "recall", "F1", "boundary F1",
                            within(evaluation.tolerance), "segments", "predicted", "segment F1", "overlap"}};
  for (std::size_t i = 0; i < evaluation.num_labels(); ++i) {
    const LabelEvaluation& label = evaluation.labels[i];
    if (label.bases.truth == 0 && label.bases.predicted == 0) continue;
    rows.push_back({escape_control(report.labels[i]), number(label.bases.truth),
                    ratio(evaluation.label_accuracy(i)), ratio(label.bases.precision()),
                    ratio(label.bases.recall()), ratio(label.bases.f1()), ratio(label.boundary_exact.f1()),
                    ratio(label.boundary_within.f1()), number(label.segment_exact.truth),
                    number(label.segment_exact.predicted), ratio(label.segment_exact.f1()),
                    ratio(label.segment_overlap.f1())});
  }
  return table(rows);
}

// Rows are the truth's labels, columns the predicted ones; labels that neither has are left out.
std::string confusion_table(const EvalReport& report) {
  const Evaluation& evaluation = report.evaluation;
  const std::size_t columns = evaluation.num_labels() + 1;
  Row head = {"truth \\ predicted"};
  for (std::size_t j = 0; j < evaluation.num_labels(); ++j)
    if (evaluation.labels[j].bases.predicted > 0) head.push_back(escape_control(report.labels[j]));
  if (evaluation.missing() > 0) head.push_back("(none)");
  std::vector<Row> rows = {head};
  for (std::size_t i = 0; i < evaluation.num_labels(); ++i) {
    if (evaluation.labels[i].bases.truth == 0) continue;
    Row row = {escape_control(report.labels[i])};
    for (std::size_t j = 0; j < columns; ++j) {
      const bool shown =
          j < evaluation.num_labels() ? evaluation.labels[j].bases.predicted > 0 : evaluation.missing() > 0;
      if (shown) row.push_back(number(evaluation.confusion[i * columns + j]));
    }
    rows.push_back(std::move(row));
  }
  return table(rows);
}

// Of boundaries, and where it comes from.
std::string tolerance_text(const EvalReport& report) {
  const std::int64_t tolerance = report.evaluation.tolerance;
  const std::string text = amount(tolerance);
  if (report.tolerance_given) return text + " (--tolerance)";
  if (!report.bin_size) return text + " (default; the bin size is not known)";
  return text + (tolerance == *report.bin_size ? " (one bin)"
                                               : " (default; a bin has " + amount(*report.bin_size) + ")");
}

// What was compared, and where.
std::string summary(const EvalReport& report) {
  const Evaluation& evaluation = report.evaluation;
  std::string names;
  constexpr std::size_t kShown = 10;
  const std::size_t shown = std::min(kShown, report.chromosomes.size());
  for (std::size_t i = 0; i < shown; ++i)
    names += (i == 0 ? "" : ", ") + escape_control(report.chromosomes[i].name);
  if (shown < report.chromosomes.size())
    names += " and " + std::to_string(report.chromosomes.size() - shown) + " more";
  std::vector<Row> rows = {
      {"truth", escape_control(report.truth.file) + ", " + number(report.truth.segments) + " segments"},
      {"prediction",
       escape_control(report.predicted.file) + ", " + number(report.predicted.segments) + " segments"},
      {"evaluated", amount(evaluation.bases) + " in " + number(evaluation.stretches) +
                        (evaluation.stretches == 1 ? " stretch of " : " stretches of ") + names},
      {"missing", amount(evaluation.missing()) + " without a prediction" +
                      (report.missing_places.empty() ? "" : ": " + escape_control(report.missing_places))}};
  if (!report.hint.empty()) rows.push_back({"hint", escape_control(report.hint)});
  rows.push_back({"tolerance", tolerance_text(report)});
  std::string text;
  for (const Row& row : rows) {
    text += row[0];
    text.append(12 - row[0].size(), ' ');
    text += row[1];
    text += '\n';
  }
  return text;
}

std::string ratios(const Evaluation& evaluation) {
  const LabelEvaluation sum = evaluation.over_labels();
  return table({{"accuracy over all " + units().many, ratio(sum.bases.recall())},
                {"accuracy over predicted " + units().many, ratio(sum.bases.precision())},
                {"mean F1 of the labels", ratio(evaluation.macro_f1())},
                {"label error rate", ratio(evaluation.label_error_rate())},
                {"label edits", number(evaluation.edit_distance)}});
}

Row path_row(const std::string& name, const Rescoring& sums, const RescoredPath& path) {
  if (!path.score) return {name, number(path.segments), "-inf", "-inf", "-inf", "-inf"};
  return {name,
          number(path.segments),
          formatted("%.6f", path.score->viterbi_score),
          formatted("%.6f", path.score->log_weight),
          formatted("%.6f", *sums.log_likelihood(path)),
          formatted("%.8f", *sums.log_likelihood_per_position(path))};
}

std::string path_notes(const std::string& name, const RescoredPath& path) {
  std::string text;
  if (!path.impossible.empty()) text += name + ": impossible: " + escape_control(path.impossible) + "\n";
  if (path.moved > 0)
    text += name + ": " + number(path.moved) +
            " segments do not begin and end at bin edges and were moved to them, " + number(path.lost) +
            " of them are too short to cover a bin\n";
  return text;
}

std::string model_text(const RescoreResult& model) {
  const Rescoring& total = model.total;
  std::string text = "model " + escape_control(model.params) + ": " + number(total.positions) + " bins of " +
                     amount(model.bin_size) + ", " + number(total.pieces) +
                     (total.pieces == 1 ? " piece, " : " pieces, ") + model.device + "\n";
  text += table({{"log Z", formatted("%.6f", total.log_partition)},
                 {"boundary entropy H_bdy", formatted("%.6f", total.boundary_entropy)},
                 {"exp(H_bdy)", formatted("%.4f", std::exp(total.boundary_entropy))},
                 {"position entropy H_pos", formatted("%.6f", total.position_entropy)}});
  text += table({{"under the model", "segments", "Viterbi score", "log weight", "log likelihood", "per bin"},
                 path_row("truth", total, total.truth),
                 path_row("prediction", total, total.predicted)});
  return text + path_notes("truth", total.truth) + path_notes("prediction", total.predicted);
}

}  // namespace

std::optional<double> Rescoring::log_likelihood(const RescoredPath& path) const {
  if (!path.score) return std::nullopt;
  return path.score->log_weight - log_partition;
}

std::optional<double> Rescoring::log_likelihood_per_position(const RescoredPath& path) const {
  if (!path.score || positions == 0) return std::nullopt;
  return *log_likelihood(path) / static_cast<double>(positions);
}

std::string report_text(const EvalReport& report) {
  std::string text = summary(report);
  text += '\n';
  text += overall_table(report.evaluation);
  text += '\n';
  text += ratios(report.evaluation);
  text += '\n';
  text += label_table(report);
  text += '\n';
  text += confusion_table(report);
  if (report.model) text += '\n';
  if (report.model) text += model_text(*report.model);
  return text;
}

}  // namespace semicrf
