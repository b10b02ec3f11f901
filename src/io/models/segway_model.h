// Parameter files of Segway (params.params): what GMTK, its engine, writes after training. Text in which %
// begins a comment, and one section after the other, each with the number of its entries in front:
//   dense CPTs (probabilities), means, variances, dense PMFs, components, mixtures
// Older versions of Segway have GMTK write the first three alone; there the names of means tell label and
// track.
#pragma once

#include <string>

#include "model/exchange/segway.h"

namespace semicrf {

// InputError with the line: not such a file, a number that is none or out of its range, probabilities that do
// not sum to 1 within 1e-3, an entry that is missing or given twice, mixtures of several components, gamma
// distributions. Warnings: CPTs that are not of labels, such as that of dinucleotides; labels whose segments
// have a longest length, which end by what the countdown before that says. ReadError: cannot be opened or
// read.
SegwayModel read_segway_model(const std::string& path, std::vector<Warning>& warnings);

// The `training` section of parameters made of a model: its file, `segments`, the file that durations are
// from, or empty, and how often a frame's terms count. ReadError.
std::string segway_record_text(const std::string& path, const std::string& segments, std::int64_t bin_size);

}  // namespace semicrf
