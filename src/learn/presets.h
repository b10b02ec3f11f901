// Models that `learn` starts from by their names.
#pragma once

#include <string>

#include "learn/learn_options.h"

namespace semicrf {

// Sets what the preset of this name says of the options. UsageError: there is none of this name, or it does
// not go with them.
//
// copy-number, copy-number:MOST: copy_number.h.
// methylation: unmethylated, low, partial and full, by beta-binomial densities of `methylated` among `total`
// calls, at sites.
void apply_preset(const std::string& name, LearnOptions& options);

}  // namespace semicrf
