// The last look at posteriors before they reach an output.
#pragma once

#include "io/text/bin_location.h"
#include "pipeline/analyses/posteriors/posterior_sweep.h"

namespace semicrf {

// std::logic_error that names sequence and bases of the first posterior that is no number, if there is one:
// whatever made it, no output may hold it, and no user can mend it.
void check_posteriors(const PosteriorBlock& block, const BinLocation& location);

}  // namespace semicrf
