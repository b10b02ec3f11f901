// Second derivatives of log Z: Hessian-vector products, by the forward-backward algorithm
// over dual numbers (forward mode over reverse mode; docs/algorithm.md section 3).
#pragma once

#include <vector>

#include "core/chain_model.h"
#include "reference/reference_scores.h"

namespace semicrf {

// A number for every score that log Z is a function of: a direction, or the derivatives along one.
struct ScoreVariation {
  std::vector<double> emissions;  // (T, C), of the centred emissions
  std::vector<double> starts,
      ends;  // (T, C), of Ps and Pe; rows 0 and T-1 are those of pi_start and pi_end, too
  std::vector<double> transition;  // (C, C)
  std::vector<double> duration;    // (K, C)
  std::vector<double> tail;        // (C), of log q
};

// d/de of the gradient of log Z at scores + e direction, e = 0: of the label posteriors (emissions), the
// start and end posteriors, and the expected counts. Exact but for the rounding of doubles.
//
// direction: finite; empty arrays are zeros. Entries of scores that are -inf stay so. The result has all
// arrays. O(T K C + T C C) time, O(T C) memory. std::logic_error: the model has cut edges. All 0 where no
// segmentation is possible.
ScoreVariation hessian_product(const ChainModel& model, const ReferenceScores& scores,
                               const ScoreVariation& direction);

}  // namespace semicrf
