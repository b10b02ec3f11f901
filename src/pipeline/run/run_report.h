// What a run has to say besides its outputs: statistics, warnings, times.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/warning.h"
#include "io/json/stats_json.h"
#include "io/text/bin_location.h"
#include "model/parameters.h"
#include "pipeline/analyses/piece_work.h"
#include "pipeline/inputs/rows/missing_values.h"
#include "pipeline/run/repeated_warnings.h"
#include "pipeline/run/stage_times.h"
#include "segmentation/segment_counts.h"

namespace semicrf {

// Adds up the results of the pieces of one sequence.
class SequenceReport {
 public:
  SequenceStats stats;
  std::shared_ptr<const MissingCounter> missing_values;  // or null; complete when all pieces are done
  std::optional<SegmentCounts> decoded;                  // of the path, where it is counted

  // A feasible piece of so many positions.
  void add(const PieceResult& result, const BinLocation& location, std::int64_t positions);
  void add_infeasible(bool viterbi, bool posteriors);
  // Brings the entropies and the names of the labels into `stats`.
  void finish(const std::vector<std::string>& labels);

 private:
  void add_ranks(const BestPaths& best, const BinLocation& location, std::int64_t positions);
  void add_posteriors(const PosteriorResult& posteriors, const BinLocation& location, std::int64_t positions);
  void add_sums(const PosteriorSums& sums, const BinLocation& location, std::int64_t positions);
  void add_piece(const PieceResult& result, const PosteriorResult* posteriors, const BinLocation& location,
                 std::int64_t positions);
  double boundary_mass_ = 0;
  double boundary_plogp_ = 0;
  double label_entropy_ = 0;
  std::int64_t positions_ = 0;
};

// Blocks of 16 positions that so many positions of a piece are computed in.
std::int64_t blocks_of(std::int64_t positions);

// What a user should know when more than a tenth of the blocks took the exact path.
std::optional<Warning> exact_blocks_warning(std::int64_t fallbacks, std::int64_t blocks);

// Not thread-safe.
class RunReport {
 public:
  StopWatch read, write, total;  // the caller starts the total, of which the rest is computing

  // Keeps the warning, and logs it: at once, or where it has a place when repeated ones are told.
  void warn(const Warning& warning);
  void tell_repeated_warnings() { repeated_.tell(); }
  // Warns when so many blocks of all sequences took the exact path that it made the run slow.
  void warn_of_exact_blocks();
  // Says, when all pieces are done, what the tracks lack.
  void tell_missing_values();
  // For the statistics.
  void name_missing_tracks(std::vector<MissingTrackStats> tracks) { missing_tracks_ = std::move(tracks); }
  // Counts the segments of paths by label, from now on.
  void count_labels(const ChainModel& model) {
    decoded_.emplace(static_cast<std::size_t>(model.num_labels), &model);
    posteriors_.resize(static_cast<std::size_t>(model.num_labels));
  }
  // Of a counted segment: the mean of P(label) over its bases.
  void add_posterior(std::size_t label, std::int64_t bases, double mean);
  // A sequence more.
  SequenceReport& add_sequence();
  // For what is said of single labels.
  void name_labels(const std::vector<Label>& labels);
  std::vector<SequenceReport>& sequences() { return sequences_; }
  // The whole document; the first call ends the clock, further ones give the same.
  const Stats& finish(const std::string& version, const std::string& device);

 private:
  Stats collected();
  std::vector<std::string> labels_;
  std::optional<Stats> finished_;
  std::vector<MissingTrackStats> missing_tracks_;
  std::optional<SegmentCounts> decoded_;  // of all sequences
  struct PosteriorSum {
    double sum = 0;
    std::int64_t bases = 0;
  };
  std::vector<PosteriorSum> posteriors_;  // by label
  std::vector<SequenceReport> sequences_;
  std::vector<Warning> warnings_;
  RepeatedWarnings repeated_;
};

}  // namespace semicrf
