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

// One linear head as data: score[t,c] = bias[c] + sum over j of weights[j C + c] x_j, x_j the features of positions t + first .. t + last one after the
// other; those outside of the sequence are left out. Summed in double in this order, without fused multiply-adds.
struct HeadTable {
  std::vector<double> weights;  // (inputs, C); empty: no inputs
  std::vector<double> bias;     // (C)
  int first = 0;
  int last = 0;
};

// Features, and the heads that make the scores of a window of them.
struct FeatureRows {
  ScoreArray rows;         // (end - begin, tracks): all that the heads want of the window's positions, as far as the sequence has it
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int tracks = 0;
  bool wide = false;  // scores are rounded to double, else to float
  const HeadTable* emission = nullptr;
  const HeadTable* start = nullptr;  // null: there are no such scores
  const HeadTable* finish = nullptr;
  // What training takes from the emission score of every position's own label, in the precision of scores.
  double margin = 0;
  const int* true_labels = nullptr;  // (end - begin); null: nothing is taken

  bool empty() const { return emission == nullptr; }

  // A head's score of position t of a sequence of `length`, which the rows cover; `labels` = C.
  double score(const HeadTable& head, std::int64_t t, std::int64_t length, std::size_t c, std::size_t labels) const {
    double sum = head.bias[c];
    std::size_t input = 0;
    const auto columns = static_cast<std::size_t>(tracks);
    for (std::int64_t p = t + head.first; p <= t + head.last && !head.weights.empty(); ++p, input += columns) {
      if (p < 0 || p >= length) continue;
      const std::size_t row = static_cast<std::size_t>(p - begin) * columns;
      for (std::size_t j = 0; j < columns; ++j) sum += rows.at(row + j) * head.weights[(input + j) * labels + c];
    }
    return rounded(sum);
  }
  // Less the margin.
  double emission_score(std::int64_t t, std::int64_t length, std::size_t c, std::size_t labels) const {
    return less_margin(score(*emission, t, length, c, labels), t, c);
  }
  // Of all labels.
  void emission_scores(std::int64_t t, std::int64_t length, std::span<double> scores) const {
    const std::size_t labels = scores.size();
    const auto columns = static_cast<std::size_t>(tracks);
    std::copy(emission->bias.begin(), emission->bias.end(), scores.begin());
    const double* weights = emission->weights.data();
    for (std::int64_t p = t + emission->first; p <= t + emission->last && !emission->weights.empty(); ++p) {
      for (std::size_t j = 0; j < columns; ++j, weights += labels) {
        if (p < 0 || p >= length) continue;
        const double x = rows.at(static_cast<std::size_t>(p - begin) * columns + j);
        for (std::size_t c = 0; c < labels; ++c) scores[c] += x * weights[c];
      }
    }
    for (std::size_t c = 0; c < labels; ++c) scores[c] = less_margin(rounded(scores[c]), t, c);
  }
  double less_margin(double score_of_label, std::int64_t t, std::size_t c) const {
    if (true_labels == nullptr || static_cast<std::size_t>(true_labels[t - begin]) != c) return score_of_label;
    return rounded(score_of_label - rounded(margin));
  }
  double rounded(double value) const { return wide ? value : static_cast<double>(static_cast<float>(value)); }
};

// Positions [begin, end) of a sequence of `length` positions. Scores are log-scale, finite or -inf.
// Engines centre on the fly, in double: fbar[t,c] = f[t,c] - baseline[c] - (subtract_position_max ? max_c f[t,c] : 0).
struct ScoreWindow {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t length = 0;            // T of the whole sequence (piece)
  ScoreArray emissions;               // f, (end-begin, C)
  ScoreArray start_scores;            // Ps, (end-begin, C) or absent (0); without pi_start, which engines add
  ScoreArray end_scores;              // Pe, likewise; without pi_end
  FeatureRows features;               // not empty: in place of the three arrays, for engines that project (Engine::projects)
  std::span<const double> baseline;   // nu, (C) or empty (0)
  bool subtract_position_max = false; // position-max centring; a position whose scores are all -inf is left as is
  // Windows with the same number (not 0) hold the same scores wherever they cover the same positions, so that an engine may keep them.
  std::uint64_t sequence = 0;
};

}  // namespace semicrf
