// What is counted and measured in runs and of segmentations: plain numbers, without how they are written
// (docs/file-details.md, "Statistics").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/statistic.h"

namespace semicrf {

// What a track lacks in the bins that regions ask for.
struct MissingStats {
  std::string track;
  std::int64_t bins = 0;              // without any value
  std::optional<std::int64_t> bases;  // without a value; absent for arrays
  std::string policy;                 // what became of them: "zero", "skip", "mean" or "marginal"
};

// A track of the parameters that the run had no file of.
struct MissingTrackStats {
  std::string track;
  std::string policy;  // "marginal" or "mean"
};

// What is expected of a label in a sequence.
struct LabelStats {
  std::string name;
  double expected_segments = 0;
  double expected_bases = 0;
  double position_entropy = 0;  // mean over positions of -P ln P, nats
};

// Lengths of segments, in bases.
struct LengthStats {
  double mean = 0;
  std::int64_t shortest = 0;
  std::int64_t q05 = 0, q25 = 0, median = 0, q75 = 0, q95 = 0, longest = 0;
};

// What a label is in the decoded path.
struct DecodedLabelStats {
  std::string name;
  std::int64_t segments = 0, bases = 0;
  double share = 0;                   // share of the bases of all segments
  std::optional<LengthStats> length;  // absent without segments
  // Shares of the segments: of K bins where the label has no tail, of more where it has one.
  std::optional<double> at_cap, in_tail;
  // Mean over the bases of its segments of P(label): of all sequences together, where posteriors were
  // computed; of a file, from column 5 over 1000 where there is one, or from tracks of posteriors.
  std::optional<double> posterior;
  std::optional<double>
      entropy;  // mean over these bases of -sum of P ln P over all labels, nats; from tracks
  std::vector<std::int64_t> followed_by;  // (C) segments of each label right behind one of this
};

// What is expected of a piece. What was not computed stays empty, as of a sequence.
struct PieceStats {
  std::int64_t start = 0, end = 0;  // bases, counted from 0
  std::optional<double> log_partition;
  std::optional<double> expected_segments;
  std::optional<double> segmentation_entropy;        // nats
  std::optional<double> log_constraint_probability;  // nats
};

// The best segmentations of a piece, the best first.
struct RankStats {
  std::int64_t start = 0, end = 0;      // bases, counted from 0
  std::vector<double> score;            // score of each segmentation
  std::vector<double> log_probability;  // ln P(y|x)
};

// What the engine did for a sequence, in every pass and direction.
struct SweepStats {
  std::int64_t blocks = 0;  // blocks of 16 positions
  std::int64_t fallbacks = 0;
  std::int64_t repaired_chunks = 0;
};

// One entry per sequence, in output order. What was not computed stays empty and is left out of the document.
struct SequenceStats {
  std::string name;
  std::int64_t length = 0;   // bases
  std::int64_t covered = 0;  // bins in pieces
  std::int64_t missing = 0;  // bins left out because a track has no value
  std::int64_t pieces = 0;
  std::optional<std::vector<MissingStats>> missing_values;  // tracks that lack some values
  std::optional<std::vector<double>> baseline;              // nu, (C)
  std::optional<std::int64_t> segments;
  // Summed over pieces; NaN: no segmentation exists, written as null.
  std::optional<double> log_partition, viterbi_score;
  std::optional<double> expected_segments;                                   // under P(y|x)
  std::optional<double> segmentation_entropy;                                // nats
  std::optional<double> expected_correct_bins, expected_correct_boundaries;  // for a path by posteriors
  std::optional<double> log_constraint_probability;                          // nats, summed over pieces
  std::optional<std::vector<LabelStats>> labels;
  std::optional<std::vector<DecodedLabelStats>> decoded_labels;
  std::optional<std::vector<PieceStats>> each_piece;
  std::optional<std::vector<RankStats>> best;         // the best segmentations of each piece
  std::optional<std::vector<double>> log_likelihood;  // ln P(y|x) of each draw, summed over pieces
  std::optional<double> boundary_entropy;             // nats
  std::optional<double> position_entropy;             // nats
  std::optional<double> max_normalization_error;
  std::optional<SweepStats> sweeps;
};

// Statistics of a model that was learned without labels.
struct LearnStats {
  std::vector<double> log_likelihood;                   // nats: of the start, and after each iteration
  std::vector<std::pair<std::string, double>> numbers;  // the chosen fit's, by name
};

// What a run was: everything that --stats writes.
struct Stats {
  std::string version;
  std::string device;
  std::vector<std::pair<std::string, double>> timings;  // name and seconds, in order
  std::optional<std::int64_t> peak_memory;              // bytes
  std::vector<Warning> warnings;
  std::vector<MissingTrackStats> missing_tracks;
  std::optional<double> log_constraint_probability;  // nats, of all sequences
  std::optional<LearnStats> learning;
  std::optional<std::vector<DecodedLabelStats>> decoded_labels;  // labels in all sequences
  std::optional<LengthStats> decoded_lengths;                    // lengths of all their segments
  std::vector<SequenceStats> sequences;
};

// The numbers above, declared for whoever writes them.
// Lengths of segments.
const StatisticList<LengthStats>& length_statistics();
// A label in a segmentation, its lengths included, in the order of the table.
const StatisticList<DecodedLabelStats>& label_statistics();
// A sequence of a run.
const StatisticList<SequenceStats>& sequence_statistics();

}  // namespace semicrf
