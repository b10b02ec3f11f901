// How coarse the bigWig inputs are, and what that says about a bin size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/bigwig/bigwig_reader.h"

namespace semicrf {

struct TrackSteps {
  struct Track {
    std::string file;        // path
    std::int64_t bases = 0;  // BigWigStep; 0: not known
  };
  std::vector<Track> tracks;

  // The largest number that every known step is a multiple of; 0: no step is known, as for arrays.
  std::int64_t common() const;
};

TrackSteps steps_of(const std::vector<const BigWigFile*>& files);

// A line for the log and --dry-run: "200 bases; ..."; empty where no step is known.
std::string describe(const TrackSteps& steps);

// Where bins of `bin_size` bases and the steps divide each other badly: a line for the log.
std::optional<std::string> bin_size_note(const TrackSteps& steps, std::int64_t bin_size);

// Where the parameters make bins of one base and the tracks are coarser.
std::optional<Warning> single_base_warning(const TrackSteps& steps, std::int64_t bin_size);

}  // namespace semicrf
