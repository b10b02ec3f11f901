// What is done and asked when a fit is over: scores of a model that was trained with a margin, as large as
// the data bear out; and whether the model finds more than one label in its training data.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/error.h"
#include "io/params/training_record.h"
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

// Whether a trained model finds more than one label in the data it was trained on.
//
// The warning where the training data have several labels and their best segmentation has one alone.
std::optional<Warning> only_label_warning(const std::vector<TrainingRecord::Durations>& durations);

}  // namespace semicrf
