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

std::string overall_table(const Evaluation& evaluation) {
  std::vector<TableRow> rows = {heading_row("overall", match_statistics())};
  for (const auto& [name, counts] : overall_matches(evaluation))
    rows.push_back(value_row(name, match_statistics(), counts));
  return text_table(rows);
}

std::string label_table(const EvalReport& report) {
  std::vector<TableRow> rows = {heading_row("label", evaluated_label_statistics())};
  std::ranges::replace(rows[0], "within", fmt::format("within {}", report.evaluation->tolerance));
  for (std::size_t i = 0; i < report.evaluation->num_labels(); ++i) {
    const EvaluatedLabel label = report.evaluation->label(i);
    if (label.bases.truth > 0 || label.bases.predicted > 0)
      rows.push_back(value_row(escape_control(report.labels[i]), evaluated_label_statistics(), label));
  }
  return text_table(rows);
}

std::string match_table(const LabelMatch& match) {
  std::vector<TableRow> rows = {{"label of the prediction", "of the truth", units().many + " in common"}};
  const auto name = [](const std::string& label) {
    return label.empty() ? std::string("-") : escape_control(label);
  };
  for (const MatchedLabels& one : match.labels)
    rows.push_back({name(one.predicted), name(one.truth), fmt::format("{}", one.bases)});
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
      if (shown) row.push_back(fmt::format("{}", evaluation.confusion[i * columns + j]));
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
  std::vector<TableRow> rows;
  add_lines(evaluation_statistics(), evaluation, rows);
  return text_table(rows);
}

TableRow path_row(const std::string& name, const Rescoring& sums, const RescoredPath& path) {
  return value_row(name, path_statistics(), {sums, path}, "-inf");
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
  std::vector<TableRow> sums;
  add_lines(rescoring_statistics(), total, sums);
  text += text_table(sums) +
          text_table({heading_row("under the model", path_statistics()),
                      path_row("truth", total, total.truth), path_row("prediction", total, total.predicted)});
  return text + path_notes("truth", total.truth) + path_notes("prediction", total.predicted);
}

}  // namespace

const StatisticList<ModelDifference>& difference_statistics() {
  using enum StatisticUnit;
  using D = ModelDifference;
  constexpr auto kSix = "%.6f";
  static const StatisticList<D> list = {
      {"positions", "bins", kCount, &D::positions},
      {"pieces", "", kCount, &D::pieces},
      {"log_partition", "", kNats, &D::log_partition},
      {"other_log_partition", "", kNats, &D::other_log_partition},
      {"segmentation_entropy", "entropy H(P)", kNats, &D::entropy, kSix},
      {"cross_entropy", "cross-entropy H(P,Q)", kNats, &D::cross_entropy, kSix},
      {"kl_divergence", "KL(P||Q)", kNats, &D::divergence, kSix},
      {"kl_per_position", "KL per bin", kNats,
       [](const D& d) { return share_of(d.divergence(), d.positions); }, "%.6g", JsonPart::kNone},
  };
  return list;
}

const StatisticList<Rescoring>& rescoring_statistics() {
  using enum StatisticUnit;
  using R = Rescoring;
  constexpr auto kSix = "%.6f";
  static const StatisticList<R> list = {
      {"positions", "", kCount, &R::positions},
      {"pieces", "", kCount, &R::pieces},
      {"log_partition", "log Z", kNats, &R::log_partition, kSix},
      {"boundary_entropy", "boundary entropy H_bdy", kNats, &R::boundary_entropy, kSix},
      {"effective_boundaries", "exp(H_bdy)", kNumber,
       [](const R& sums) { return std::exp(sums.boundary_entropy); }, "%.4f"},
      {"position_entropy", "position entropy H_pos", kNats, &R::position_entropy, kSix},
  };
  return list;
}

const StatisticList<PathUnderModel>& path_statistics() {
  using enum StatisticUnit;
  using P = PathUnderModel;
  const auto score = [](double PathScores::*what) {
    return [what](const P& p) { return p.path.score ? std::optional((*p.path.score).*what) : std::nullopt; };
  };
  constexpr auto kSix = "%.6f";
  static const StatisticList<P> list = {
      {"segments", "segments", kCount, [](const P& p) { return p.path.segments; }},
      {"moved", "", kCount, [](const P& p) { return p.path.moved; }},
      {"lost", "", kCount, [](const P& p) { return p.path.lost; }},
      {"viterbi_score", "Viterbi score", kNats, score(&PathScores::viterbi_score), kSix},
      {"log_weight", "log weight", kNats, score(&PathScores::log_weight), kSix},
      {"log_likelihood", "log likelihood", kNats, [](const P& p) { return p.sums.log_likelihood(p.path); },
       kSix},
      {"log_likelihood_per_position", "per bin", kNats,
       [](const P& p) { return p.sums.log_likelihood_per_position(p.path); }, "%.8f"},
  };
  return list;
}

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
  std::vector<TableRow> rows = {heading_row("nats", difference_statistics())};
  for (const auto* list : {&comparison.sequences, &comparison.regions})
    for (const ModelDifference& one : *list)
      rows.push_back(value_row(escape_control(one.name), difference_statistics(), one));
  rows.push_back(value_row("all", difference_statistics(), total));
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
