#include "model/missing_tracks.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/row_view.h"
#include "core/sizes.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "model/scores/densities.h"

namespace semicrf {
namespace {

constexpr double kBiasTolerance = 1e-6;  // relative

std::size_t count_inputs(const Parameters& parameters) {
  return std::ranges::count_if(parameters.tracks, &Track::is_input);
}

// The column of the square of each input track; nothing unless all have one.
std::optional<std::vector<std::size_t>> squares_of(const std::vector<Track>& tracks, std::size_t inputs) {
  std::vector<std::string> squared;
  squared.reserve(tracks.size());
  for (const Track& track : tracks) squared.push_back(track.square_of);
  const NameIndex squares = NameIndex::of(squared);
  std::vector<std::size_t> columns;
  for (std::size_t f = 0; f < inputs; ++f) {
    const std::optional<std::size_t> square = squares.find(tracks[f].name);
    if (!square) return std::nullopt;
    columns.push_back(*square);
  }
  return columns;
}

using Parts = std::vector<double>;  // (C, inputs)

bool sum_to_bias(const Parts& parts, const EmissionHead& head, std::size_t inputs) {
  for (std::size_t c = 0; c < head.bias.size(); ++c) {
    double sum = 0;
    for (std::size_t f = 0; f < inputs; ++f) sum += parts[c * inputs + f];
    if (!(std::fabs(sum - head.bias[c]) <= kBiasTolerance * (1 + std::fabs(sum)))) return false;
  }
  return true;
}

// The parts where part(c, f) gives them, if they sum to the bias.
template <class Part>
std::optional<Parts> checked_parts(const EmissionHead& head, std::size_t inputs, Part part) {
  Parts parts;
  for (std::size_t c = 0; c < head.bias.size(); ++c)
    for (std::size_t f = 0; f < inputs; ++f) parts.push_back(part(c, f));
  if (!sum_to_bias(parts, head, inputs)) return std::nullopt;
  return parts;
}

std::optional<Parts> gaussian_parts(const EmissionHead& head, std::size_t columns, std::size_t inputs,
                                    const std::vector<std::size_t>& squares, double scale) {
  const RowView weights(head.weights, columns);
  return checked_parts(head, inputs, [&](std::size_t c, std::size_t f) {
    const double linear = weights(c, f) / scale;                   // m / v
    const double precision = -2 * weights(c, squares[f]) / scale;  // 1 / v
    return scale * 0.5 * (std::log(precision / (2 * std::numbers::pi)) - linear * linear / precision);
  });
}

// Tracks of categories, each with indicators whose weights are log probabilities: their part is 0.
std::optional<Parts> categorical_parts(const EmissionHead& head, const std::vector<Track>& tracks,
                                       std::size_t inputs, double scale) {
  const NameIndex columns = NameIndex::of(tracks);
  std::vector<double> sums(head.bias.size() * inputs);
  for (std::size_t c = 0; c < head.bias.size(); ++c)
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      const double weight = head.weights[c * tracks.size() + i];
      if (tracks[i].is_input() ? weight != 0 : !tracks[i].is_indicator()) return std::nullopt;
      if (tracks[i].is_indicator())
        sums[c * inputs + *columns.find(tracks[i].indicator_of)] += std::exp(weight / scale);
    }
  if (!std::ranges::all_of(sums, [](double sum) { return std::fabs(sum - 1) <= kBiasTolerance; }))
    return std::nullopt;
  return checked_parts(head, inputs, [](std::size_t, std::size_t) { return 0.0; });
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// The constant of a 0/1 track or a track of counts, from its weight w: log(1-p), -rate, r log(1-p).
std::optional<Parts> raw_parts(const EmissionHead& head, std::size_t inputs,
                               const RecordedEmissions& recorded) {
  const double scale = recorded.scale;
  const std::vector<double>& sizes = recorded.sizes;
  const auto weight = [&](std::size_t c, std::size_t f) { return head.weights[c * inputs + f] / scale; };
  if (sizes.size() == inputs)
    return checked_parts(head, inputs, [&](std::size_t c, std::size_t f) {
      return scale * sizes[f] * std::log1p(-std::exp(weight(c, f)));
    });
  auto bernoulli = checked_parts(
      head, inputs, [&](std::size_t c, std::size_t f) { return -scale * softplus(weight(c, f)); });
  if (bernoulli) return bernoulli;
  return checked_parts(head, inputs,
                       [&](std::size_t c, std::size_t f) { return -scale * std::exp(weight(c, f)); });
}

// Leaves the columns that are kept, of rows that repeat all columns some times.
void keep_columns(std::vector<double>& weights, const std::vector<bool>& kept) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (kept[i % kept.size()]) weights[to++] = weights[i];
  weights.resize(to);
}

void keep_tracks(Parameters& parameters, const std::vector<bool>& kept) {
  keep_columns(parameters.emission->weights, kept);
  if (parameters.boundary) {
    keep_columns(parameters.boundary->start_weights, kept);
    keep_columns(parameters.boundary->end_weights, kept);
  }
  std::size_t f = 0;
  std::erase_if(parameters.tracks, [&](const Track&) { return !kept[f++]; });
}

void check_names(const Parameters& parameters, std::span<const std::string> names) {
  if (!parameters.emission)
    throw UsageError("--missing-track: the parameters have no tracks, their inputs are label scores",
                     "leave it out");
  std::vector<std::string> known;
  for (const Track& track : parameters.tracks)
    if (track.is_input()) known.push_back(track.name);
  const NameIndex known_index = NameIndex::of(known), missing = NameIndex::of(names);
  for (const std::string& name : names)
    if (!known_index.contains(name))
      throw UsageError("--missing-track: the parameters have no track '" + name + "'",
                       "their tracks are " + joined(known, ", "));
  const auto left =
      std::ranges::count_if(known, [&](const std::string& name) { return !missing.contains(name); });
  if (left == 0)
    throw UsageError("--missing-track names every track of the parameters", "one at least must have values");
}

}  // namespace

std::optional<std::vector<double>> track_biases(const Parameters& parameters,
                                                const RecordedEmissions& recorded) {
  if (!parameters.emission || parameters.boundary) return std::nullopt;
  const std::vector<Track>& tracks = parameters.tracks;
  const std::size_t inputs = count_inputs(parameters);
  if (has_only_densities(parameters)) return Parts(parameters.labels.size() * inputs);
  if (const auto squares = squares_of(tracks, inputs))
    return gaussian_parts(*parameters.emission, tracks.size(), inputs, *squares, recorded.scale);
  if (std::ranges::any_of(tracks, &Track::is_indicator))
    return categorical_parts(*parameters.emission, tracks, inputs, recorded.scale);
  const bool raw = std::ranges::all_of(
      tracks, [](const Track& track) { return track.is_input() && track.center == 0 && track.scale == 1; });
  return raw ? raw_parts(*parameters.emission, inputs, recorded) : std::nullopt;
}

bool leave_out_tracks(Parameters& parameters, RecordedEmissions& recorded,
                      std::span<const std::string> names) {
  check_names(parameters, names);
  const NameIndex missing = NameIndex::of(names);
  const auto is_named = [&](const std::string& name) { return missing.contains(name); };
  const std::size_t inputs = count_inputs(parameters);
  const auto parts = track_biases(parameters, recorded);
  std::vector<bool> kept;
  for (const Track& track : parameters.tracks)
    kept.push_back(!is_named(track.source()) && !is_named(track.density.beside));
  std::vector<double>& bias = parameters.emission->bias;
  for (std::size_t c = 0; parts && c < bias.size(); ++c)
    for (std::size_t f = 0; f < inputs; ++f)
      if (!kept[f]) bias[c] -= (*parts)[c * inputs + f];
  if (recorded.sizes.size() == inputs)
    keep_columns(recorded.sizes, {kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(inputs)});
  keep_tracks(parameters, kept);
  return parts.has_value();
}

Track absence(const Track& track) {
  Track feature;
  feature.name = track.name + " is absent";
  feature.absence_of = track.name;
  return feature;
}

void add_absences(Parameters& parameters, const RecordedEmissions& recorded) {
  const std::size_t before = parameters.tracks.size(), inputs = count_inputs(parameters);
  std::vector<std::size_t> marginal;
  for (std::size_t f = 0; f < inputs; ++f)
    if (parameters.tracks[f].missing == MissingPolicy::kMarginal) marginal.push_back(f);
  if (marginal.empty()) return;
  const auto parts = track_biases(parameters, recorded);
  if (!parts) {
    for (const std::size_t f : marginal) parameters.tracks[f].missing = MissingPolicy::kMean;
    return;
  }
  std::vector<double>& weights = parameters.emission->weights;
  std::vector<double> wider;
  for (std::size_t c = 0; c < parameters.labels.size(); ++c) {
    const std::span row = RowView(weights, before).row(c);
    wider.insert(wider.end(), row.begin(), row.end());
    for (const std::size_t f : marginal) wider.push_back(-(*parts)[c * inputs + f]);
  }
  weights = std::move(wider);
  for (const std::size_t f : marginal) parameters.tracks.push_back(absence(parameters.tracks[f]));
}

void remove_absences(Parameters& parameters) {
  std::vector<bool> kept;
  for (const Track& track : parameters.tracks) kept.push_back(!track.is_absence());
  keep_tracks(parameters, kept);
}

}  // namespace semicrf
