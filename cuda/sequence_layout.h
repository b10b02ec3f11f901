// Where sequences lie on the rows that a pass shares: a window alone, or whole sequences one after the other,
// each from a whole block on. Plain C++.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.h"

namespace semicrf::cuda {

struct PlacedSequence {
  PositionRange range;         // positions that are computed
  std::int64_t length = 0;     // T of the sequence
  std::int64_t first_row = 0;  // row of range.begin
};

struct SequenceLayout {
  std::vector<PlacedSequence> sequences;
  PositionRange tokens;  // a window's own positions; rows [0, n) of whole sequences

  SequenceLayout() = default;
  SequenceLayout(PositionRange window, std::int64_t length)
      : sequences{{window, length, 0}}, tokens(window) {}
  // Whole sequences of these lengths.
  explicit SequenceLayout(const std::vector<std::int64_t>& lengths);

  std::int64_t rows() const { return tokens.size(); }
  bool alone() const { return sequences.size() == 1; }
};

}  // namespace semicrf::cuda
