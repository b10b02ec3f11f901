// The tracks of a command line: as they are typed, named by a pattern, or taken from a sample sheet.
#pragma once

#include <string>
#include <vector>

#include "inputs/arguments/input_argument.h"
#include "inputs/input_options.h"
#include "io/text/sample_sheet.h"
#include "model/parameters.h"

namespace semicrf {

// UsageError: options that do not go together, a sample that must be chosen or is not in the sheet. ReadError
// and InputError: a file that cannot be opened or is no input, a name that does not match the pattern, files
// of different samples.
std::vector<InputArgument> input_arguments(const InputOptions& options);

// Whether samples are given: a sheet, or `--sample NAME=FILES`, which `options.samples` has as it was typed.
bool has_samples(const InputOptions& options);

// Whether there are inputs at all.
bool has_inputs(const InputOptions& options);

// The rows of the sheet, or of `--sample NAME=FILES`; has_samples(options). UsageError where both are given.
std::vector<SampleRow> sample_rows(const InputOptions& options);

// The samples that --sample names, or the only one of the sheet; has_samples(options). UsageError
// that names the samples where none is chosen or the sheet lacks one.
std::vector<std::string> chosen_samples(const InputOptions& options);

// A line that proposes a pattern, where tracks got names from files that all share a part; empty otherwise.
std::string pattern_proposal(const InputOptions& options);

// Throws where --track-names or --label-names is given and does not name the columns of arrays in their
// order: the parameters' tracks, or their labels where the inputs are label scores. `bigwig`: the inputs are
// bigWig files, which have no columns.
void check_column_names(const InputOptions& options, const Parameters& parameters, bool bigwig);

}  // namespace semicrf
