// What a training run keeps in memory: pieces of sequences with their features and true segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/segment.h"
#include "io/text/chromosomes.h"
#include "model/scores/edge_roles.h"
#include "train/data/label_file.h"

namespace semicrf {

// Rows of features that occur again and again, as those of 0/1 tracks do.
struct TrainingData;

struct FeaturePatterns {
  std::vector<float> rows;  // (patterns, F)
  std::int64_t count = 0;
};

inline constexpr std::int64_t kMostPatterns = 1024;

// Gives every piece the number of the pattern of each of its bins, in the order in which patterns come first,
// where there are at most kMostPatterns and the data are much longer; else takes such numbers away. For
// features that no longer change.
void find_patterns(TrainingData& data);

// A run of bins, a sequence of its own for the model: labelled bins, and those between them that may have any
// label.
struct TrainingPiece {
  BinLocation location;
  std::size_t sample = 0;       // number among the samples trained on together
  std::int64_t length = 0;      // T
  CutEdges cut;                 // that the model scores as such
  std::vector<float> features;  // (T, F) row-major, transformed; NaN: no value, until it is filled
  // What `features` are made of, where few rows occur: the row of each bin (T) among the patterns of all
  // pieces. Empty and null: not known.
  std::vector<std::uint16_t> pattern_of;
  std::shared_ptr<const FeaturePatterns> patterns;
  std::vector<float> start_scores, end_scores;  // (T, C) given as inputs; empty: none are
  std::vector<Segment> segments;                // the known ones; tile [0, T) where there is no evidence
  std::vector<std::int64_t> lines;              // per segment: its line in the label file
  std::vector<LabelEvidence> evidence;  // tiles [0, T) where the segments do not say everything, else empty
  std::vector<double> feature_mean;  // (F) over the whole sequence; empty unless `mean` centring asks for it

  // Whether there is one true segmentation. A piece with neither segments nor evidence may have any.
  bool is_settled() const { return evidence.empty() && !segments.empty(); }

  // Whether its patterns are known, and few beside its length.
  bool repeats() const { return patterns != nullptr && length >= 4 * patterns->count; }

  // Bins, or bases where these are sites.
  std::int64_t positions() const {
    return location.sites ? location.begin_base(length) - location.begin_base(0) : length;
  }

  // "chr1:1001-2000", 1-based inclusive.
  std::string place(std::int64_t begin, std::int64_t end) const { return location.place(begin, end); }
};

struct TrainingData {
  int num_labels = 0;  // C
  int num_tracks = 0;  // F
  // For each of the last columns: 1 where this column has no value, else 0. For each of those before: 1 where
  // this column has one of its values, else 0.
  std::vector<std::size_t> absence_of, indicator_of;
  double log_slopes = 0;  // sum of ln(d feature / d raw value) over all values; set by `learn` alone
  std::vector<TrainingPiece> pieces;

  // Arrays of (T, C) scores that every piece has beside its features.
  std::size_t boundary_arrays() const {
    if (pieces.empty()) return 0;
    const TrainingPiece& piece = pieces.front();
    return (piece.start_scores.empty() ? 0u : 1u) + (piece.end_scores.empty() ? 0u : 1u);
  }

  // Their numbers.
  std::vector<std::size_t> all_pieces() const {
    std::vector<std::size_t> all(pieces.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }
  std::int64_t positions() const {
    std::int64_t sum = 0;
    for (const TrainingPiece& piece : pieces) sum += piece.length;
    return sum;
  }
  std::int64_t segments() const {
    std::int64_t sum = 0;
    for (const TrainingPiece& piece : pieces) sum += std::ssize(piece.segments);
    return sum;
  }
  // Bins that no line of the label file labels.
  std::int64_t free_positions() const {
    std::int64_t sum = 0;
    for (const TrainingPiece& piece : pieces)
      for (const LabelEvidence& one : piece.evidence)
        if (one.is_free()) sum += one.end - one.begin;
    return sum;
  }
};

// How often things occur in the known segments.
struct PathCounts {
  std::vector<double> positions;                     // (C)
  std::vector<double> segments;                      // (C)
  std::vector<double> transition;                    // (C, C), [from][to], of segments that touch
  std::vector<std::vector<std::int64_t>> durations;  // per label, in the order of the data
};
PathCounts count_paths(const TrainingData& data);

// Every bin a segment of its own: the truth of a linear chain (K = 1). Of a line with several labels every
// bin may have another of them.
void split_into_single_bins(TrainingData& data);

// Positions [begin, end) of a piece; both are known boundaries, or nothing is known of its segments.
TrainingPiece part_of(const TrainingPiece& piece, std::int64_t begin, std::int64_t end);
// Cuts every piece into windows of at least `length` bins at known boundaries, so that each is a piece of its
// own with whole segments, but for those at cuts; the last one of a piece may be shorter.
TrainingData cut_into_windows(const TrainingData& data, std::int64_t length);

}  // namespace semicrf
