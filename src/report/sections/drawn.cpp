#include "report/sections/drawn.h"

#include <algorithm>
#include <numeric>

#include "core/text/text.h"
#include "core/text/units.h"

namespace semicrf {

std::vector<std::size_t> largest(const std::vector<double>& sizes, std::size_t most) {
  std::vector<std::size_t> places(sizes.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= most) return places;
  std::ranges::stable_sort(places, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  places.resize(most);
  std::ranges::sort(places);
  return places;
}

std::vector<std::size_t> drawn_labels(const ReportBasis& basis, std::size_t most) {
  std::vector<double> bases;
  for (const DecodedLabelStats& label : basis.labels) bases.push_back(static_cast<double>(label.bases));
  return largest(bases, most);
}

std::vector<std::size_t> drawn_tracks(const ReportBasis& basis, std::size_t tracks) {
  if (basis.tracks_are_scores && tracks == basis.num_labels()) return drawn_labels(basis, kMostTracks);
  return largest(std::vector<double>(tracks), kMostTracks);
}

HeatMap map_of_labels(const ReportBasis& basis, const std::string& title) {
  HeatMap map;
  map.title = title;
  map.titled = false;
  map.rows = names_of(basis.model().labels);
  map.row_marks.assign(basis.colors.begin(), basis.colors.end());
  return map;
}

std::string undrawn_labels(const ReportBasis& basis, std::size_t most) {
  if (basis.num_labels() <= most) return {};
  return " Of " + std::to_string(basis.num_labels()) + " labels the " + std::to_string(most) + " with most " +
         units().many + " are drawn; the table has all.";
}

std::string undrawn_tracks(const ReportBasis& basis, std::size_t tracks) {
  if (tracks <= kMostTracks) return {};
  const bool by_label = basis.tracks_are_scores && tracks == basis.num_labels();
  return " Of " + std::to_string(tracks) + " tracks " +
         (by_label ? "those of the " + std::to_string(kMostTracks) + " labels with most " + units().many
                   : "the first " + std::to_string(kMostTracks)) +
         " are drawn; the table has all.";
}

}  // namespace semicrf
