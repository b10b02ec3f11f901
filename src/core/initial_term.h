// What the first segment of a sequence gets in place of a transition, in the log semiring.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/chain_model.h"

namespace semicrf {

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

}  // namespace semicrf
