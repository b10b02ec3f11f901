// The semi-Markov chain: everything the dynamic program needs besides the position-dependent scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace semicrf {

inline constexpr double kNegativeInfinity = -std::numeric_limits<double>::infinity();

// What the first segment of a sequence gets in place of a transition (docs/algorithm.md).
enum class InitialTerm {
  kUniform,  // alpha_0(c') = 0 for every c': LSE (or max) over c' of transition[c'][c]; the paper's default
  kNone,     // nothing
};

// Which edges of a sequence are cuts: it goes on beyond them, unseen.
struct CutEdges {
  bool left = false;
  bool right = false;

  bool any() const { return left || right; }
  friend bool operator==(const CutEdges&, const CutEdges&) = default;
};

// All scores are natural logarithms; -inf forbids; no entry is NaN or +inf.
struct ChainModel {
  int num_labels = 0;                 // C >= 1
  int max_duration = 0;               // K >= 1, in positions
  std::vector<double> transition;     // (C, C) row-major, [from][to]
  std::vector<double> duration_bias;  // (K, C) row-major, row k-1 holds duration k
  std::vector<double>
      log_tail;  // (C) log q < 0 of the geometric tail beyond K, -inf: none; empty: no label has one
  std::vector<double> start_scores;  // (C) pi_start, added to the start score of position 0
  std::vector<double> end_scores;    // (C) pi_end, added to the end score of position T-1
  InitialTerm initial = InitialTerm::kUniform;
  // (C) or empty. twin[s] = c says that wherever no transition leads into s (in the direction at hand), it is
  // c entered at the sequence's edge alone: the same emissions, tail, and scores of what follows. -1:
  // nothing.
  std::vector<int> twin;
  // Edges at which every sequence was cut: the first and last segment score the sum over all durations that
  // they may have (docs/algorithm.md, "Cut edges"). start_scores and end_scores stand; a cut left edge has no
  // initial term. Of sums over segmentations alone, and of engines with EngineInfo::cut_edges.
  CutEdges cut;

  bool has_tail() const { return !log_tail.empty(); }
  double transition_at(int from, int to) const {
    return transition[static_cast<std::size_t>(from) * static_cast<std::size_t>(num_labels) +
                      static_cast<std::size_t>(to)];
  }
  // Bias of `duration` in 1..K, or beyond K along the tail (-inf where the label has none).
  double duration_score(std::int64_t duration, int label) const {
    const auto labels = static_cast<std::size_t>(num_labels);
    const auto c = static_cast<std::size_t>(label);
    if (duration <= max_duration) return duration_bias[static_cast<std::size_t>(duration - 1) * labels + c];
    if (!has_tail() || log_tail[c] == kNegativeInfinity) return kNegativeInfinity;
    return duration_bias[static_cast<std::size_t>(max_duration - 1) * labels + c] +
           static_cast<double>(duration - max_duration) * log_tail[c];
  }
};

// The sum over c' of exp(transition[c'][to]), relative to its largest term.
struct TransitionsInto {
  double largest = kNegativeInfinity;  // transition; -inf: there are none, and the sum is 0
  double sum = 0;                      // sum of exp(transition - largest)

  double log() const { return largest == kNegativeInfinity ? largest : largest + std::log(sum); }
};

inline TransitionsInto transitions_into(const ChainModel& model, int to) {
  TransitionsInto found;
  for (int from = 0; from < model.num_labels; ++from)
    found.largest = std::max(found.largest, model.transition_at(from, to));
  if (found.largest == kNegativeInfinity) return found;
  for (int from = 0; from < model.num_labels; ++from)
    found.sum += std::exp(model.transition_at(from, to) - found.largest);
  return found;
}

// The term itself, by the model's InitialTerm; natural logarithm.
inline double initial_term(const ChainModel& model, int label) {
  return model.initial == InitialTerm::kUniform ? transitions_into(model, label).log() : 0;
}

// What the log semiring has there beyond the max semiring: the sum over the labels before a first segment of
// `label` less their maximum. The term is finite.
inline double initial_gain(const ChainModel& model, int label) {
  return model.initial == InitialTerm::kUniform ? std::log(transitions_into(model, label).sum) : 0;
}

// In positions; 0: every duration is forbidden.
inline int shortest_duration(const ChainModel& model) {
  for (int k = 1; k <= model.max_duration; ++k)
    for (int c = 0; c < model.num_labels; ++c)
      if (model.duration_score(k, c) > kNegativeInfinity) return k;
  return 0;
}

// ln(e^a + e^b); -inf is the logarithm of 0.
inline double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNegativeInfinity ? a : a + std::log1p(std::exp(b - a));
}

// The direction in which a recursion goes along a sequence.
enum class Direction { kForward, kBackward };

}  // namespace semicrf
