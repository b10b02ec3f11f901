#include <cmath>

#include "core/error.h"
#include "core/text/text.h"
#include "core/text/units.h"
#include "eval/metrics/calibration_report.h"
#include "eval/metrics/ratio.h"
#include "eval/metrics/text_table.h"

namespace semicrf {
namespace {

// The log loss of a label without a posterior, which counts as a printed 0 with six decimals.
constexpr double kUnknownLoss = 14.508657738524219;  // -ln(5e-7)

// Probabilities of boundaries are small: significant digits, not decimals.
std::string digits(std::optional<double> value) { return value ? formatted("%.4g", *value) : "-"; }

TableRow summary_row(const std::string& name, const Reliability& sums) {
  TableRow row = {name};
  for (const auto& column : reliability_statistics())
    row.push_back(statistic_text(column.value(sums), "%.4g", "-"));
  return row;
}

std::string reliability_table(const std::string& name, const Reliability& sums) {
  std::vector<TableRow> rows = {{name, "number", "mean predicted", "observed"}};
  for (std::size_t i = 0; i < sums.bins().size(); ++i) {
    const ReliabilityBin& bin = sums.bins()[i];
    rows.push_back(
        {"predicted " + formatted("%.4g", sums.lower(i)) + " to " + formatted("%.4g", sums.lower(i + 1)),
         std::to_string(bin.count), digits(bin.mean_predicted()), digits(bin.observed())});
  }
  return text_table(rows);
}

std::string labels_text(const LabelsCalibration& labels) {
  std::string text = text_table({{"all labels of " + escape_control(labels.file), ""},
                                 {"bins", std::to_string(labels.bins)},
                                 {"Brier score", digits(labels.brier())},
                                 {"log loss", digits(labels.log_loss())},
                                 {"calibration error", digits(labels.pooled().calibration_error())}});
  return text + '\n' + reliability_table("labels and bins", labels.pooled());
}

std::string intervals_text(const IntervalCalibration& intervals) {
  const IntervalCoverage& coverage = intervals.coverage;
  return text_table(
      {{"intervals of " + escape_control(intervals.file), "number", "share"},
       {"evaluated boundaries of the prediction", std::to_string(coverage.boundaries), ""},
       {"with an interval", std::to_string(coverage.intervals), ""},
       {"intervals that hold the start of a true segment of their label", std::to_string(coverage.holding),
        ratio_text(coverage.holding_share())},
       {"wanted (nominal level)", "", intervals.level ? formatted("%.4g", *intervals.level) : "-"},
       {"true boundaries", std::to_string(coverage.truth), ""},
       {"true boundaries inside an interval of their label", std::to_string(coverage.inside),
        ratio_text(coverage.inside_share())}});
}

std::string missing_text(const std::string& file, std::int64_t missing) {
  if (missing == 0) return "";
  return escape_control(file) + " has no value on " + amount(missing) +
         " that the truth labels; they are not counted\n";
}

}  // namespace

Reliability LabelsCalibration::pooled() const {
  if (labels.empty()) return Reliability();
  Reliability sum(static_cast<int>(labels[0].reliability.bins().size()));
  for (const LabelCalibration& label : labels) sum += label.reliability;
  return sum;
}

std::optional<double> LabelsCalibration::brier() const {
  double sum = static_cast<double>(unknown);
  for (const LabelCalibration& label : labels) sum += label.reliability.squared_error();
  return ratio(sum, bins);
}

std::optional<double> LabelsCalibration::log_loss() const {
  double sum = static_cast<double>(unknown) * kUnknownLoss;
  for (const LabelCalibration& label : labels) sum += label.reliability.event_loss();
  return ratio(sum, bins);
}

std::string calibration_text(const CalibrationReport& report) {
  std::string text;
  const auto part = [&text](const std::string& more) {
    text += (text.empty() || more.empty() ? "" : "\n") + more;
  };
  if (report.boundaries || report.labels) {
    std::vector<TableRow> rows = {{"posteriors, bins of " + amount(report.bin_size)}};
    for (const auto& column : reliability_statistics()) rows[0].emplace_back(column.heading);
    if (report.boundaries) rows.push_back(summary_row("a segment starts", report.boundaries->reliability));
    if (report.labels)
      for (const LabelCalibration& label : report.labels->labels)
        rows.push_back(summary_row(escape_control(label.name), label.reliability));
    text += text_table(rows);
    if (report.boundaries) text += missing_text(report.boundaries->file, report.boundaries->missing);
    if (report.labels) text += missing_text(report.labels->file, report.labels->missing);
  }
  if (report.boundaries) part(reliability_table("starts of segments", report.boundaries->reliability));
  if (report.labels) part(labels_text(*report.labels));
  if (report.intervals) part(intervals_text(*report.intervals));
  return text;
}

}  // namespace semicrf
