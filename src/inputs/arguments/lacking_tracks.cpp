#include "inputs/arguments/lacking_tracks.h"

#include <algorithm>

#include "core/text/names.h"
#include "model/missing_tracks.h"
#include "model/scores/feature_transform.h"

namespace semicrf {

std::vector<LackingTrack> settle_lacking(const InputOptions& options, Parameters& parameters,
                                         RecordedEmissions& recorded) {
  if (options.missing != MissingPolicy::kDefault)
    for (Track& track : parameters.tracks)
      if (track.is_input()) track.missing = options.missing;
  std::vector<LackingTrack> lacking;
  if (!options.missing_tracks.empty()) {
    const bool exact = leave_out_tracks(parameters, recorded, options.missing_tracks);
    for (const std::string& name : options.missing_tracks) lacking.push_back({name, exact});
  }
  // No value of a generated sequence is missing.
  if (options.generated.empty()) add_absences(parameters, recorded);
  return lacking;
}

std::string describe(const LackingTrack& track) {
  return track.track + " <- no file: " +
         (track.is_exact ? "its term is left out (marginal)" : "it counts as its mean in every bin");
}

std::vector<MissingTrackStats> lacking_stats(const std::vector<LackingTrack>& tracks) {
  std::vector<MissingTrackStats> stats;
  stats.reserve(tracks.size());
  for (const LackingTrack& track : tracks)
    stats.push_back({track.track, std::string(missing_policy_name(track.is_exact ? MissingPolicy::kMarginal
                                                                                 : MissingPolicy::kMean))});
  return stats;
}

DerivedColumns take_derived(std::vector<Track>& tracks) {
  const NameIndex columns = NameIndex::of(tracks);
  DerivedColumns derived;
  for (const Track& track : tracks) {
    if (track.is_square()) derived.squared.push_back(*columns.find(track.square_of));
    if (track.is_indicator()) {
      derived.indicated.push_back(*columns.find(track.indicator_of));
      derived.values.push_back(track.value);
    }
    if (track.is_density()) {
      const std::size_t of = *columns.find(track.density_of);
      const std::string& beside = track.density.beside;
      derived.densities.push_back(
          {of, beside.empty() ? of : *columns.find(beside), DensityFunction(track.density)});
    }
    if (track.is_absence()) derived.absent.push_back(*columns.find(track.absence_of));
    derived.can_lack = derived.can_lack || (track.is_input() && keeps_absence(track));
  }
  std::erase_if(tracks, [](const Track& track) { return !track.is_input(); });
  return derived;
}

}  // namespace semicrf
