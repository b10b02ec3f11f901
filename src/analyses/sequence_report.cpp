#include "analyses/sequence_report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analyses/posteriors/posterior_summing.h"
#include "core/counts.h"

namespace semicrf {

std::int64_t blocks_of(std::int64_t positions) { return (positions + kBlockPositions - 1) / kBlockPositions; }

void SequenceReport::add(const AnalysisList& analyses, const PieceRecord& piece) {
  entry_.reset();
  if (const SegmentList* const path = piece.result.path_if_any()) add_path(*path, piece);
  for (const auto& analysis : analyses) analysis->record(piece, *this);
  if (const std::optional<double>& log = piece.result.log_constraint_probability) {
    accumulate(stats.log_constraint_probability, *log);
    entry_of(piece).log_constraint_probability = log;
  }
  if (!entry_) return;
  if (!stats.each_piece) stats.each_piece.emplace();
  stats.each_piece->push_back(*entry_);
}

void SequenceReport::add_infeasible(const AnalysisList& analyses) {
  for (const auto& analysis : analyses) analysis->record_infeasible(*this);
}

PieceStats& SequenceReport::entry_of(const PieceRecord& piece) {
  if (!entry_) {
    entry_.emplace();
    entry_->start = piece.location.begin_base(0);
    entry_->end = piece.location.end_base(piece.positions);
  }
  return *entry_;
}

void SequenceReport::add_totals(const ChunkTotals& totals, int directions, const PieceRecord& piece) {
  if (!stats.sweeps) stats.sweeps.emplace();
  stats.sweeps->blocks += directions * blocks_of(piece.positions);
  stats.sweeps->fallbacks += totals.fallbacks;
  stats.sweeps->repaired_chunks += totals.repaired_chunks;
}

void SequenceReport::add_path(const SegmentList& path, const PieceRecord& piece) {
  accumulate(stats.segments, path.size());
  if (!decoded) return;
  const BinLocation& location = piece.location;
  SegmentList::Reader reader(path);
  std::optional<std::size_t> before;
  for (Segment segment; reader.next(segment);) {
    const std::size_t label = segment.label;
    decoded->add(label, location.end_base(segment.end) - location.begin_base(segment.begin),
                 segment.end - segment.begin);
    if (before) decoded->add_transition(*before, label);
    before = label;
  }
}

void SequenceReport::add_posteriors(const PosteriorResult& posteriors, const PieceRecord& piece) {
  accumulate(stats.log_partition, posteriors.log_partition);
  posterior_error =
      std::max(posterior_error, std::fabs(posteriors.log_partition) * std::numeric_limits<double>::epsilon());
  accumulate(stats.expected_segments, posteriors.boundary_mass);
  stats.max_normalization_error =
      std::max(stats.max_normalization_error.value_or(0), posteriors.max_normalization_error);
  boundary_mass_ += posteriors.boundary_mass;
  boundary_plogp_ += posteriors.boundary_plogp;
  label_entropy_ += posteriors.label_entropy;
  positions_ += piece.positions;
  if (posteriors.sums) add_sums(posteriors, piece);
}

void SequenceReport::add_sums(const PosteriorResult& posteriors, const PieceRecord& piece) {
  const PosteriorSums& sums = *posteriors.sums;
  if (!is_certain(sums.entropy, sums.entropy_uncertainty)) {
    ++uncertain_pieces;
    uncertainty += sums.entropy_uncertainty;
  }
  PieceStats& entry = entry_of(piece);
  entry.log_partition = posteriors.log_partition;
  entry.expected_segments = posteriors.boundary_mass;
  entry.segmentation_entropy = sums.entropy;
  accumulate(stats.segmentation_entropy, sums.entropy);
  if (!stats.labels) stats.labels.emplace(sums.label_bins.size());
  const BinLocation& location = piece.location;
  const auto bin = static_cast<double>(location.bin_size);
  // The last bin of a sequence may be shorter.
  const auto lacking =
      static_cast<double>(location.begin_base(piece.positions) - location.end_base(piece.positions));
  for (std::size_t c = 0; c < sums.label_bins.size(); ++c) {
    LabelStats& label = (*stats.labels)[c];
    label.expected_segments += sums.label_segments[c];
    label.expected_bases += sums.label_bins[c] * bin - sums.last_bin[c] * lacking;
    label.position_entropy += sums.label_entropies[c];
  }
}

void SequenceReport::finish(const std::vector<std::string>& labels) {
  if (stats.labels)
    for (std::size_t c = 0; c < stats.labels->size(); ++c) {
      LabelStats& label = (*stats.labels)[c];
      label.name = labels[c];
      label.position_entropy = ratio(label.position_entropy, positions_);
    }
  if (positions_ == 0) return;
  stats.boundary_entropy = boundary_entropy(boundary_mass_, boundary_plogp_);
  stats.position_entropy = ratio(label_entropy_, positions_);
}

}  // namespace semicrf
