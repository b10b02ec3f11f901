#include "runs/piece_stream.h"

#include <utility>

#include "log/stage_times.h"

namespace semicrf {

std::string Piece::place() const { return location.place(0, bins.size()); }

BinLocation locate(const Sequence& sequence, std::int64_t bin_size, std::int64_t first_bin) {
  BinLocation location;
  location.chromosome = sequence.chromosome;
  location.bin_size = bin_size;
  location.origin = sequence.origin;
  location.limit = sequence.origin + sequence.length;
  location.first_bin = first_bin;
  location.sites = sequence.sites;
  return location;
}

PieceStream::PieceStream(const InputSet& inputs, const ReadOptions& options, RunReport& report, Cut cut)
    : inputs_(inputs), options_(options), report_(report), cut_(std::move(cut)) {}

std::optional<Piece> PieceStream::next(Engine* engine) {
  while (next_piece_ == pieces_.size()) {
    scores_.reset();
    if (opened_ == inputs_.sequences().size()) return std::nullopt;
    open_sequence(engine);
  }
  Piece piece;
  piece.sequence = sequence_;
  piece.cut = inputs_.cut_edges(sequence_, pieces_, next_piece_);
  piece.bins = pieces_[next_piece_++];
  piece.location = locate(inputs_.sequences()[sequence_], inputs_.bin_size(), piece.bins.begin);
  piece.scores = scores_;
  return piece;
}

std::vector<BinRange> PieceStream::wanted_pieces(const PieceRequest& request) const {
  std::vector<BinRange> pieces = make_pieces(request);
  return cut_ ? cut_(inputs_.sequences()[sequence_], std::move(pieces)) : pieces;
}

void PieceStream::open_sequence(Engine* engine) {
  sequence_ = opened_++;
  const Sequence& sequence = inputs_.sequences()[sequence_];
  PieceRequest request = inputs_.piece_request(sequence_);
  const std::int64_t wanted = total_bins(wanted_pieces(request));
  pieces_.clear();
  next_piece_ = 0;
  SequenceReport& sequence_report = report_.add_sequence();
  SequenceStats& stats = sequence_report.stats;
  stats.name = sequence.title;
  stats.length = sequence.length;
  if (wanted > 0) {
    StageTimes times(sequence.title);
    scores_ = inputs_.open_scores(sequence_, options_);
    if (scores_->missing_values) {
      scores_->missing_values->want(wanted_pieces(request));
      sequence_report.missing_values = scores_->missing_values;
    }
    times.end("open");
    InputSet::Scan scan = timed(report_.read, [&] { return inputs_.scan(sequence_, *scores_, engine); });
    times.end("scan");
    for (const Warning& warning : scan.warnings) report_.warn(warning);
    request.missing = std::move(scan.missing);
    pieces_ = wanted_pieces(request);
    stats.baseline = scores_->baseline;
    if (stats.baseline->empty()) stats.baseline->assign(inputs_.num_labels(), 0);
  } else if (inputs_.left_out(sequence_) && !cut_) {
    report_.warn({"no-values",
                  "no track has a value on this sequence; it is left out (--all-chromosomes includes it)",
                  sequence.title});
  }
  stats.pieces = std::ssize(pieces_);
  stats.covered = total_bins(pieces_);
  stats.missing = wanted - stats.covered;
  report_.end_sequence();
}

}  // namespace semicrf
