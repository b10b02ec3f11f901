// Samples whose files are on the command line: `--sample NAME=FILE,FILE,...`.
#pragma once

#include <string>
#include <vector>

#include "io/text/sample_sheet.h"

namespace semicrf {

// Whether the texts of --sample name files: one has a "=".
bool has_sample_files(const std::vector<std::string>& samples);

// A row per file, as a sheet would have it (line 0). A FILE is [track=]PATH, or a pattern with *, ? or [ for
// all files that match it, by name. A track without a name gets the one that `track_pattern` finds, or
// else the file's name without its extension and without the sample's name in front or behind: CTCF of
// K562.CTCF.bw of the sample K562. UsageError: an empty name, a sample or one of its tracks given twice, a
// file that is not the sample's by the pattern. ReadError: nothing matches.
std::vector<SampleRow> rows_of_samples(const std::vector<std::string>& samples,
                                       const std::string& track_pattern);

}  // namespace semicrf
