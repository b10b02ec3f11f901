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
  bool on_device =
      false;  // in memory of the engine's device, unchecked; of whole sequences (DeviceMemory::begin_after)

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

// Expected counts under P(y|x): the gradients of log Z by the scores that all positions share
// (docs/algorithm.md, section 3). An engine adds a window's share to what is there: segments count in the
// window of their start, tail counts and transitions in the window of their position.
struct ExpectedCounts {
  std::vector<double> transition;  // (C, C), [from][to]; with the uniform initial term position 0 counts too
  std::vector<double> duration;    // (K, C), row k-1; row K-1 includes the segments that go on into the tail
  std::vector<double> tail;        // (C): positions by which tail segments exceed K; empty without a tail

  // Gives the arrays the shapes of a model, with zeros where they were empty. Engines call it before they
  // add.
  void shape_for(const ChainModel& model) {
    const auto labels = static_cast<std::size_t>(model.num_labels);
    transition.resize(labels * labels);
    duration.resize(static_cast<std::size_t>(model.max_duration) * labels);
    tail.resize(model.has_tail() ? labels : 0);
  }
  // Those of the same model.
  void add(const ExpectedCounts& other) {
    const auto add_array = [](const std::vector<double>& from, std::vector<double>& to) {
      for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    add_array(other.transition, transition);
    add_array(other.duration, duration);
    add_array(other.tail, tail);
  }
};

// Bytes of the expected counts of a model.
inline std::size_t expected_counts_bytes(const ChainModel& model) {
  const auto labels = static_cast<std::size_t>(model.num_labels);
  return sizeof(double) * labels * (labels + static_cast<std::size_t>(model.max_duration) + 1);
}

// Sums over positions under P(y|x): the gradients of log Z by the weights and biases of the linear heads that
// made the scores (centring not considered), and by the model's start and end scores. The caller gives the
// arrays their shapes. An engine adds a window's share to what is there, stretches of positions in their
// order.
struct ExpectedFeatures {
  struct Head {
    std::vector<double> weights;  // (inputs, C), as in HeadTable: sum over t of p[t,c] x_j
    std::vector<double> bias;     // (C): sum over t of p[t,c]; empty: the head's sums are not wanted

    void shape_for(const HeadTable& table) {
      weights.resize(table.weights.size());
      bias.resize(table.bias.size());
    }
  };
  Head emission;                    // p = P(c|t)
  Head start, finish;               // p: a segment of label c starts at t, or has its last position there
  std::vector<double> first, last;  // (C): P(c|0), P(c|T-1)
};

}  // namespace semicrf
