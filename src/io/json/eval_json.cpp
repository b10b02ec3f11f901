#include "io/json/eval_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "io/json/statistic_json.h"

namespace semicrf {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson match_json(const MatchCounts& counts) {
  OrderedJson object;
  put_all(object, match_statistics(), counts);
  return object;
}

OrderedJson segments_json(const LabelEvaluation& label) {
  return {{"exact", match_json(label.segment_exact)}, {"overlap", match_json(label.segment_overlap)}};
}

OrderedJson overall_json(const Evaluation& evaluation) {
  const LabelEvaluation sum = evaluation.over_labels();
  OrderedJson object, sequences;
  const auto add = [&](OrderedJson& into, const char* name) {
    put(into, statistic(evaluation_statistics(), name), evaluation);
  };
  add(object["bases"], "accuracy");
  put_all(object["bases"], match_statistics(), sum.bases);
  for (const char* name : {"accuracy_predicted", "macro_f1", "adjusted_rand_index"})
    add(object["bases"], name);
  object["boundaries"] = {{"exact", match_json(evaluation.boundary_exact)},
                          {"within", match_json(evaluation.boundary_within)},
                          {"label_exact", match_json(sum.boundary_exact)},
                          {"label_within", match_json(sum.boundary_within)}};
  object["segments"] = segments_json(sum);
  add(sequences, "edit_distance");
  sequences.update({{"truth", sum.segment_exact.truth}, {"predicted", sum.segment_exact.predicted}});
  add(sequences, "error_rate");
  object["label_sequence"] = sequences;
  return object;
}

OrderedJson labels_json(const EvalReport& report) {
  OrderedJson labels = OrderedJson::array();
  for (std::size_t i = 0; i < report.labels.size(); ++i) {
    const EvaluatedLabel label = report.evaluation->label(i);
    OrderedJson bases;
    put_all(bases, evaluated_label_statistics(), label);
    put_all(bases, match_statistics(), label.bases);
    labels.push_back(
        {{"name", report.labels[i]},
         {"bases", bases},
         {"boundaries",
          {{"exact", match_json(label.boundary_exact)}, {"within", match_json(label.boundary_within)}}},
         {"segments", segments_json(label)}});
  }
  return labels;
}

OrderedJson confusion_json(const EvalReport& report) {
  const std::size_t columns = report.labels.size() + 1;
  OrderedJson rows = OrderedJson::array();
  for (std::size_t i = 0; i + 1 < columns; ++i) {
    const auto row = report.evaluation->confusion.begin() + i * columns;
    rows.push_back(std::vector<std::int64_t>(row, row + columns));
  }
  OrderedJson names = report.labels;
  OrderedJson predicted = names;
  predicted.push_back(nullptr);
  return {{"truth", names}, {"predicted", predicted}, {"bases", rows}};
}

OrderedJson path_json(const Rescoring& sums, const RescoredPath& path) {
  OrderedJson object;
  put_all(object, path_statistics(), {sums, path});
  if (!path.impossible.empty()) object["impossible"] = path.impossible;
  return object;
}

void put_rescoring(OrderedJson& object, const Rescoring& sums) {
  put_all(object, rescoring_statistics(), sums);
  object["truth"] = path_json(sums, sums.truth);
  object["predicted"] = path_json(sums, sums.predicted);
}

OrderedJson model_json(const RescoreResult& model) {
  OrderedJson object = {{"params", model.params},
                        {"params_sha256", model.params_sha256},
                        {"device", model.device},
                        {"bin_size", model.bin_size}};
  put_rescoring(object, model.total);
  object["sequences"] = OrderedJson::array();
  for (const Rescoring& sequence : model.sequences) {
    OrderedJson entry = {{"name", sequence.name}};
    put_rescoring(entry, sequence);
    object["sequences"].push_back(std::move(entry));
  }
  return object;
}

OrderedJson side_json(const EvalReport::Side& side) {
  return {{"file", side.file}, {"segments", side.segments}};
}

// Which label of the prediction was taken for which of the truth; null: for none.
OrderedJson label_match_json(const LabelMatch& match) {
  OrderedJson object;
  object["map"] = match.map_file.empty() ? OrderedJson() : OrderedJson(match.map_file);
  object["labels"] = OrderedJson::array();
  const auto name = [](const std::string& label) {
    return label.empty() ? OrderedJson() : OrderedJson(label);
  };
  for (const MatchedLabels& one : match.labels)
    object["labels"].push_back(
        {{"predicted", name(one.predicted)}, {"truth", name(one.truth)}, {"bases", one.bases}});
  return object;
}

// What a prediction has in common with the truth.
void put_comparison(OrderedJson& document, const EvalReport& report) {
  if (report.match) document["match"] = label_match_json(*report.match);
  document["overall"] = overall_json(*report.evaluation);
  document["labels"] = labels_json(report);
  document["confusion"] = confusion_json(report);
}

// Where the truth is.
void put_evaluated(OrderedJson& document, const EvalReport& report) {
  document["merge_adjacent"] = report.merge_adjacent;
  document["bases"] = report.bases;
  if (report.evaluation) document["missing"] = report.evaluation->missing();
  document["stretches"] = report.stretches;
  document["chromosomes"] = OrderedJson::array();
  for (const EvalReport::Chromosome& chromosome : report.chromosomes) {
    OrderedJson entry = {{"name", chromosome.name}, {"bases", chromosome.bases}};
    if (report.evaluation) entry["missing"] = chromosome.missing;
    document["chromosomes"].push_back(std::move(entry));
  }
}

OrderedJson reliability_json(const Reliability& sums) {
  OrderedJson object;
  put_all(object, reliability_statistics(), sums);
  object["reliability"] = OrderedJson::array();
  for (const ReliabilityPart& part : sums.parts()) {
    object["reliability"].push_back(OrderedJson::object());
    put_all(object["reliability"].back(), reliability_part_statistics(), part);
  }
  return object;
}

OrderedJson label_posteriors_json(const LabelsCalibration& labels) {
  OrderedJson object = {{"file", labels.file}};
  put_all(object, label_posterior_statistics(), labels);
  object["reliability"] = reliability_json(labels.pooled())["reliability"];
  object["labels"] = OrderedJson::array();
  for (const LabelCalibration& label : labels.labels) {
    OrderedJson entry = {{"name", label.name}};
    entry.update(reliability_json(label.reliability));
    object["labels"].push_back(std::move(entry));
  }
  return object;
}

OrderedJson intervals_json(const IntervalCalibration& intervals) {
  OrderedJson object = {{"file", intervals.file},
                        {"level", intervals.level ? OrderedJson(*intervals.level) : OrderedJson()}};
  put_all(object, interval_statistics(), intervals.coverage);
  return object;
}

OrderedJson calibration_json(const CalibrationReport& report) {
  OrderedJson object = {{"bin_size", report.bin_size}};
  if (report.boundaries) {
    object["boundaries"] = {{"file", report.boundaries->file}, {"missing", report.boundaries->missing}};
    object["boundaries"].update(reliability_json(report.boundaries->reliability));
  }
  if (report.labels) object["labels"] = label_posteriors_json(*report.labels);
  if (report.intervals) object["intervals"] = intervals_json(*report.intervals);
  return object;
}

void put_difference(OrderedJson& object, const ModelDifference& sums) {
  put_all(object, difference_statistics(), sums);
  if (!sums.forbidden.empty()) object["infinite"] = sums.forbidden;
}

OrderedJson differences_json(const std::vector<ModelDifference>& differences) {
  OrderedJson list = OrderedJson::array();
  for (const ModelDifference& one : differences) {
    OrderedJson entry = {{"name", one.name}};
    put_difference(entry, one);
    list.push_back(std::move(entry));
  }
  return list;
}

OrderedJson against_json(const ModelComparison& comparison) {
  OrderedJson object = {{"params", comparison.params}, {"params_sha256", comparison.params_sha256},
                        {"other", comparison.other},   {"other_sha256", comparison.other_sha256},
                        {"device", comparison.device}, {"bin_size", comparison.bin_size}};
  put_difference(object, comparison.total);
  object["sequences"] = differences_json(comparison.sequences);
  if (!comparison.regions.empty()) object["regions"] = differences_json(comparison.regions);
  return object;
}

}  // namespace

std::string eval_json_text(const EvalReport& report) {
  OrderedJson document;
  document["format"] = "semicrf-eval";
  document["format_version"] = "1.2";
  document["version"] = report.version;
  if (report.truth) document["truth"] = side_json(*report.truth);
  if (report.predicted) document["predicted"] = side_json(*report.predicted);
  if (report.evaluation) document["tolerance"] = report.evaluation->tolerance;
  if (report.bin_size) document["bin_size"] = *report.bin_size;
  if (report.truth) put_evaluated(document, report);
  document["warnings"] = OrderedJson::array();
  for (const Warning& warning : report.warnings)
    document["warnings"].push_back({{"code", warning.code}, {"message", warning.message}});
  if (report.evaluation) put_comparison(document, report);
  if (report.model) document["model"] = model_json(*report.model);
  if (report.against) document["against"] = against_json(*report.against);
  if (report.calibration) document["calibration"] = calibration_json(*report.calibration);
  constexpr int kIndent = 2;
  // Names that are not UTF-8 must not make the report fail.
  return document.dump(kIndent, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace semicrf
