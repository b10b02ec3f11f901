// What a user should know of a model that was learned.
#pragma once

#include <vector>

#include "core/error.h"
#include "model/parameters.h"

namespace semicrf {

// `bins`: expected bins of the labels, in any order. Labels without a bin (`empty-label`); labels of which
// many segments are as long as K or longer, about whose durations a table can say no more
// (`durations-at-cap`); tracks that nearly always have one value in a label (`variance-at-floor`).
// `preset`: the model of a preset that it went on from, or null: labels whose mean is far from that
// (`label-moved`).
std::vector<Warning> warnings_of_model(const Parameters& parameters, const std::vector<double>& bins,
                                       const Parameters* preset = nullptr);

}  // namespace semicrf
