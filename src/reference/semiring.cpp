#include "reference/semiring.h"

#include <algorithm>
#include <cmath>

#include "core/chain_model.h"

namespace semicrf {

double combine(std::span<const double> terms, Semiring semiring) {
  double best = kNegativeInfinity;
  for (const double term : terms) best = std::max(best, term);
  if (semiring == Semiring::kMax || best == kNegativeInfinity) return best;
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - best);
  return best + std::log(sum);
}

}  // namespace semicrf
