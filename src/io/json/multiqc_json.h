// Documents for MultiQC ("custom content"): numbers of one sample, which MultiQC puts beside those of the
// other samples that it finds in a folder. docs/users/pipelines.md has the list of files.
//
// A document depends on the sample's results alone: no time, memory or path is in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/metrics/eval_report.h"
#include "io/params/training_record.h"
#include "model/parameters.h"
#include "model/statistics.h"

namespace semicrf {

// Where documents go, and whose they are.
struct MultiqcTarget {
  std::string folder;  // that exists; empty: no documents
  std::string sample;  // empty: named after the output, sample_of_output()

  bool wanted() const { return !folder.empty(); }
};

// One file: FOLDER/SAMPLE.semicrf_KIND_mqc.json.
struct MultiqcDocument {
  std::string kind;
  std::string text;
};

// A number as a column: what is declared of it, and its value.
struct MultiqcNumber {
  std::string key, title, description;
  StatisticUnit unit;
  StatisticValue value;
};
template <class Of>
MultiqcNumber multiqc_number(const StatisticList<Of>& list, std::string_view name, const Of& of) {
  const Statistic<Of>& one = statistic(list, name);
  return {std::string(name), capitalized(one.heading), capitalized(described(one)), one.unit, one.value(of)};
}

// The name of a file without its folder and without the endings that programs put on segments and parameters
// (.gz, .bed, .json, .segments, .params): GM12878 for out/GM12878.segments.bed.gz.
std::string sample_of_output(const std::string& path);

// `target` with the sample that it stands for; `output` is what the sample is named after. UsageError where
// `output` is standard output and no sample is given.
MultiqcTarget settled(MultiqcTarget target, const std::string& output);

// The file of one kind. A "/" in the sample's name becomes "_".
std::string multiqc_path(const MultiqcTarget& target, const std::string& kind);

// What a segmentation is.
struct MultiqcSegments {
  std::vector<Label> labels;                // labels of the model, in its order
  std::vector<DecodedLabelStats> decoded;   // (C)
  std::optional<LengthStats> lengths;       // lengths of all segments, bases; absent without segments
  std::optional<double> position_entropy;   // nats, mean over positions; absent: not computed
  std::optional<double> expected_segments;  // under P(y|x); absent: not computed
  std::optional<double> missing_share;      // share of the values that the tracks should have
};
// The kinds of documents of a segmentation, for names that are needed before there are numbers.
inline const std::vector<std::string> kSegmentDocuments = {"general", "labels", "durations",
                                                           "label_durations"};
// One document for each of these kinds, in their order.
std::vector<MultiqcDocument> multiqc_segments(const std::string& sample, const MultiqcSegments& segments);

// A prediction against the truth: `report.evaluation` is there.
inline const std::vector<std::string> kEvaluationDocuments = {"evaluation", "label_f1"};
std::vector<MultiqcDocument> multiqc_evaluation(const std::string& sample, const EvalReport& report);

// A segmentation against a replicate: numbers of all labels together, and the share of each that is
// reproduced. segmentation/reproducibility.h has what they are.
struct MultiqcReproducibility {
  struct Label {
    std::string name, match;
    std::optional<double> reproduced;
  };
  std::vector<MultiqcNumber> numbers;
  std::vector<Label> labels;
};
inline constexpr std::string_view kMultiqcReproducibility[] = {"reproduced", "confident", "kappa", "overlap",
                                                               "calibration_error"};
inline const std::vector<std::string> kReproducibilityDocuments = {"reproducibility",
                                                                   "label_reproducibility"};
std::vector<MultiqcDocument> multiqc_reproducibility(const std::string& sample,
                                                     const MultiqcReproducibility& numbers);

// How a fit ended.
inline const std::vector<std::string> kTrainingDocuments = {"training"};
std::vector<MultiqcDocument> multiqc_training(const std::string& sample, const TrainingRecord& record);

}  // namespace semicrf
