// Statistics of one sequence, added up over its pieces by the analyses.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "inputs/rows/missing_values.h"
#include "model/statistics.h"
#include "segmentation/segment_counts.h"

namespace semicrf {

// Blocks of 16 positions that so many positions of a piece are computed in.
std::int64_t blocks_of(std::int64_t positions);

template <class Value>
void accumulate(std::optional<Value>& total, Value value) {
  total = total.value_or(Value{}) + value;
}

class SequenceReport {
 public:
  SequenceStats stats;
  std::shared_ptr<const MissingCounter> missing_values;  // missing values of the tracks, or null; complete
                                                         // when all pieces are done
  std::optional<SegmentCounts> decoded;                  // segments of the path by label, where they are
                                                         // counted
  // Segments of the best path, and those of them that are as long as K allows where nothing may be longer.
  std::int64_t segments = 0, segments_at_cap = 0;
  // Pieces whose entropy is not known well, and the uncertainty of their entropies together, nats.
  std::int64_t uncertain_pieces = 0;
  double uncertainty = 0;
  double posterior_error = 0;  // that the digits of the largest log Z of a piece leave to posteriors

  // Adds a feasible piece, and one that is not feasible.
  void add(const AnalysisList& analyses, const PieceRecord& piece);
  void add_infeasible(const AnalysisList& analyses);
  // Brings the entropies and the names of the labels into `stats`.
  void finish(const std::vector<std::string>& labels);

  // For analyses: adds the totals of a pass that swept the piece in so many directions.
  void add_totals(const ChunkTotals& totals, int directions, const PieceRecord& piece);
  // A piece without a segmentation: the log partition function of the sequence is NaN, null in the document.
  void add_no_log_partition() { accumulate(stats.log_partition, std::numeric_limits<double>::quiet_NaN()); }
  void add_path(const SegmentList& path, const PieceRecord& piece);
  // Adds the sums of the last posteriors that were computed of the piece.
  void add_posteriors(const PosteriorResult& posteriors, const PieceRecord& piece);

 private:
  void add_sums(const PosteriorResult& posteriors, const PieceRecord& piece);
  PieceStats& entry_of(const PieceRecord& piece);

  std::optional<PieceStats> entry_;  // entry of the piece that is being added, where it has one
  double boundary_mass_ = 0;
  double boundary_plogp_ = 0;
  double label_entropy_ = 0;
  std::int64_t positions_ = 0;
};

}  // namespace semicrf
