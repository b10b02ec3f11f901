// Alternatives combined in a semiring: the sum of their probabilities (log-sum-exp), or the best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/chain_model.h"
#include "engine/boundary_state.h"

namespace semicrf {

// The sum, or maximum, of term(0) .. term(count-1), each computed up to twice. -inf for no terms, or when all
// are -inf.
template <class Count, class Term>
double combine(Count count, Term term, Semiring semiring) {
  double best = kNegativeInfinity;
  for (Count i = 0; i < count; ++i) best = std::max(best, term(i));
  if (semiring == Semiring::kMax || best == kNegativeInfinity) return best;
  double sum = 0;
  for (Count i = 0; i < count; ++i) sum += std::exp(term(i) - best);
  return best + std::log(sum);
}

double combine(std::span<const double> terms, Semiring semiring);

}  // namespace semicrf
