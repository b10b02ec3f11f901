#include "train/start/fit_transforms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/counts.h"
#include "core/error.h"
#include "core/sizes.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "inputs/arguments/lacking_tracks.h"
#include "inputs/rows/missing_values.h"
#include "io/json/json_document.h"
#include "io/params/params_json.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

// Calls visit(raw value) for every training bin with a value.
template <class Visit>
void for_each_value(const TrainingData& data, std::size_t track, Visit visit) {
  const std::size_t tracks = data.num_tracks;
  for (const TrainingPiece& piece : data.pieces)
    for (std::size_t i = track; i < piece.features.size(); i += tracks)
      if (!std::isnan(piece.features[i])) visit(piece.features[i]);
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  double skewness = 0;
  double lowest = 0;
};

// Moments of the values under a transform. Two passes, so that a large mean loses no digits.
Moments moments(const TrainingData& data, std::size_t index, const Track& plain) {
  Moments found;
  double count = 0;
  double sum = 0;
  bool first = true;
  for_each_value(data, index, [&](double raw) {
    const double value = feature_value(plain, raw);
    found.lowest = first ? value : std::min(found.lowest, value);
    first = false;
    sum += value;
    count += 1;
  });
  if (count == 0) refuse_track_without_values(plain.name);
  found.mean = sum / count;
  double squares = 0;
  double cubes = 0;
  for_each_value(data, index, [&](double raw) {
    const double d = feature_value(plain, raw) - found.mean;
    squares += d * d;
    cubes += d * d * d;
  });
  found.deviation = std::sqrt(squares / count);
  if (found.deviation > 0) found.skewness = cubes / count / std::pow(found.deviation, 3);
  return found;
}

// The first bin whose value has no finite feature.
std::optional<std::size_t> transform_present(const Track& track, TrainingPiece& piece, std::size_t column,
                                             std::size_t columns) {
  const std::size_t bins = piece.length;
  float* values = piece.features.data() + column;
  if (!keeps_absence(track)) return transform_values(track, values, bins, columns);
  for (std::size_t t = 0; t < bins; ++t)
    if (!std::isnan(values[t * columns]) && transform_values(track, values + t * columns, 1, columns))
      return t;
  return std::nullopt;
}

}  // namespace

void refuse_track_without_values(const std::string& track) {
  throw InputError({"", "", "the track " + in_quotes(track) + " has no value in any training bin",
                    "leave it out, or choose regions where it has values"});
}

void fit_transforms(const TrainingData& data, std::optional<Transform> wanted, std::vector<Track>& tracks,
                    std::vector<Warning>& warnings) {
  for (std::size_t f = 0; f < tracks.size(); ++f) {
    Track& track = tracks[f];
    track.center = 0;
    track.scale = 1;
    track.transform = wanted.value_or(Transform::kNone);
    Moments found = moments(data, f, track);
    if (!wanted && std::fabs(found.skewness) > kSkewed) {
      track.transform = found.lowest < 0 ? Transform::kAsinh : Transform::kLog1p;
      found = moments(data, f, track);
    }
    if (!std::isfinite(found.mean) || !std::isfinite(found.deviation))
      throw InputError({"", "",
                        "the track " + in_quotes(track.name) + " has values to which transform " +
                            std::string(transform_name(track.transform)) + " cannot be applied",
                        "log1p needs values above -1; choose --transform asinh or none"});
    if (std::fabs(found.mean) > kMaxNumber || found.deviation > kMaxNumber)
      throw InputError(
          {"", "",
           fmt::format("the track {} has values too large for a parameter file (mean {:g}, deviation {:g})",
                       in_quotes(track.name), found.mean, found.deviation),
           "values such as 3.4e38 often stand for \"no data\": leave them out of the track"});
    track.center = found.mean;
    // A deviation lost in the rounding of float values is none.
    const bool constant = found.deviation <= 1e-6 * std::fabs(found.mean) || found.deviation == 0;
    track.scale = constant ? 1 : found.deviation;
    if (constant)
      warnings.push_back(
          {"constant-track", "the track " + in_quotes(track.name) +
                                 " has the same value in every training bin and carries no information"});
  }
}

void add_squares(const TrainingData& data, std::vector<Track>& tracks) {
  const NameIndex taken = NameIndex::of(tracks);
  const std::size_t inputs = tracks.size();
  for (std::size_t f = 0; f < inputs; ++f) {
    std::set<double> values;  // three at most
    for_each_value(data, f, [&](double value) {
      if (values.size() < 3) values.insert(value);
    });
    const std::string name = tracks[f].name + "^2";
    if (values.size() < 3 || taken.contains(name)) continue;
    tracks.push_back({.name = name, .missing = tracks[f].missing, .square_of = tracks[f].name});
  }
}

void apply_transforms(const std::vector<Track>& tracks, TrainingData& data) {
  const std::size_t count = tracks.size();
  for (TrainingPiece& piece : data.pieces) {
    for (std::size_t f = 0; f < count; ++f) {
      const auto bad = transform_present(tracks[f], piece, f, count);
      if (!bad) continue;
      const auto bin = static_cast<std::int64_t>(*bad);
      throw InputError({"", piece.place(bin, bin + 1),
                        transform_problem(tracks[f], piece.features[*bad * count + f]), ""});
    }
  }
}

void add_derived_features(const std::vector<Track>& tracks, TrainingData& data) {
  std::vector<Track> inputs = tracks;
  const DerivedColumns derived = take_derived(inputs);
  data.num_tracks = count_of(tracks);
  data.absence_of = derived.absent;
  data.indicator_of = derived.indicated;
  if (derived.empty()) return;
  for (TrainingPiece& piece : data.pieces) {
    std::vector<float> rows(piece.length * tracks.size());
    for (std::size_t t = 0; t < wide(piece.length); ++t)
      derive_row(derived, inputs.size(), piece.features.data() + t * inputs.size(),
                 rows.data() + t * tracks.size());
    piece.features = std::move(rows);
  }
}

}  // namespace semicrf
