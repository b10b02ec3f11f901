// The pieces of a run, one after the other in the order of the output.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inputs/input_set.h"
#include "io/text/chromosomes.h"
#include "runs/run_report.h"

namespace semicrf {

struct Piece {
  std::size_t sequence = 0;  // index in InputSet::sequences() and of RunReport::sequence()
  BinRange bins;
  BinLocation location;
  CutEdges cut;
  std::shared_ptr<SequenceScores> scores;

  // "chr1:1001-2000", 1-based inclusive.
  std::string place() const;
};

// Opens sequences as it comes to them, and fills their entries of the report.
class PieceStream {
 public:
  // The parts of the pieces of a sequence that are wanted.
  using Cut = std::function<std::vector<BinRange>(const Sequence&, std::vector<BinRange>)>;

  // `cut` may be empty: all of every piece is wanted.
  PieceStream(const InputSet& inputs, const ReadOptions& options, RunReport& report, Cut cut = {});
  // The next piece; nothing after the last one. `engine`: the engine that will compute the piece; null where
  // it may not be asked to scan the sequence.
  std::optional<Piece> next(Engine* engine);
  const std::string& sequence_title(std::size_t index) const { return inputs_.sequences()[index].title; }

 private:
  void open_sequence(Engine* engine);
  std::vector<BinRange> wanted_pieces(const PieceRequest& request) const;

  const InputSet& inputs_;
  ReadOptions options_;
  RunReport& report_;
  Cut cut_;
  std::size_t sequence_ = 0;  // the sequence that is open
  std::size_t opened_ = 0;    // sequences opened so far
  std::shared_ptr<SequenceScores> scores_;
  std::vector<BinRange> pieces_;
  std::size_t next_piece_ = 0;
};

// The location of the bins of `sequence`, from `first_bin` on.
BinLocation locate(const Sequence& sequence, std::int64_t bin_size, std::int64_t first_bin);

}  // namespace semicrf
