// Whether a training run without a bin size would compute single bases for nothing.
#pragma once

#include "inputs/input_set.h"
#include "train/data/label_file.h"

namespace semicrf {

// For runs without --bin-size. UsageError with the option to give where the values of all bigWig inputs
// change only at multiples of some width above 1.
void require_bin_size(const InputSet& inputs, const LabelFile& labels);

}  // namespace semicrf
