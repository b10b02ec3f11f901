// Where sequences lie on the rows that a pass shares: a window alone, or whole sequences one after the other,
// each from a whole block on. Plain C++.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/tables/tile_config.h"
#include "engine/engine.h"

namespace semicrf::cuda {

struct PlacedSequence {
  PositionRange range;         // positions that are computed
  std::int64_t length = 0;     // T of the sequence
  RunCut cut;                  // states are kept at its marks and at the edges of runs
  std::int64_t first_row = 0;  // row of range.begin

  // The chunk that holds a position of the range, which begins with a chunk.
  std::size_t chunk_of(std::int64_t position) const {
    return static_cast<std::size_t>((position - range.begin) / cut.chunk);
  }
};

struct SequenceLayout {
  std::vector<PlacedSequence> sequences;
  PositionRange tokens;  // a window's own positions; rows [0, n) of whole sequences

  SequenceLayout() = default;
  // A window of a sequence.
  explicit SequenceLayout(const PlacedSequence& window) : sequences{window}, tokens(window.range) {}
  // Whole sequences, to be placed.
  explicit SequenceLayout(std::vector<PlacedSequence> whole);

  std::int64_t rows() const { return tokens.size(); }
  bool alone() const { return sequences.size() == 1; }
  std::int64_t longest_mark() const;
};

}  // namespace semicrf::cuda
