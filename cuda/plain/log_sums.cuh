// The two sums of the plain kernels: over alternatives, and of the scores of a segment.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "core/chain_model.h"

namespace semicrf::cuda {

// The semiring: alternatives are combined by log-sum-exp or by their maximum.
template <bool is_log>
struct Alternatives {
  double best = kNegativeInfinity;
  double sum = 0;  // sum of exp(term - best)

  __device__ void add(double term) {
    if (term > best) {
      if (is_log) sum = sum * exp(best - term) + 1;
      best = term;
    } else if (is_log && term > kNegativeInfinity) {
      sum += exp(term - best);
    }
  }
  __device__ double value() const { return is_log && best > kNegativeInfinity ? best + log(sum) : best; }
};

// A sum that carries its rounding error along (Knuth's two-sum), so that a mask of -1e9 takes no digits from
// the other scores: CompensatedSum of the host. Finite terms.
struct Content {
  double high = 0, low = 0;

  __device__ void add(double term) {
    const double total = high + term;
    const double added = total - high;
    low += (high - (total - added)) + (term - added);
    high = total;
  }
  __device__ double plus(double shift) const {
    Content total = *this;
    total.add(shift);
    return total.high + total.low;
  }
};

}  // namespace semicrf::cuda
