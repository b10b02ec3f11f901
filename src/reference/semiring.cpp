#include "reference/semiring.h"

namespace semicrf {

double combine(std::span<const double> terms, Semiring semiring) {
  return combine(
      terms.size(), [&](std::size_t i) { return terms[i]; }, semiring);
}

}  // namespace semicrf
