#include "eval/metrics/model_comparison.h"

#include <algorithm>

#include "core/text/text.h"
#include "core/text/units.h"
#include "eval/metrics/text_table.h"

namespace semicrf {
namespace {

TableRow row(const std::string& name, const ModelDifference& sums) {
  const double bins = static_cast<double>(sums.positions);
  return {escape_control(name),
          std::to_string(sums.positions),
          formatted("%.6f", sums.entropy),
          formatted("%.6f", sums.cross_entropy),
          formatted("%.6f", sums.divergence()),
          sums.positions > 0 ? formatted("%.6g", sums.divergence() / bins) : "-"};
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
  std::string text = "P = " + escape_control(comparison.params) +
                     " against Q = " + escape_control(comparison.other) + ": " +
                     std::to_string(total.positions) + " bins of " + amount(comparison.bin_size) + ", " +
                     plural(total.pieces, "piece") + ", " + comparison.device + "\n";
  std::vector<TableRow> rows = {
      {"nats", "bins", "entropy H(P)", "cross-entropy H(P,Q)", "KL(P||Q)", "KL per bin"}};
  for (const ModelDifference& sequence : comparison.sequences) rows.push_back(row(sequence.name, sequence));
  for (const ModelDifference& region : comparison.regions) rows.push_back(row(region.name, region));
  rows.push_back(row("all", total));
  text += text_table(rows);
  for (const ModelDifference& sequence : comparison.sequences)
    if (!sequence.forbidden.empty())
      text += escape_control(sequence.name) + ": infinite: " + escape_control(sequence.forbidden) + "\n";
  return text;
}

}  // namespace semicrf
