// Scores of a model that was trained with a margin, as large as the data bear out.
#pragma once

#include "engine/options.h"
#include "model/parameters.h"
#include "train/data/training_data.h"

namespace semicrf {

// -log P(true segmentations) per position; no margin, no penalties.
double mean_nll(const TrainingData& data, const Parameters& parameters, const EngineOptions& engine);

// Whether all scores can be multiplied by a factor: a formula for durations cannot.
bool is_scalable(const Parameters& parameters);

// All scores times `factor`. The best segmentation is the same, its probability is not.
Parameters scaled(Parameters parameters, double factor);

// The factor in [1/8, 8] under which the true segmentations are most likely, to half a percent. -log P is
// convex in the factor, which is searched by golden sections.
double likeliest_factor(const TrainingData& data, const Parameters& parameters, const EngineOptions& engine);

}  // namespace semicrf
