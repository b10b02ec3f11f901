#include "runs/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/posteriors/posterior_summing.h"
#include "core/counts.h"
#include "core/process_memory.h"
#include "core/text/text.h"
#include "engine/engine.h"
#include "io/json/stats_json.h"
#include "log/log.h"

namespace semicrf {

std::optional<Warning> exact_blocks_warning(std::int64_t fallbacks, std::int64_t blocks) {
  constexpr std::int64_t kFewest = 1000;  // fewer blocks take no time on either path
  constexpr std::int64_t kShare = 10;     // a tenth
  if (blocks < kFewest || fallbacks * kShare <= blocks) return std::nullopt;
  const std::string share = fmt::format("{:.2g}", ratio(fallbacks, blocks));
  return Warning{
      "exact-blocks",
      fmt::format("{} fallbacks in {} blocks of {} bins ({} per block): scores, transitions or durations "
                  "there differ by too much for fast arithmetic, and an exact method was used, which is "
                  "slow; the results are right. To go faster, write -inf where -1e9 or the like means "
                  "impossible, leave out positions that mean nothing (--exclude), or try --precision double",
                  fallbacks, blocks, kBlockPositions, share)};
}

void RunReport::name_labels(const std::vector<Label>& labels) {
  labels_.clear();
  for (const Label& label : labels) labels_.push_back(label.name);
}

void RunReport::warn(const Warning& warning) {
  if (warning.place.empty()) {
    log_warning(warning);
    warnings_.push_back(warning);
  } else {
    repeated_.add(warning);
    warnings_.push_back({warning.code, warning.place + ": " + warning.message});
  }
}

void RunReport::warn_of_results() {
  finish_all();
  if (totals_.segments_at_cap * 100 > totals_.segments)
    warn({"durations-at-cap", fmt::format("{} of {} segments are as long as max_duration allows; raise "
                                          "max_duration or give the model a tail",
                                          totals_.segments_at_cap, totals_.segments)});
  if (totals_.uncertain_pieces > 0)
    warn(uncertain_entropy_warning("segmentation_entropy", totals_.uncertain_pieces, totals_.uncertainty));
  constexpr double kNoticed = 1e-3;
  if (totals_.posterior_error > kNoticed)
    warn({"uncertain-posteriors",
          fmt::format("posteriors may be wrong by {:.2g}, because log Z is too large for the digits of a "
                      "double; scores below 1e9 are safe, and -inf is what forbids",
                      std::min(1.0, totals_.posterior_error))});
}

void RunReport::warn_of_exact_blocks() {
  finish_all();
  if (const auto warning = exact_blocks_warning(totals_.fallbacks, totals_.blocks)) warn(*warning);
}

void RunReport::add_posterior(std::size_t label, std::int64_t bases, double mean) {
  if (!decoded_) return;
  posteriors_[label].sum += static_cast<double>(bases) * mean;
  posteriors_[label].bases += bases;
}

SequenceReport& RunReport::add_sequence() {
  SequenceReport& sequence = open_.emplace_back().report;
  sequence.decoded = no_segments_;
  return sequence;
}

void RunReport::end_sequence() {
  open_.back().is_known = true;
  finish_done();
}

void RunReport::end_piece(std::size_t number) {
  open_[number - finished_sequences_].pieces_done += 1;
  finish_done();
}

// Sequences are finished in their order, so that sums do not depend on who was done first.
void RunReport::finish_done() {
  while (!open_.empty() && open_.front().is_done()) {
    finish_sequence(open_.front().report);
    open_.pop_front();
    ++finished_sequences_;
  }
}

void RunReport::finish_all() {
  for (OpenSequence& sequence : open_) finish_sequence(sequence.report);
  finished_sequences_ += open_.size();
  open_.clear();
}

void RunReport::finish_sequence(SequenceReport& sequence) {
  SequenceStats& stats = sequence.stats;
  sequence.finish(labels_);
  if (sequence.decoded && stats.segments) {
    stats.decoded_labels = named(*sequence.decoded);
    decoded_->add(*sequence.decoded);
    has_decoded_labels_ = true;
  }
  if (sequence.missing_values) {
    stats.missing_values = missing_stats(*sequence.missing_values);
    missing_.add(stats.name, *sequence.missing_values);
    totals_.bins_of_track += stats.covered + stats.missing;
    for (const MissingStats& track : *stats.missing_values) totals_.lacking_values += track.bins;
  }
  if (stats.sweeps) {
    totals_.fallbacks += stats.sweeps->fallbacks;
    totals_.blocks += stats.sweeps->blocks;
  }
  totals_.segments += sequence.segments;
  totals_.segments_at_cap += sequence.segments_at_cap;
  totals_.uncertain_pieces += sequence.uncertain_pieces;
  totals_.uncertainty += sequence.uncertainty;
  totals_.posterior_error = std::max(totals_.posterior_error, sequence.posterior_error);
  if (stats.log_constraint_probability)
    accumulate(totals_.log_constraint_probability, *stats.log_constraint_probability);
  if (stats.expected_segments) accumulate(totals_.expected_segments, *stats.expected_segments);
  if (stats.position_entropy) {
    totals_.position_entropy += *stats.position_entropy * static_cast<double>(stats.covered);
    totals_.entropy_bins += static_cast<double>(stats.covered);
  }
  if (how_ == SequenceStatistics::kKept) kept_.push_back(std::move(stats));
  if (how_ == SequenceStatistics::kSpooled) entries_.append(stats_entry(stats, entries_.empty()));
}

void RunReport::tell_missing_values() {
  finish_all();
  log_missing_values(missing_);
  for (const Warning& warning : missing_.warnings()) warn(warning);
}

const Stats& RunReport::finish(const std::string& version, const std::string& device) {
  if (!finished_) {
    total.stop();
    tell_repeated_warnings();
    finished_ = collected();
    finished_->version = version;
    finished_->device = device;
  }
  return *finished_;
}

void RunReport::write_document(OutputFile& file) const {
  const StatsFrame frame = stats_frame(*finished_, !entries_.empty());
  file.write(frame.before);
  entries_.visit([&](std::string_view text) { file.write(text); });
  file.write(frame.behind);
}

std::vector<DecodedLabelStats> RunReport::named(const SegmentCounts& decoded) const {
  std::vector<DecodedLabelStats> list = decoded.stats();
  for (std::size_t c = 0; c < list.size(); ++c) list[c].name = labels_[c];
  return list;
}

Stats RunReport::collected() {
  finish_all();
  Stats stats;
  stats.timings = {{"read", read.seconds()},
                   {"compute", std::max(0.0, total.seconds() - read.seconds() - write.seconds())},
                   {"write", write.seconds()},
                   {"total", total.seconds()}};
  stats.peak_memory = peak_resident_bytes();
  stats.warnings = warnings_;
  stats.missing_tracks = missing_tracks_;
  stats.log_constraint_probability = totals_.log_constraint_probability;
  stats.sequences = std::move(kept_);
  if (has_decoded_labels_) stats.decoded_labels = named(*decoded_);
  if (stats.decoded_labels) {
    stats.decoded_lengths = decoded_->lengths();
    for (std::size_t c = 0; c < posteriors_.size(); ++c)
      if (const auto& [sum, bases] = posteriors_[c]; bases > 0)
        (*stats.decoded_labels)[c].posterior = ratio(sum, bases);
  }
  return stats;
}

}  // namespace semicrf
