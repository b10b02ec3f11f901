#include "eval/metrics/eval_report.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/text/text.h"
#include "eval/metrics/text_table.h"

namespace semicrf {
namespace {

TableRow difference_row(const std::string& name, const ModelDifference& sums) {
  const double bins = static_cast<double>(sums.positions);
  return {escape_control(name),
          std::to_string(sums.positions),
          formatted("%.6f", sums.entropy),
          formatted("%.6f", sums.cross_entropy),
          formatted("%.6f", sums.divergence()),
          sums.positions > 0 ? formatted("%.6g", sums.divergence() / bins) : "-"};
}

// A row for each of these, with a column for each of the counts and ratios.
std::string counts_table(const std::string& title,
                         const std::vector<std::pair<std::string, MatchCounts>>& counts) {
  std::vector<TableRow> rows = {{title}};
  for (const auto& column : match_statistics()) rows[0].emplace_back(column.heading);
  for (const auto& [name, of] : counts) {
    TableRow& row = rows.emplace_back(TableRow{name});
    for (const auto& column : match_statistics())
      row.push_back(statistic_text(column.value(of), "%.4f", "-"));
  }
  return text_table(rows);
}

std::string within(std::int64_t tolerance) { return fmt::format("within {}", tolerance); }

std::string overall_table(const Evaluation& evaluation) {
  const LabelEvaluation sum = evaluation.over_labels();
  const std::string near = within(evaluation.tolerance);
  return counts_table("overall", {{units().many, sum.bases},
                                  {"boundaries, exact", evaluation.boundary_exact},
                                  {"boundaries, " + near, evaluation.boundary_within},
                                  {"boundaries and label, exact", sum.boundary_exact},
                                  {"boundaries and label, " + near, sum.boundary_within},
                                  {"segments, exact", sum.segment_exact},
                                  {"segments, overlap", sum.segment_overlap}});
}

std::string label_table(const EvalReport& report) {
  const Evaluation& evaluation = *report.evaluation;
  std::vector<TableRow> rows = {{"label", units().many, "accuracy", "precision", "recall", "F1",
                                 "boundary F1", within(evaluation.tolerance), "segments", "predicted",
                                 "segment F1", "overlap"}};
  for (std::size_t i = 0; i < evaluation.num_labels(); ++i) {
    const LabelEvaluation& label = evaluation.labels[i];
    if (label.bases.truth == 0 && label.bases.predicted == 0) continue;
    rows.push_back({escape_control(report.labels[i]), std::to_string(label.bases.truth),
                    ratio_text(evaluation.label_accuracy(i)), ratio_text(label.bases.precision()),
                    ratio_text(label.bases.recall()), ratio_text(label.bases.f1()),
                    ratio_text(label.boundary_exact.f1()), ratio_text(label.boundary_within.f1()),
                    std::to_string(label.segment_exact.truth), std::to_string(label.segment_exact.predicted),
                    ratio_text(label.segment_exact.f1()), ratio_text(label.segment_overlap.f1())});
  }
  return text_table(rows);
}

std::string match_table(const LabelMatch& match) {
  std::vector<TableRow> rows = {{"label of the prediction", "of the truth", units().many + " in common"}};
  const auto name = [](const std::string& label) {
    return label.empty() ? std::string("-") : escape_control(label);
  };
  for (const MatchedLabels& one : match.labels)
    rows.push_back({name(one.predicted), name(one.truth), std::to_string(one.bases)});
  return text_table(rows);
}

// Rows are the truth's labels, columns the predicted ones; labels that neither has are left out.
std::string confusion_table(const EvalReport& report) {
  const Evaluation& evaluation = *report.evaluation;
  const std::size_t columns = evaluation.num_labels() + 1;
  TableRow head = {"truth \\ predicted"};
  for (std::size_t j = 0; j < evaluation.num_labels(); ++j)
    if (evaluation.labels[j].bases.predicted > 0) head.push_back(escape_control(report.labels[j]));
  if (evaluation.missing() > 0) head.push_back("(none)");
  std::vector<TableRow> rows = {head};
  for (std::size_t i = 0; i < evaluation.num_labels(); ++i) {
    if (evaluation.labels[i].bases.truth == 0) continue;
    TableRow row = {escape_control(report.labels[i])};
    for (std::size_t j = 0; j < columns; ++j) {
      const bool shown =
          j < evaluation.num_labels() ? evaluation.labels[j].bases.predicted > 0 : evaluation.missing() > 0;
      if (shown) row.push_back(std::to_string(evaluation.confusion[i * columns + j]));
    }
    rows.push_back(std::move(row));
  }
  return text_table(rows);
}

// The tolerance for boundaries, and where it comes from.
std::string tolerance_text(const EvalReport& report) {
  const std::int64_t tolerance = report.evaluation->tolerance;
  const std::string text = amount(tolerance);
  if (report.tolerance_given) return text + " (--tolerance)";
  if (!report.bin_size) return text + " (default; the bin size is not known)";
  return text + (tolerance == *report.bin_size ? " (one bin)"
                                               : " (default; a bin has " + amount(*report.bin_size) + ")");
}

// What was compared, and where.
std::string summary(const EvalReport& report) {
  const std::string names = escape_control(few_of(names_of(report.chromosomes), 10));
  std::vector<TableRow> rows = {
      {"truth", fmt::format("{}, {} segments", escape_control(report.truth->file), report.truth->segments)}};
  if (report.predicted)
    rows.push_back({"prediction", fmt::format("{}, {} segments", escape_control(report.predicted->file),
                                              report.predicted->segments)});
  rows.push_back(
      {"evaluated", fmt::format("{} in {}{}{}", amount(report.bases), report.stretches,
                                report.stretches == 1 ? " stretch of " : " stretches of ", names)});
  if (report.evaluation) {
    rows.push_back(
        {"missing", amount(report.evaluation->missing()) + " without a prediction" +
                        (report.missing_places.empty() ? "" : ": " + escape_control(report.missing_places))});
    if (report.match)
      rows.push_back({"labels", report.match->map_file.empty()
                                    ? "paired by the largest overlap (--match)"
                                    : "matched by " + escape_control(report.match->map_file)});
    if (!report.hint.empty()) rows.push_back({"hint", escape_control(report.hint)});
    rows.push_back({"tolerance", tolerance_text(report)});
  }
  std::string text;
  for (const TableRow& row : rows) {
    text += row[0];
    text.append(12 - row[0].size(), ' ');
    text += row[1];
    text += '\n';
  }
  return text;
}

std::string ratios(const Evaluation& evaluation) {
  const LabelEvaluation sum = evaluation.over_labels();
  return text_table({{"accuracy over all " + units().many, ratio_text(sum.bases.recall())},
                     {"accuracy over predicted " + units().many, ratio_text(sum.bases.precision())},
                     {"adjusted Rand index", ratio_text(evaluation.adjusted_rand_index())},
                     {"mean F1 of the labels", ratio_text(evaluation.macro_f1())},
                     {"label error rate", ratio_text(evaluation.label_error_rate())},
                     {"label edits", std::to_string(evaluation.edit_distance)}});
}

TableRow path_row(const std::string& name, const Rescoring& sums, const RescoredPath& path) {
  if (!path.score) return {name, std::to_string(path.segments), "-inf", "-inf", "-inf", "-inf"};
  return {name,
          std::to_string(path.segments),
          formatted("%.6f", path.score->viterbi_score),
          formatted("%.6f", path.score->log_weight),
          formatted("%.6f", *sums.log_likelihood(path)),
          formatted("%.8f", *sums.log_likelihood_per_position(path))};
}

std::string path_notes(const std::string& name, const RescoredPath& path) {
  std::string text;
  if (!path.impossible.empty()) text += name + ": impossible: " + escape_control(path.impossible) + "\n";
  if (path.moved > 0)
    text += fmt::format(
        "{}: {} segments do not begin and end at bin edges and were moved to them, {} of them are too short "
        "to cover a bin\n",
        name, path.moved, path.lost);
  return text;
}

std::string model_text(const RescoreResult& model) {
  const Rescoring& total = model.total;
  std::string text =
      fmt::format("model {}: {} bins of {}, {}, {}\n", escape_control(model.params), total.positions,
                  amount(model.bin_size), plural(total.pieces, "piece"), model.device);
  text += text_table({{"log Z", formatted("%.6f", total.log_partition)},
                      {"boundary entropy H_bdy", formatted("%.6f", total.boundary_entropy)},
                      {"exp(H_bdy)", formatted("%.4f", std::exp(total.boundary_entropy))},
                      {"position entropy H_pos", formatted("%.6f", total.position_entropy)}});
  text +=
      text_table({{"under the model", "segments", "Viterbi score", "log weight", "log likelihood", "per bin"},
                  path_row("truth", total, total.truth),
                  path_row("prediction", total, total.predicted)});
  return text + path_notes("truth", total.truth) + path_notes("prediction", total.predicted);
}

}  // namespace

double ModelDifference::divergence() const { return std::max(0.0, cross_entropy - entropy); }

ModelDifference& ModelDifference::operator+=(const ModelDifference& other) {
  positions += other.positions;
  pieces += other.pieces;
  log_partition += other.log_partition;
  other_log_partition += other.other_log_partition;
  entropy += other.entropy;
  cross_entropy += other.cross_entropy;
  if (forbidden.empty()) forbidden = other.forbidden;
  return *this;
}

std::string comparison_text(const ModelComparison& comparison) {
  const ModelDifference& total = comparison.total;
  std::string text =
      fmt::format("P = {} against Q = {}: {} bins of {}, {}, {}\n", escape_control(comparison.params),
                  escape_control(comparison.other), total.positions, amount(comparison.bin_size),
                  plural(total.pieces, "piece"), comparison.device);
  std::vector<TableRow> rows = {
      {"nats", "bins", "entropy H(P)", "cross-entropy H(P,Q)", "KL(P||Q)", "KL per bin"}};
  for (const ModelDifference& sequence : comparison.sequences)
    rows.push_back(difference_row(sequence.name, sequence));
  for (const ModelDifference& region : comparison.regions)
    rows.push_back(difference_row(region.name, region));
  rows.push_back(difference_row("all", total));
  text += text_table(rows);
  for (const ModelDifference& sequence : comparison.sequences)
    if (!sequence.forbidden.empty())
      text += escape_control(sequence.name) + ": infinite: " + escape_control(sequence.forbidden) + "\n";
  return text;
}

std::optional<double> Rescoring::log_likelihood(const RescoredPath& path) const {
  if (!path.score) return std::nullopt;
  return path.score->log_weight - log_partition;
}

std::optional<double> Rescoring::log_likelihood_per_position(const RescoredPath& path) const {
  if (!path.score || positions == 0) return std::nullopt;
  return *log_likelihood(path) / static_cast<double>(positions);
}

std::string report_text(const EvalReport& report) {
  std::vector<std::string> parts;
  if (report.truth) parts.push_back(summary(report));
  if (report.match) parts.push_back(match_table(*report.match));
  if (report.evaluation) {
    parts.push_back(overall_table(*report.evaluation));
    parts.push_back(ratios(*report.evaluation));
    parts.push_back(label_table(report));
    parts.push_back(confusion_table(report));
  }
  if (report.model) parts.push_back(model_text(*report.model));
  if (report.calibration) parts.push_back(calibration_text(*report.calibration));
  if (report.against) parts.push_back(comparison_text(*report.against));
  return joined(parts, "\n");
}

}  // namespace semicrf
