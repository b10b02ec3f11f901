// log Z together with the expected score: the entropy of the segmentation is H = log Z - E[score].
//
// The textbook pair is (p, sum of p times score); kept here is the mean itself, so that long sequences
// neither overflow nor cancel: plus averages the means with the weights, times adds them.
#pragma once

#include <cmath>

#include "core/chain_model.h"
#include "lab/problem.h"
#include "lab/semirings/semiring.h"

namespace semicrf::lab {

struct Expectation {
  struct Value {
    double log_weight = kNegativeInfinity;
    double mean = 0;  // of the score; 0 where there is no weight
    double entropy() const { return log_weight - mean; }
  };
  static constexpr const char* name = "expectation";
  Value zero() const { return {}; }
  Value one() const { return {0, 0}; }
  Value plus(const Value& a, const Value& b) const {
    const double total = log_add(a.log_weight, b.log_weight);
    if (total == kNegativeInfinity) return {};
    // The smaller share is the one that is computed: 1 - share loses nothing where the other is near 1.
    const bool first_is_larger = a.log_weight >= b.log_weight;
    const Value& large = first_is_larger ? a : b;
    const Value& small = first_is_larger ? b : a;
    return {total, large.mean + std::exp(small.log_weight - total) * (small.mean - large.mean)};
  }
  Value times(const Value& a, const Value& b) const {
    if (a.log_weight == kNegativeInfinity || b.log_weight == kNegativeInfinity) return {};
    return {a.log_weight + b.log_weight, a.mean + b.mean};
  }
  Value lift(const Edge& edge) const {
    if (edge.score == kNegativeInfinity) return {};
    return {edge.score, edge.score};
  }
  Value scaled(Value a, double log_factor) const {
    a.log_weight += log_factor;  // not part of any score: the mean stays
    return a;
  }
  double magnitude(const Value& a) const { return a.log_weight; }
  Value sum(const Value* values, Index count) const { return sum_one_by_one(*this, values, count); }
};

}  // namespace semicrf::lab
