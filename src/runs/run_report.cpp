#include "runs/run_report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/process_memory.h"
#include "core/text/text.h"
#include "engine/engine.h"
#include "log/log.h"

namespace semicrf {
namespace {

template <class Value>
void accumulate(std::optional<Value>& total, Value value) {
  total = total.value_or(Value{}) + value;
}

void count_path(const SegmentList& path, const BinLocation& location, SegmentCounts& counts) {
  SegmentList::Reader reader(path);
  std::optional<std::size_t> before;
  for (Segment segment; reader.next(segment);) {
    const auto label = static_cast<std::size_t>(segment.label);
    counts.add(label, location.end_base(segment.end) - location.begin_base(segment.begin),
               segment.end - segment.begin);
    if (before) counts.add_transition(*before, label);
    before = label;
  }
}

}  // namespace

std::int64_t blocks_of(std::int64_t positions) { return (positions + kBlockPositions - 1) / kBlockPositions; }

std::optional<Warning> exact_blocks_warning(std::int64_t fallbacks, std::int64_t blocks) {
  constexpr std::int64_t kFewest = 1000;  // less is computed in no time on either path
  constexpr std::int64_t kShare = 10;     // a tenth
  if (blocks < kFewest || fallbacks * kShare <= blocks) return std::nullopt;
  const std::string share = formatted("%.2g", static_cast<double>(fallbacks) / static_cast<double>(blocks));
  return Warning{"exact-blocks",
                 std::to_string(fallbacks) + " fallbacks in " + std::to_string(blocks) + " blocks of " +
                     std::to_string(kBlockPositions) + " bins (" + share +
                     " per block): scores, transitions or durations there differ by too much for fast "
                     "arithmetic, and an exact method was used, which is slow; the results are right. To go "
                     "faster, write -inf where -1e9 or the like means impossible, leave out positions that "
                     "mean nothing (--exclude), or try --precision double"};
}

void SequenceReport::add(const PieceResult& result, const BinLocation& location, std::int64_t positions) {
  // `directions` in which the pass went over the piece.
  const auto add_totals = [&](const ChunkTotals& totals, std::int64_t directions) {
    if (!stats.sweeps) stats.sweeps.emplace();
    stats.sweeps->blocks += directions * blocks_of(positions);
    stats.sweeps->fallbacks += totals.fallbacks;
    stats.sweeps->repaired_chunks += totals.repaired_chunks;
  };
  if (const SegmentList* const path = result.path_if_any()) {
    accumulate(stats.segments, path->size());
    if (decoded) count_path(*path, location, *decoded);
  }
  if (result.viterbi) {
    if (result.viterbi->score) accumulate(stats.viterbi_score, *result.viterbi->score);
    add_totals(*result.viterbi, 1);
  }
  if (result.posterior_path) {
    accumulate(stats.expected_correct_bins, result.posterior_path->expected_correct_bins);
    accumulate(stats.expected_correct_boundaries, result.posterior_path->expected_correct_boundaries);
  }
  if (result.claims) {
    accumulate(stats.log_partition, result.claims->log_partition);
    add_totals(*result.claims, 2);
  }
  if (result.shares) add_totals(*result.shares, 1);
  if (result.best_paths) {
    if (!result.posteriors) accumulate(stats.log_partition, result.best_paths->log_partition);
    add_totals(*result.best_paths, 1);
    add_ranks(*result.best_paths, location, positions);
  }
  // A path by posteriors has a sweep of its own, which says the same.
  if (result.path_posteriors) add_totals(*result.path_posteriors, 2);
  if (result.posteriors) add_totals(*result.posteriors, 2);
  if (result.intervals && result.intervals->swept) add_totals(*result.intervals->swept, 1);
  const PosteriorResult* const posteriors = result.posteriors        ? &*result.posteriors
                                            : result.path_posteriors ? &*result.path_posteriors
                                                                     : nullptr;
  if (posteriors != nullptr) add_posteriors(*posteriors, location, positions);
  add_piece(result, posteriors, location, positions);
  if (!result.draws) return;
  const std::vector<Draw>& draws = result.draws->draws;
  accumulate(stats.log_partition, result.draws->log_partition);
  if (!stats.log_likelihood) stats.log_likelihood.emplace(draws.size());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    (*stats.log_likelihood)[i] += draws[i].log_likelihood;
    accumulate(stats.segments, draws[i].segments.size());
  }
  add_totals(*result.draws, 1);
}

void SequenceReport::add_ranks(const BestPaths& best, const BinLocation& location, std::int64_t positions) {
  if (!stats.best) stats.best.emplace();
  RankStats& piece = stats.best->emplace_back();
  piece.start = location.begin_base(0);
  piece.end = location.end_base(positions);
  for (const BestPaths::Rank& rank : best.ranks) {
    piece.score.push_back(rank.score);
    piece.log_probability.push_back(rank.log_probability);
  }
}

void SequenceReport::add_posteriors(const PosteriorResult& posteriors, const BinLocation& location,
                                    std::int64_t positions) {
  accumulate(stats.log_partition, posteriors.log_partition);
  accumulate(stats.expected_segments, posteriors.boundary_mass);
  stats.max_normalization_error =
      std::max(stats.max_normalization_error.value_or(0), posteriors.max_normalization_error);
  boundary_mass_ += posteriors.boundary_mass;
  boundary_plogp_ += posteriors.boundary_plogp;
  label_entropy_ += posteriors.label_entropy;
  positions_ += positions;
  if (posteriors.sums) add_sums(*posteriors.sums, location, positions);
}

// An entry of its own, where it has more to say than the sequence.
void SequenceReport::add_piece(const PieceResult& result, const PosteriorResult* posteriors,
                               const BinLocation& location, std::int64_t positions) {
  const bool summed = posteriors != nullptr && posteriors->sums;
  if (result.log_constraint_probability)
    accumulate(stats.log_constraint_probability, *result.log_constraint_probability);
  if (!summed && !result.log_constraint_probability) return;
  PieceStats piece;
  piece.start = location.begin_base(0);
  piece.end = location.end_base(positions);
  if (summed) {
    piece.log_partition = posteriors->log_partition;
    piece.expected_segments = posteriors->boundary_mass;
    piece.segmentation_entropy = posteriors->sums->entropy;
  }
  piece.log_constraint_probability = result.log_constraint_probability;
  if (!stats.each_piece) stats.each_piece.emplace();
  stats.each_piece->push_back(piece);
}

void SequenceReport::add_sums(const PosteriorSums& sums, const BinLocation& location,
                              std::int64_t positions) {
  accumulate(stats.segmentation_entropy, sums.entropy);
  if (!stats.labels) stats.labels.emplace(sums.label_bins.size());
  const auto bin = static_cast<double>(location.bin_size);
  // The last bin of a sequence may be shorter.
  const auto cut = static_cast<double>(location.begin_base(positions) - location.end_base(positions));
  for (std::size_t c = 0; c < sums.label_bins.size(); ++c) {
    LabelStats& label = (*stats.labels)[c];
    label.expected_segments += sums.label_segments[c];
    label.expected_bases += sums.label_bins[c] * bin - sums.last_bin[c] * cut;
    label.position_entropy += sums.label_entropies[c];
  }
}

void SequenceReport::add_infeasible(bool viterbi, bool posteriors) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (viterbi) accumulate(stats.viterbi_score, none);
  if (posteriors) accumulate(stats.log_partition, none);
}

void SequenceReport::finish(const std::vector<std::string>& labels) {
  if (stats.labels)
    for (std::size_t c = 0; c < stats.labels->size(); ++c) {
      LabelStats& label = (*stats.labels)[c];
      label.name = labels[c];
      label.position_entropy /= static_cast<double>(positions_);
    }
  if (positions_ == 0) return;
  stats.boundary_entropy = boundary_entropy(boundary_mass_, boundary_plogp_);
  stats.position_entropy = label_entropy_ / static_cast<double>(positions_);
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
        (*stats.decoded_labels)[c].posterior = sum / static_cast<double>(bases);
  }
  return stats;
}

}  // namespace semicrf
