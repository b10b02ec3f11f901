// Everything that the command eval reports, and its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "eval/metrics/evaluation.h"
#include "eval/metrics/reliability.h"

namespace semicrf {

// How far one model, P, is from another, Q, on one sequence, one region, or everything: sums over pieces,
// nats.
struct ModelDifference {
  std::string name;  // the sequence, or the region as "chr:begin-end", 1-based inclusive
  std::int64_t positions = 0;
  std::int64_t pieces = 0;
  double log_partition = 0;        // log Z of P
  double other_log_partition = 0;  // log Z of Q; -inf where it has no segmentation
  double entropy = 0;              // H(P), of the segmentation
  double cross_entropy = 0;        // H(P,Q) = log Z_Q - E_P[score_Q]; +inf where Q forbids what P allows
  std::string forbidden;           // why it is infinite, with the first place; else empty

  // KL(P||Q) = H(P,Q) - H(P), +inf where the cross-entropy is. What rounding leaves below 0 is 0.
  double divergence() const;
  ModelDifference& operator+=(const ModelDifference& other);  // all but the name
};

const StatisticList<ModelDifference>& difference_statistics();

struct ModelComparison {
  std::string params, other;                // names of the parameter files of P and Q
  std::string params_sha256, other_sha256;  // digests of their bytes
  std::string device;
  std::int64_t bin_size = 1;  // bases
  ModelDifference total;
  std::vector<ModelDifference> sequences;  // in the order of decode's output
  std::vector<ModelDifference> regions;    // those asked for, overlapping ones as one; empty: none was
  std::vector<Warning> warnings;
};

// Tables for people.
std::string comparison_text(const ModelComparison& comparison);

// The score of a path, added up in double. The two differ in the initial term only, and only when it is
// uniform.
struct PathScores {
  double log_weight = 0;     // with LSE over the labels before the first segment: what log Z sums
  double viterbi_score = 0;  // with the best of them: what decode maximises and reports
};

// One segmentation under a model.
struct RescoredPath {
  std::optional<PathScores> score;  // sums over pieces; absent: impossible
  std::string impossible;           // why, with the first place
  std::int64_t segments = 0;        // after they were laid on the bins
  std::int64_t moved = 0;           // with an edge inside a bin, which therefore moved
  std::int64_t lost = 0;            // too short for a bin of their own
};

// Both segmentations under a model, on one sequence or on all of them.
struct Rescoring {
  std::string name;  // name of the sequence
  std::int64_t positions = 0;
  std::int64_t pieces = 0;
  double log_partition = 0;     // sum over pieces
  double boundary_entropy = 0;  // nats; of all sequences: their mean
  double position_entropy = 0;  // nats, mean over positions
  RescoredPath truth, predicted;

  // Log weight minus log Z: the logarithm of the path's probability.
  std::optional<double> log_likelihood(const RescoredPath& path) const;
  std::optional<double> log_likelihood_per_position(const RescoredPath& path) const;
};

const StatisticList<Rescoring>& rescoring_statistics();

struct PathUnderModel {
  const Rescoring& sums;
  const RescoredPath& path;
};
const StatisticList<PathUnderModel>& path_statistics();

struct RescoreResult {
  std::string params;  // name of the parameter file
  std::string params_sha256;
  std::string device;
  std::int64_t bin_size = 1;  // bases
  Rescoring total;
  std::vector<Rescoring> sequences;  // in the order of decode's output
  std::vector<Warning> warnings;
};

struct EvalReport {
  struct Side {
    std::string file;           // name without its folder
    std::int64_t segments = 0;  // in the file
  };
  std::string version;            // version of the program
  std::optional<Side> truth;      // absent: two models are compared, and nothing else
  std::optional<Side> predicted;  // absent: only posteriors are compared with the truth
  bool merge_adjacent = false;
  std::vector<std::string> labels;  // names, as numbered in the evaluation
  struct Chromosome {
    std::string name;
    std::int64_t bases = 0;    // that the truth labels and that are evaluated
    std::int64_t missing = 0;  // bases without a prediction among them
  };
  std::vector<Chromosome> chromosomes;
  std::int64_t bases = 0;                // over all chromosomes
  std::int64_t stretches = 0;            // runs of these bases
  std::string missing_places;            // "II, III:1-2000", empty where nothing is missing
  std::string hint;                      // how to leave them out, or empty
  std::optional<std::int64_t> bin_size;  // bases, where parameters or headers say it
  bool tolerance_given = false;          // by the user; else it comes from the bin size
  std::vector<Warning> warnings;
  std::optional<Evaluation> evaluation;  // with a prediction
  std::optional<LabelMatch> match;       // where labels of the prediction were taken for others of the truth
  std::optional<CalibrationReport> calibration;
  std::optional<ModelComparison> against;
  std::optional<RescoreResult> model;
};

// Tables for people. Ratios have four decimals; what is not defined is "-".
std::string report_text(const EvalReport& report);

}  // namespace semicrf
