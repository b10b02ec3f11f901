// Position-dependent scores of a stretch of one sequence, as the engines read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// One linear head: score[t,c] = bias[c] + sum over j of weights[j C + c] x_j, x_j the features of positions
// t + first .. t + last one after the other; those outside the sequence are left out. Summed in double in
// this order, without fused multiply-adds. Made by make_head_table (model/scores/linear_heads.h).
struct HeadTable {
  std::vector<double> weights;  // (inputs, C); empty: no inputs
  std::vector<double> bias;     // (C)
  int first = 0;
  int last = 0;
  std::vector<double> grouped;  // bias and weights as the host reads them, 4 labels at a time
};

// Features, and the heads that make the scores of a window of them.
struct FeatureRows {
  ScoreArray
      rows;  // (end - begin, tracks): all that the heads want of the window, as far as the sequence has it
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int tracks = 0;
  bool wide = false;  // scores are rounded to double, else to float
  const HeadTable* emission = nullptr;
  const HeadTable* start = nullptr;  // null: there are no such scores
  const HeadTable* finish = nullptr;
  // What training takes from the emission score of every position's own label, in the precision of scores.
  double margin = 0;
  const int* true_labels = nullptr;  // (end - begin), -1: no label; null: nothing is taken

  bool empty() const { return emission == nullptr; }
};

// Positions [begin, end) of a sequence of `length` positions. Scores are log-scale, finite or -inf.
// Engines centre on the fly, in double:
// fbar[t,c] = f[t,c] - baseline[c] - (subtract_position_max ? max_c f[t,c] : 0).
struct ScoreWindow {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t length = 0;           // T of the whole sequence (piece)
  ScoreArray emissions;              // f, (end-begin, C)
  ScoreArray start_scores;           // Ps, (end-begin, C) or absent (0); without pi_start, which engines add
  ScoreArray end_scores;             // Pe, (end-begin, C) or absent (0); without pi_end, which engines add
  FeatureRows features;              // not empty: stands in place of the three arrays (Engine::projects)
  std::span<const double> baseline;  // nu, (C) or empty (0)
  bool subtract_position_max =
      false;  // position-max centring; a position whose scores are all -inf stays as is
  // Windows with the same number (not 0) hold the same scores wherever they cover the same positions, so that
  // an engine may keep them.
  std::uint64_t sequence = 0;
};

}  // namespace semicrf
