// Position-dependent scores of a stretch of one sequence, as the engines read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/chain_model.h"

namespace semicrf {

// A row-major (n, C) array in single or double precision; at most one pointer is set, none means "absent".
struct ScoreArray {
  const float* f32 = nullptr;
  const double* f64 = nullptr;

  bool empty() const { return f32 == nullptr && f64 == nullptr; }
  double at(std::size_t index) const { return f32 != nullptr ? static_cast<double>(f32[index]) : f64[index]; }
};

// What position-max centring subtracts: the largest of the `labels` scores from index `first` on; 0 where all
// are -inf.
inline double position_maximum(const ScoreArray& emissions, std::size_t first, std::size_t labels) {
  double largest = kNegativeInfinity;
  for (std::size_t c = 0; c < labels; ++c) largest = std::max(largest, emissions.at(first + c));
  return largest == kNegativeInfinity ? 0.0 : largest;
}

// Positions [begin, end) of a sequence of `length` positions. Scores are log-scale, finite or -inf.
// Engines centre on the fly, in double: fbar[t,c] = f[t,c] - baseline[c] - (subtract_position_max ? max_c f[t,c] : 0).
struct ScoreWindow {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t length = 0;            // T of the whole sequence (piece)
  ScoreArray emissions;               // f, (end-begin, C)
  ScoreArray start_scores;            // Ps, (end-begin, C) or absent (0); without pi_start, which engines add
  ScoreArray end_scores;              // Pe, likewise; without pi_end
  std::span<const double> baseline;   // nu, (C) or empty (0)
  bool subtract_position_max = false; // position-max centring; a position whose scores are all -inf is left as is
  // Windows with the same number (not 0) hold the same scores wherever they cover the same positions, so that an engine may keep them.
  std::uint64_t sequence = 0;
};

}  // namespace semicrf
