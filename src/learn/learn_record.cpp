#include "learn/learn_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/counts.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/json/statistic_json.h"

namespace semicrf {

const StatisticList<LearnedFit>& fit_statistics() {
  using enum StatisticUnit;
  using F = LearnedFit;
  static const auto list = in_format<F>(
      "%.1f",
      {{"aic", "AIC", kNumber, "Akaike's information criterion", &F::aic},
       {"bic", "BIC", kNumber, "Bayesian information criterion", &F::bic},
       {"icl", "ICL", kNumber, "the BIC and twice the entropy of segmentations", &F::icl, JsonPart::kSecond},
       {"validation_log_likelihood", "", kNats, "log likelihood of the validation data", &F::validation}});
  return list;
}

std::string learn_record_text(const LearnRecord& record) {
  Json object;
  object["program"] = "semicrf learn";
  object["version"] = record.version;
  object["emission"] = record.emission;
  if (!record.sizes.empty()) object["sizes"] = record.sizes;
  for (const auto& [name, value] : record.copy_number) object["copy_number"][name] = value;
  object["files"] = Json::array();
  for (const auto& [name, digest] : record.files)
    object["files"].push_back({{"name", name}, {"sha256", digest}});
  object["options"] = Json::object();
  for (const auto& [name, value] : record.options) object["options"][name] = value;
  object["positions"] = record.positions;
  if (record.validation_positions > 0) object["validation_positions"] = record.validation_positions;
  const LearnedFit& chosen = record.fits[record.chosen];
  object["iterations"] = chosen.iterations;
  object["converged"] = chosen.converged;
  object["log_likelihood"] = chosen.log_likelihood;
  object["free_parameters"] = chosen.parameters;
  const auto put_criteria = [](Json& into, const LearnedFit& fit) {
    for (const JsonPart part : {JsonPart::kFirst, JsonPart::kSecond})
      put_known(into, fit_statistics(), fit, part);
  };
  put_criteria(object, chosen);
  if (record.fits.size() > 1) {
    object["fits"] = Json::array();
    for (const LearnedFit& fit : record.fits) {
      Json one{{"labels", fit.labels},
               {"restart", fit.restart},
               {"iterations", fit.iterations},
               {"log_likelihood", fit.log_likelihood.back()}};
      put_criteria(one, fit);
      if (fit.validation) one["validation_entropy"] = *fit.validation_entropy;
      object["fits"].push_back(std::move(one));
    }
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

// Lines with columns of one width each, numbers to the right.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : rows) {
    std::string& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i > 0 ? "  " : "") + std::string(widths[i] - row[i].size(), ' ') + row[i];
  }
  return lines;
}

}  // namespace

std::vector<std::string> comparison_lines(const LearnRecord& record) {
  const bool held_out = record.validation_positions > 0;
  std::vector<std::string> names{"labels", "start", "iterations", "ln P", "ln P per bin"};
  for (const auto& one : fit_statistics())
    if (!one.heading.empty()) names.emplace_back(one.heading);
  if (held_out) {
    names.emplace_back("held out, per bin");
    names.emplace_back("less entropy");
  }
  std::vector<std::vector<std::string>> rows{names};
  for (std::size_t i = 0; i < record.fits.size(); ++i) {
    const LearnedFit& fit = record.fits[i];
    const double value = fit.log_likelihood.back();
    std::vector<std::string> cells{fmt::to_string(fit.labels), fmt::to_string(fit.restart + 1),
                                   fmt::to_string(fit.iterations), fmt::format("{:.2f}", value),
                                   fmt::format("{:.6f}", ratio(value, record.positions))};
    for (const auto& one : fit_statistics())
      if (!one.heading.empty()) cells.push_back(statistic_text(one, fit));
    if (fit.validation)
      for (const double less : {0.0, *fit.validation_entropy})
        cells.push_back(fmt::format("{:.6f}", ratio(*fit.validation - less, record.validation_positions)));
    if (i == record.chosen && record.fits.size() > 1) cells.emplace_back("chosen");
    rows.push_back(std::move(cells));
  }
  return aligned(rows);
}

}  // namespace semicrf
