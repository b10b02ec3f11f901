// Steps ahead of expectation maximization: SQUAREM (Varadhan and Roland, 2008) in the space of expected
// counts, where M-steps make a model of any point.
#pragma once

#include <vector>

#include "train/objective/parameter_gradient.h"

namespace semicrf {

// What a fit has seen since its last step ahead.
struct AheadState {
  std::vector<ParameterGradient> counts;  // two at most between iterations
  // With each of them, the coordinates of densities after the M-step; empty: emissions are made of counts.
  std::vector<std::vector<double>> coordinates;
  double longest = 4;  // limit of the next step, in units of the last M-step; at least 2
};

// Expected counts where three E-steps in a row, the last of `state.counts`, seem to lead; at most
// `state.longest` away, which doubles where it was reached. Forgets the counts. A count stays above a tenth
// of its last value.
struct PointAhead {
  ParameterGradient counts;
  std::vector<double> coordinates;  // those of densities, as far ahead as the counts
};
PointAhead point_ahead(AheadState& state);
// Shorter steps, after one that was no gain.
void shorten_steps(AheadState& state);

}  // namespace semicrf
