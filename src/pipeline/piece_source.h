// The scores of one piece, from the rows of its sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/linear_heads.h"
#include "model/pieces.h"
#include "model/score_source.h"
#include "pipeline/row_reader.h"

namespace semicrf {

// What the pieces of one sequence share. Not thread-safe.
struct SequenceScores {
  std::unique_ptr<RowReader> rows;  // label scores, or features when there are heads
  std::shared_ptr<const LinearHeads> heads;
  std::unique_ptr<RowReader> start, end;  // boundary scores given as inputs, or null
  std::vector<double> baseline;           // nu, (C); empty: 0
  bool subtract_position_max = false;
  Precision precision = Precision::kFloat;
  int threads = 1;
  std::size_t cached_bytes = 0;  // of rows that are kept
};

// Positions are counted from the piece's first bin. Keeps a reference to `scores`.
std::unique_ptr<ScoreSource> make_piece_source(std::shared_ptr<SequenceScores> scores, BinRange piece);

}  // namespace semicrf
