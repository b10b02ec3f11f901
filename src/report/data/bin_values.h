// Posteriors from files, a value per bin.
#pragma once

#include <string>
#include <vector>

#include "report/data/basis.h"

namespace semicrf {

// By part: (bins), NaN where the file has no value; empty where it has none on the whole part.
using BinValues = std::vector<std::vector<float>>;

// bedGraph or bigWig of probabilities. InputError with the place: a value outside of 0..1, an edge inside of
// a bin, no chromosome in common with the parts, small values left out (--min-posterior).
BinValues read_bin_values(const std::string& path, const ReportBasis& basis);

}  // namespace semicrf
