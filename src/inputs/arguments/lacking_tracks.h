// Tracks that a run has no file of, and what is derived from those that it has.
#pragma once

#include <string>
#include <vector>

#include "inputs/input_options.h"
#include "inputs/rows/row_reader.h"
#include "model/missing_tracks.h"
#include "model/parameters.h"
#include "model/statistics.h"

namespace semicrf {

// A track of the parameters that --missing-track names.
struct LackingTrack {
  std::string track;
  bool is_exact = false;  // its term is left out; else it counts as its mean
};

// The parameters as a run uses them: with the policy of the options, without the tracks that it lacks, and
// with features that tell where a track of the policy kMarginal has no value. `recorded`: see
// leave_out_tracks(), whose errors it throws.
std::vector<LackingTrack> settle_lacking(const InputOptions& options, Parameters& parameters,
                                         RecordedEmissions& recorded);
// "H3K27me3 <- no file: its term is left out".
std::string describe(const LackingTrack& track);
std::vector<MissingTrackStats> lacking_stats(const std::vector<LackingTrack>& tracks);

// Leaves the input tracks, and returns the columns that are derived from them.
DerivedColumns take_derived(std::vector<Track>& tracks);

}  // namespace semicrf
