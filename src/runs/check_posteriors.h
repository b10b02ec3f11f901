// The last look at posteriors before they reach an output.
#pragma once

#include <functional>
#include <memory>

#include "analyses/posteriors/posterior_sweep.h"
#include "core/chain_model.h"
#include "io/text/chromosomes.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Opens the scores of a piece once more.
using OpenSource = std::function<std::unique_ptr<ScoreSource>()>;

// Throws where a posterior is no number, which no output may hold, and names sequence and bases of the first
// one. InputError where a score of the piece or of its model is 1e12 or more in magnitude, beside which the
// others have no digits; else std::logic_error, as no user can mend it.
void check_posteriors(const PosteriorBlock& block, const BinLocation& location, const ChainModel& model,
                      const OpenSource& open);

}  // namespace semicrf
