// Does the duration of a segment depend on the label before it? A law of the next segment,
//
//   q(c, k | c') = sum_r A_r[c', c] u_r(k, c)        sum over (r, c) of A_r[c', c] = 1,  sum over k of u_r(k,
//   c) = 1
//
// which is exp T_k[c', c] of rank R. Rank 1 is the usual model: transition times duration. Fitted to segments
// by expectation maximization over r, judged by segments that were kept aside.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/backends/low_rank.h"

namespace semicrf::lab {

// One segment and the label before it.
struct Step {
  Index from = 0, to = 0;
  Index k = 0;  // 0-based class of its duration
};

// Durations in classes that grow by half an octave: 1, 2, 3, 4-5, 6-7, 8-11, ... A law of classes is a law of
// durations that is even within a class, so differences of likelihoods are the same.
Index duration_class(std::int64_t duration);

struct SegmentLaw {
  Index rank = 1, labels = 0, classes = 0;
  std::vector<double> A;  // (R, C, C) [r][from][to]
  std::vector<double> u;  // (R, classes, C)
  double probability(const Step& step) const;
  LowRankTransition scores() const;
};

// `rounds` of expectation maximization from a start drawn by `seed`; every entry counts `prior` beforehand,
// so that what was never seen stays possible.
SegmentLaw fit(const std::vector<Step>& steps, Index rank, Index labels, Index classes, double prior,
               int rounds, std::uint64_t seed);
// Mean natural logarithm of the probability of a step.
double mean_log_likelihood(const SegmentLaw& law, const std::vector<Step>& steps);

}  // namespace semicrf::lab
