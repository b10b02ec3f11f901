// Expectations under P(y|x) that the gradients of training are made of.
#pragma once

#include <cstddef>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"

namespace semicrf {

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
