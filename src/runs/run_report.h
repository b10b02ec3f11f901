// What a run reports in addition to its outputs: statistics, warnings, times.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analyses/sequence_report.h"
#include "core/error.h"
#include "core/sizes.h"
#include "inputs/rows/missing_values.h"
#include "io/files/output_file.h"
#include "io/files/temp_spool.h"
#include "log/log.h"
#include "log/stage_times.h"
#include "model/parameters.h"

namespace semicrf {

// The warning that more than a tenth of the blocks took the exact path, where they did.
std::optional<Warning> exact_blocks_warning(std::int64_t fallbacks, std::int64_t blocks);

// Sums over the sequences of a run, in their order.
struct RunTotals {
  std::int64_t fallbacks = 0, blocks = 0;
  std::int64_t segments = 0, segments_at_cap = 0, uncertain_pieces = 0;  // see SequenceReport
  double uncertainty = 0, posterior_error = 0;
  std::optional<double> expected_segments, log_constraint_probability;
  double position_entropy = 0, entropy_bins = 0;       // sum over bins; their number
  std::int64_t lacking_values = 0, bins_of_track = 0;  // values lacking in all tracks together; bins that
                                                       // each track should have
};

// Where the statistics of a sequence go when all its pieces are done.
enum class SequenceStatistics {
  kKept,     // kept in Stats::sequences
  kSpooled,  // spooled as text, for write_document()
  kSummed,   // only added to the totals
};

// The report of a run. Not thread-safe.
class RunReport {
 public:
  StopWatch read, write, total;  // the caller starts the total, of which the rest is computing

  // Keeps the warning, and logs it: at once, or where it has a place when repeated ones are told.
  void warn(const Warning& warning);
  void tell_repeated_warnings() { repeated_.tell(); }
  // Warns of segments as long as K allows, and of entropies that are not known well.
  void warn_of_results();
  // Warns when so many blocks of all sequences took the exact path that it made the run slow.
  void warn_of_exact_blocks();
  // Says, when all pieces are done, what the tracks lack.
  void tell_missing_values();
  // Names the tracks that the sample lacks, for the statistics.
  void name_missing_tracks(std::vector<MissingTrackStats> tracks) { missing_tracks_ = std::move(tracks); }
  // Counts the segments of paths by label, from now on.
  void count_labels(const ChainModel& model) {
    decoded_.emplace(wide(model.num_labels), &model);
    no_segments_ = decoded_;
    posteriors_.resize(model.num_labels);
  }
  // Adds the mean of P(label) over the bases of a counted segment.
  void add_posterior(std::size_t label, std::int64_t bases, double mean);
  // Sets where the statistics of sequences go; to be called before the first sequence.
  void treat_sequences(SequenceStatistics how) { how_ = how; }
  // Adds a sequence, which end_sequence() completes once it is known how many pieces it has.
  SequenceReport& add_sequence();
  void end_sequence();
  // The report of a sequence by its number; valid until all its pieces and those of all sequences before are
  // done.
  SequenceReport& sequence(std::size_t number) { return open_[number - finished_sequences_].report; }
  // Says that a piece of this sequence was added to its report; called once for each.
  void end_piece(std::size_t number);
  // Sets the names of the labels, for statistics by label.
  void name_labels(const std::vector<Label>& labels);
  // The whole document, but for sequences that were not kept; the first call ends the clock, further ones
  // give the same.
  const Stats& finish(const std::string& version, const std::string& device);
  // Writes, after finish(), the document with the sequences that were spooled.
  void write_document(OutputFile& file) const;
  // The sums over all sequences, after finish().
  const RunTotals& totals() const { return totals_; }

 private:
  struct OpenSequence {
    SequenceReport report;
    bool is_known = false;  // whether it is known how many pieces it has
    std::int64_t pieces_done = 0;
    bool is_done() const { return is_known && pieces_done == report.stats.pieces; }
  };

  void finish_done();
  void finish_all();
  void finish_sequence(SequenceReport& sequence);
  Stats collected();
  std::vector<DecodedLabelStats> named(const SegmentCounts& decoded) const;
  std::vector<std::string> labels_;
  std::optional<Stats> finished_;
  std::vector<MissingTrackStats> missing_tracks_;
  std::optional<SegmentCounts> decoded_;      // segments of all sequences by label
  std::optional<SegmentCounts> no_segments_;  // counts that a sequence begins with
  struct PosteriorSum {
    double sum = 0;
    std::int64_t bases = 0;
  };
  std::vector<PosteriorSum> posteriors_;  // sums of posteriors by label
  SequenceStatistics how_ = SequenceStatistics::kKept;
  std::deque<OpenSequence> open_;
  std::size_t finished_sequences_ = 0;  // number of sequences before the open ones
  RunTotals totals_;
  MissingSummary missing_;
  bool has_decoded_labels_ = false;
  std::vector<SequenceStats> kept_;
  SpooledText entries_;
  std::vector<Warning> warnings_;
  RepeatedWarnings repeated_;
};

}  // namespace semicrf
