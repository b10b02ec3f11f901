// The sums over the durations of a segment, as all plain kernels take them.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "core/chain_model.h"
#include "cuda/plain/plain_launch.h"

namespace semicrf::cuda {

// The two sums of the plain kernels: over alternatives, and of the scores of a segment.
//
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

// K, and one more duration that stands for all segments in the tail.
__device__ inline int longest_duration(const PlainSequence& x) {
  return x.max_duration + (x.log_tail != nullptr);
}

// B[k,c]; k = K+1 is the first duration in the tail.
__device__ inline double duration_score(const PlainSequence& x, int k, int c) {
  if (k <= x.max_duration) return x.duration[std::int64_t{k - 1} * x.labels + c];
  return x.duration[std::int64_t{x.max_duration - 1} * x.labels + c] + x.log_tail[c];
}

// Calls visit(k, open) for k = 1 .. longest: the segment [t-k, t) of label c, with all before it and its
// start score, relative to `level`. Ends early at the sequence's start and where a position forbids c.
template <class Visit>
__device__ inline void for_each_open_segment(const PlainSequence& x, const PlainForward& m, std::int64_t t,
                                             int c, int longest, double level, Visit visit) {
  Content content;
  for (int k = 1; k <= longest && k <= t; ++k) {
    const std::int64_t s = t - k, entry = s * x.labels + c;
    if (x.emission[entry] == kNegativeInfinity) return;
    content.add(x.emission[entry]);
    visit(k, m.gamma[entry] + content.plus(m.level[s] - level));
  }
}

// Calls visit(k, open) for k = 1 .. K, and K+1 where there is a tail: the segment [t, t+k) of label c, with
// its end score and all after it, relative to `level`. Ends early at the sequence's end and where a position
// forbids c.
template <class Visit>
__device__ inline void for_each_extension(const PlainSequence& x, const PlainBackward& m, std::int64_t t,
                                          int c, double level, Visit visit) {
  Content content;
  for (int k = 1; k <= longest_duration(x) && t + k <= x.length; ++k) {
    const std::int64_t last = (t + k - 1) * x.labels + c, next = last + x.labels;
    if (x.emission[last] == kNegativeInfinity) return;
    content.add(x.emission[last]);
    const double after = k <= x.max_duration ? x.end[last] + m.beta[next] : m.tail[next];
    visit(k, content.plus(m.level[t + k] - level) + after);
  }
}

// Two ways into the tail of label c at boundary t: the segment that becomes K+1 long there (`opened`), and
// those that were longer already.
struct TailEntries {
  double entering, continuing;
};
__device__ inline TailEntries tail_entries(const PlainSequence& x, const PlainForward& m, std::int64_t t,
                                           int c, double opened, double level) {
  const std::int64_t before = (t - 1) * x.labels + c;
  return {opened + duration_score(x, x.max_duration, c) + x.log_tail[c],
          m.tail[before] + (x.emission[before] + (m.level[t - 1] - level)) + x.log_tail[c]};
}

}  // namespace semicrf::cuda
