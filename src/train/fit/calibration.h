// Scores of a model that was trained with a margin, as large as the data bear out.
#pragma once

#include <functional>

#include "model/parameters.h"

namespace semicrf {

// Whether all scores can be multiplied by a factor: a formula for durations cannot.
bool is_scalable(const Parameters& parameters);

// All scores times `factor`. The best segmentation is the same, its probability is not.
Parameters scaled(Parameters parameters, double factor);

// The factor in [1/8, 8] under which the true segmentations are most likely, to half a percent. -log P, which
// `mean_nll` gives per position of the data, is convex in the factor, which is searched by golden sections.
double likeliest_factor(const Parameters& parameters,
                        const std::function<double(const Parameters&)>& mean_nll);

}  // namespace semicrf
