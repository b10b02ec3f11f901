// What is drawn where there are many labels or tracks: a picture that nobody can read helps nobody. Tables
// have all.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "draw/heat_map.h"
#include "report/data/basis.h"

namespace semicrf {

inline constexpr std::size_t kMostPanels = 30;  // panels of a figure with a panel by label
inline constexpr std::size_t kMostRows = 100;   // rows of a heat map with a row by label
inline constexpr std::size_t kMostTracks = 40;

// The places of the `most` largest of these, in their order; of equals the first.
std::vector<std::size_t> largest(const std::vector<double>& sizes, std::size_t most);

// The labels with most bases, in the order of the model.
std::vector<std::size_t> drawn_labels(const ReportBasis& basis, std::size_t most);
// The tracks that are drawn out of `tracks`: the first ones; or, where they are scores of labels, those of
// the labels with most bases.
std::vector<std::size_t> drawn_tracks(const ReportBasis& basis, std::size_t tracks);

// A heat map with a row for each label, for a figure that says its title itself.
HeatMap map_of_labels(const ReportBasis& basis, const std::string& title);
// Says so behind the text of a figure; nothing where all are drawn.
std::string undrawn_labels(const ReportBasis& basis, std::size_t most);
std::string undrawn_tracks(const ReportBasis& basis, std::size_t tracks);

}  // namespace semicrf
