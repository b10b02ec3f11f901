// The labels and the sequence that claims and constraints are about here.
#pragma once

#include <vector>

#include "model/parameters.h"

namespace semicrf::fuzz {

inline std::vector<Label> statement_labels() { return {{"A", {}}, {"B", {}}, {"A,B", {}}, {"x:y", {}}}; }

}  // namespace semicrf::fuzz
