// How well a replicate reproduces the labels of a segmentation, and how far its posteriors say so: r-values
// after Foroozandeh Shahraki, Farahbod and Libbrecht, Genome Research 34, 469, 2024.
//
// A base of the first segmentation is reproduced where a base of the second, at most `tolerance` away, has
// the label that stands for its own. The r-value of a base is the share of reproduced bases among those with
// its label, as a function of the posterior of this label that never falls (CalibrationCurve).
//
// Memory: both segmentations, and a table of 6401 cells for each thread; posteriors are read line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/text/statistic.h"
#include "eval/metrics/reliability.h"
#include "io/segments/segmentation.h"
#include "segmentation/calibration_curve.h"
#include "segmentation/label_match.h"

namespace semicrf {

struct ReproducibilityOptions {
  std::string labels;         // prefix of the label posteriors of the first
  std::string second_labels;  // those of the second, or empty
  MatchRule match = MatchRule::kBest;
  std::int64_t tolerance = 0;        // bases, >= 0
  double level = 0.9;                // bases with this r-value or a larger one are confident
  std::int64_t fold_size = 1000000;  // bases of a block; blocks fit and check in turn
  int threads = 1;
};

// A label of the first segmentation; the numbers are about the bases that both cover.
struct LabelReproducibility {
  std::string label, match;  // names; empty: all labels together, no match
  std::int64_t bases = 0;
  std::optional<std::int64_t> match_bases;  // with the match in the second
  std::int64_t both = 0;                    // with the label here and its match there
  std::optional<double> jaccard, overlap, expected_overlap, kappa;
  std::optional<double> reproduced, expected_reproduced;
  std::optional<double> confident;
  std::optional<double> calibration_error;
  std::optional<double> granularity_area;
  std::optional<double> posterior, match_posterior;
};
// The columns of its table behind label and match.
const StatisticList<LabelReproducibility>& reproducibility_statistics();

struct Reproducibility {
  LabelPairs pairs;
  std::vector<std::optional<std::size_t>> matches;  // by label of the first
  std::vector<LabelReproducibility> labels;         // by label of the first; the last: all of them together
  std::vector<CalibrationCurve> curves;             // by label of the first; empty without bases
  std::int64_t without_posterior = 0;               // bases that both cover
  Reliability held_out;                             // r-values of calibration_error, over all labels
};

// InputError: no base in common; a label without a file of posteriors, or files that do not fit; ReadError.
Reproducibility measure_reproducibility(const SegmentationFile& first, const SegmentationFile& second,
                                        const ReproducibilityOptions& options);

// Calls visit(chromosome, segment, begin, end, r) for the parts of the first's segments, also those that the
// second lacks, whose posterior does not change, from left to right. Bases without a posterior, and of labels
// without a curve, are left out. `prefix`: of the posteriors.
using RValueVisitor =
    std::function<void(const SegmentedChromosome& chromosome, const LabelledSegment& segment,
                       std::int64_t begin, std::int64_t end, double r)>;
void visit_r_values(const SegmentationFile& first, const std::string& prefix,
                    const std::vector<CalibrationCurve>& curves, const RValueVisitor& visit);

}  // namespace semicrf
