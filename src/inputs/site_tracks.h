// Tracks as text or bigWig whose rows are sites: probes, calls of methylation, anything with a position of
// its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inputs/arguments/input_argument.h"
#include "io/arrays/npy_reader.h"
#include "io/text/chromosomes.h"

namespace semicrf {

// The sites of a chromosome.
struct SiteRows {
  std::string chromosome;
  std::shared_ptr<const SitePositions> at;
  NpyArray rows;  // (sites, tracks), float; NaN: the track has no value there
};

// All bases at which a row of some track (of bigWig: an interval) begins are sites; where it ends is not
// looked at. `tracks` in the order of the columns; chromosomes in the order in which they come first. Files
// are read by `threads`, and all rows stay in memory. InputError: what the readers of the formats refuse,
// inputs of other kinds, bases from 2^32 - 1 on.
std::vector<SiteRows> read_sites(const std::vector<const InputArgument*>& tracks, int threads);

}  // namespace semicrf
