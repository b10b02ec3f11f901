#include "model/align.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/sizes.h"
#include "core/text/name_index.h"

namespace semicrf {
namespace {

// For every entry of a new list its place in the old one, -1: it is new.
using Places = std::vector<int>;

template <class Named>
std::vector<Named> united(const std::vector<Named>& first, const std::vector<Named>& second) {
  std::vector<Named> all = first;
  const NameIndex known = NameIndex::of(first);
  for (const Named& one : second)
    if (!known.contains(one.name)) all.push_back(one);
  return all;
}

template <class Named>
Places places(const std::vector<Named>& wanted, const std::vector<Named>& have) {
  Places result;
  const NameIndex known = NameIndex::of(have);
  for (const Named& one : wanted) {
    const std::optional<std::size_t> place = known.find(one.name);
    result.push_back(place ? static_cast<int>(*place) : -1);
  }
  return result;
}

// Entries of a list of the old labels, `absent` for the new ones. Empty stays empty.
std::vector<double> taken(const std::vector<double>& old, const Places& places, double absent) {
  std::vector<double> result;
  if (old.empty()) return result;
  for (const int place : places) result.push_back(place < 0 ? absent : old[wide(place)]);
  return result;
}

ChainModel with_labels(const ChainModel& old, const Places& labels) {
  ChainModel model;
  model.num_labels = static_cast<int>(labels.size());
  model.max_duration = old.max_duration;
  model.initial = old.initial;
  for (const int from : labels)
    for (const int to : labels)
      model.transition.push_back(from < 0 || to < 0 ? kNegativeInfinity : old.transition_at(from, to));
  for (int k = 1; k <= old.max_duration; ++k)
    for (const int label : labels)
      model.duration_bias.push_back(label < 0 ? 0 : old.duration_score(k, label));
  model.log_tail = taken(old.log_tail, labels, kNegativeInfinity);
  const bool all_known = std::ranges::none_of(labels, [](int label) { return label < 0; });
  const std::vector<double> zeros(wide(old.num_labels));
  model.start_scores =
      taken(old.start_scores.empty() && !all_known ? zeros : old.start_scores, labels, kNegativeInfinity);
  model.end_scores = taken(old.end_scores, labels, 0);
  return model;
}

// Rows of weights: (labels, offsets x tracks), offset-major. New labels and tracks get 0.
std::vector<double> with_weights(const std::vector<double>& old, const Places& labels, const Places& tracks,
                                 std::size_t old_tracks, std::size_t offsets) {
  std::vector<double> result;
  if (old.empty()) return result;
  for (const int label : labels)
    for (std::size_t offset = 0; offset < offsets; ++offset)
      for (const int track : tracks)
        result.push_back(
            label < 0 || track < 0 ? 0 : old[(wide(label) * offsets + offset) * old_tracks + wide(track)]);
  return result;
}

Parameters rearranged(const Parameters& old, const std::vector<Label>& labels,
                      const std::vector<Track>& tracks) {
  const Places label_places = places(labels, old.labels), track_places = places(tracks, old.tracks);
  const std::size_t num_tracks = old.tracks.size();
  Parameters model = old;
  model.labels = labels;
  model.chain = with_labels(old.chain, label_places);
  if (!old.emission) return model;  // the inputs are label scores
  model.tracks.clear();
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    Track track;  // without a weight: whatever it has is not used
    track.name = tracks[i].name;
    model.tracks.push_back(track_places[i] < 0 ? track : old.tracks[wide(track_places[i])]);
  }
  // New labels have the scores of the first one, so that the largest score of a position stays what it was.
  Places scored = label_places;
  std::ranges::replace(scored, -1, 0);
  model.emission->weights = with_weights(old.emission->weights, scored, track_places, num_tracks, 1);
  model.emission->bias = taken(old.emission->bias, scored, 0);
  if (!old.boundary) return model;
  const auto offsets = wide(old.boundary->last - old.boundary->first + 1);
  model.boundary->start_weights =
      with_weights(old.boundary->start_weights, label_places, track_places, num_tracks, offsets);
  model.boundary->end_weights =
      with_weights(old.boundary->end_weights, label_places, track_places, num_tracks, offsets);
  model.boundary->start_bias = taken(old.boundary->start_bias, label_places, 0);
  model.boundary->end_bias = taken(old.boundary->end_bias, label_places, 0);
  return model;
}

}  // namespace

ChainModel with_durations(const ChainModel& model, int max_duration) {
  ChainModel longer = model;
  longer.max_duration = max_duration;
  for (int k = model.max_duration + 1; k <= max_duration; ++k)
    for (int label = 0; label < model.num_labels; ++label)
      longer.duration_bias.push_back(model.duration_score(k, label));
  return longer;
}

AlignedModels align_models(const Parameters& first, const Parameters& second) {
  const std::vector<Label> labels = united(first.labels, second.labels);
  std::vector<Track> tracks = united(first.tracks, second.tracks);
  std::stable_partition(tracks.begin(), tracks.end(), [](const Track& track) { return !track.is_square(); });
  AlignedModels aligned{rearranged(first, labels, tracks), rearranged(second, labels, tracks), {}};
  for (const int place : places(labels, second.labels)) aligned.second_has.push_back(place >= 0);
  ChainModel& chain = aligned.first.chain;
  if (chain.has_tail() && chain.max_duration < second.chain.max_duration)
    chain = with_durations(chain, second.chain.max_duration);
  return aligned;
}

}  // namespace semicrf
