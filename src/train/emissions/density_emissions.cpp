#include "train/emissions/density_emissions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "core/counts.h"
#include "core/threads/parallel.h"

namespace semicrf {
namespace {

constexpr std::uint32_t kNoValue = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kFewDistinct = 4;  // bins for every distinct value, at least
constexpr float kNegligible = 1e-8F;     // posterior probabilities of nothing
constexpr double kLeastScale = 0.01;     // a Student scale's, beside the interquartile range
constexpr double kFarEnds = 6;           // where clusters see no further, in interquartile ranges
constexpr double kFirstDegrees = 8, kFirstSize = 30;
constexpr int kStartSteps = 30;
constexpr double kNormalDeviation = 1.4826;  // over the median distance from the median

std::size_t columns_of(const TrainingData& data) { return data.num_tracks; }

// Calls visit(row) for every bin.
template <class Visit>
void visit_rows(const TrainingData& data, Visit visit) {
  const std::size_t columns = columns_of(data);
  for (const TrainingPiece& piece : data.pieces)
    for (std::size_t i = 0; i < piece.features.size(); i += columns) visit(piece.features.data() + i);
}

struct Quartiles {
  double low = 0, middle = 0, high = 0;
};
Quartiles quartiles_of(std::vector<float> values) {
  if (values.empty()) return {};
  const auto at = [&](double share) {
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, place);
    return (*place);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

std::vector<float> values_of(const TrainingData& data, std::size_t column) {
  std::vector<float> values;
  visit_rows(data, [&](const float* row) {
    if (!std::isnan(row[column])) values.push_back(row[column]);
  });
  return values;
}

// The number of a value below which half of the weight is.
template <class Number>
double weighted_median(std::vector<WeightedValue> values, Number number) {
  std::ranges::sort(values, {}, number);
  double all = 0, below = 0;
  for (const WeightedValue& one : values) all += one.weight;
  for (const WeightedValue& one : values)
    if ((below += one.weight) >= all / 2) return number(one);
  return 0;
}

// Numbers by moments and medians, from which Newton's steps go on.
void guess(std::span<const WeightedValue> values, double least_scale, Density& density) {
  double weight = 0, sum = 0, besides = 0;
  for (const WeightedValue& one : values) {
    weight += one.weight;
    sum += one.weight * one.x;
    besides += one.weight * (density.beside.empty() ? 1 : one.beside);
  }
  if (!(weight > 0)) return;
  switch (density.family) {
    case DensityFamily::kStudent: {
      const auto place = [&](const WeightedValue& one) {
        return density.mirrored ? std::fabs(one.x) : one.x;
      };
      const std::vector<WeightedValue> all(values.begin(), values.end());
      density.mean = weighted_median(all, place);
      const double distance = weighted_median(
          all, [&](const WeightedValue& one) { return std::fabs(place(one) - density.mean); });
      density.scale = std::max(kNormalDeviation * distance, 2 * least_scale);
      if (has_part(density, DensityPart::kSize)) density.degrees = kFirstDegrees;
      return;
    }
    case DensityFamily::kBetaBinomial:
      density.mean = (sum + 0.5) / (besides + 1);
      if (has_part(density, DensityPart::kSize)) density.size = kFirstSize;
      return;
    case DensityFamily::kNegativeBinomial: {
      density.mean = std::max(sum / besides, 1e-6);
      if (!has_part(density, DensityPart::kSize)) return;
      double beyond = 0, squares = 0;
      for (const WeightedValue& one : values) {
        const double expected = density.mean * (density.beside.empty() ? 1 : one.beside);
        beyond += one.weight * ((one.x - expected) * (one.x - expected) - expected);
        squares += one.weight * expected * expected;
      }
      density.size = beyond > 0 ? std::clamp(squares / beyond, 0.01, 1e4) : 1e4;
      return;
    }
  }
}

}  // namespace

void add_density_tracks(const DensityRules& rules, Parameters& parameters) {
  const std::size_t inputs = parameters.tracks.size(), observed = rules.observed.size();
  const std::size_t labels = parameters.labels.size(), columns = inputs + labels * observed;
  parameters.emission = EmissionHead{std::vector<double>(labels * columns), std::vector<double>(labels)};
  for (std::size_t c = 0; c < labels; ++c)
    for (const ObservedTrack& one : rules.observed) {
      const std::string& of = parameters.tracks[one.column].name;
      parameters.emission->weights[c * columns + parameters.tracks.size()] = 1;
      parameters.tracks.push_back(
          {.name = of + " in " + parameters.labels[c].name, .density_of = of, .density = one.first});
    }
}

DensityEmissions::DensityEmissions(const DensityRules& rules, const TrainingData& data)
    : rules_(rules), data_(&data), values_(rules.observed.size()) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    find_distinct(i);
    values_[i].least_scale = least_scale_of(i);
  }
}

bool DensityEmissions::has_value(std::size_t observed, const float* row) const {
  const ObservedTrack& one = rules_.observed[observed];
  return !std::isnan(row[one.column]) && (one.first.beside.empty() || row[one.beside] > 0);
}

void DensityEmissions::find_distinct(std::size_t observed) {
  const ObservedTrack& one = rules_.observed[observed];
  Values& values = values_[observed];
  const std::size_t bins = data_->positions();
  std::unordered_map<std::uint64_t, std::uint32_t> found;
  bool are_few = true;
  visit_rows(*data_, [&](const float* row) {
    if (!are_few) return;
    if (!has_value(observed, row)) {
      values.of_bin.push_back(kNoValue);
      return;
    }
    const float beside = one.first.beside.empty() ? 0 : row[one.beside];
    std::uint32_t bits[2];
    std::memcpy(&bits[0], &row[one.column], sizeof(float));
    std::memcpy(&bits[1], &beside, sizeof(float));
    const auto [at, is_new] = found.try_emplace(std::uint64_t{bits[0]} << 32 | bits[1],
                                                static_cast<std::uint32_t>(values.distinct.size()));
    if (is_new) values.distinct.push_back({row[one.column], beside, 0});
    values.of_bin.push_back(at->second);
    are_few = values.distinct.size() * kFewDistinct <= bins;
  });
  if (!are_few) values = {};
}

double DensityEmissions::least_scale_of(std::size_t observed) const {
  if (rules_.observed[observed].first.family != DensityFamily::kStudent) return 0;
  const std::vector<float> values = values_of(*data_, rules_.observed[observed].column);
  const Quartiles found = quartiles_of(values);
  if (found.high > found.low) return kLeastScale * (found.high - found.low);
  double squares = 0;
  for (const float value : values) squares += std::pow(value - found.middle, 2);
  const double deviation = std::sqrt(squares / std::max(1.0, static_cast<double>(values.size())));
  return deviation > 0 ? kLeastScale * deviation : 1e-6;
}

std::vector<DensityEmissions::Group> DensityEmissions::groups_of(const Parameters& parameters) const {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < rules_.observed.size(); ++i) {
    const ObservedTrack& one = rules_.observed[i];
    Group group{i, {}};
    for (std::size_t f = 0; f < parameters.tracks.size(); ++f) {
      const Track& track = parameters.tracks[f];
      if (track.density_of == parameters.tracks[one.column].name &&
          track.density.family == one.first.family && track.density.beside == one.first.beside)
        group.tracks.push_back(f);
    }
    if (one.ordered)
      std::ranges::stable_sort(group.tracks, {}, [&](std::size_t track) {
        const std::vector<std::size_t> labels = labels_of(parameters, track);
        return labels.empty() ? parameters.labels.size() : labels.front();
      });
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<std::size_t> DensityEmissions::labels_of(const Parameters& parameters, std::size_t track) {
  std::vector<std::size_t> labels;
  for (std::size_t c = 0; c < parameters.labels.size(); ++c)
    if (parameters.emission->weights[c * parameters.tracks.size() + track] != 0) labels.push_back(c);
  return labels;
}

std::vector<std::vector<WeightedValue>> DensityEmissions::weighted_values(const Group& group,
                                                                          const PosteriorRows& posteriors,
                                                                          const Parameters& parameters,
                                                                          int threads) const {
  const ObservedTrack& one = rules_.observed[group.observed];
  const Values& known = values_[group.observed];
  const std::size_t columns = columns_of(*data_), labels = parameters.labels.size();
  std::vector<std::vector<WeightedValue>> found(group.tracks.size());
  parallel_for(threads, group.tracks.size(), [&](std::size_t i, int) {
    const std::vector<std::size_t> of = labels_of(parameters, group.tracks[i]);
    std::vector<WeightedValue>& values = found[i];
    values = known.distinct;
    std::size_t bin = 0;
    for (std::size_t p = 0; p < posteriors.size(); ++p) {
      const float* row = data_->pieces[p].features.data();
      const float* posterior = posteriors[p].data();
      for (std::size_t t = 0; t * labels < posteriors[p].size();
           ++t, ++bin, row += columns, posterior += labels) {
        float weight = 0;
        for (const std::size_t c : of) weight += posterior[c];
        if (weight < kNegligible) continue;
        if (!known.of_bin.empty()) {
          if (known.of_bin[bin] != kNoValue) values[known.of_bin[bin]].weight += weight;
        } else if (has_value(group.observed, row)) {
          values.push_back({row[one.column], row[one.beside], weight});
        }
      }
    }
    std::erase_if(values, [](const WeightedValue& value) { return value.weight == 0; });
  });
  return found;
}

DensityFitOptions DensityEmissions::fit_options(const Group& group, int threads) const {
  DensityFitOptions options;
  options.tied = rules_.tied;
  options.frozen = rules_.frozen;
  options.least_scale = values_[group.observed].least_scale;
  options.ordered = rules_.observed[group.observed].ordered;
  options.threads = threads;
  return options;
}

void DensityEmissions::start(const PosteriorRows& shares, Parameters& parameters, int threads) const {
  for (const Group& group : groups_of(parameters)) {
    const auto values = weighted_values(group, shares, parameters, threads);
    std::vector<Density*> densities;
    std::vector<double> weights;
    for (std::size_t i = 0; i < group.tracks.size(); ++i) {
      densities.push_back(&parameters.tracks[group.tracks[i]].density);
      guess(values[i], values_[group.observed].least_scale, *densities.back());
      weights.push_back(0);
      for (const WeightedValue& value : values[i]) weights.back() += value.weight;
    }
    tie_parts(densities, weights, rules_.tied);
    DensityFitOptions options = fit_options(group, threads);
    options.max_steps = kStartSteps;
    options.frozen = {};
    fit_densities(densities, values, options);
  }
}

void DensityEmissions::maximize(const PosteriorRows& posteriors, Parameters& parameters, int threads) {
  std::vector<Density*> all;
  std::vector<std::vector<WeightedValue>> values_of_all;
  for (const Group& group : groups_of(parameters)) {
    std::vector<Density*> densities;
    for (const std::size_t track : group.tracks) densities.push_back(&parameters.tracks[track].density);
    auto values = weighted_values(group, posteriors, parameters, threads);
    fit_densities(densities, values, fit_options(group, threads));
    if (!rules_.law) continue;
    all.insert(all.end(), densities.begin(), densities.end());
    std::ranges::move(values, std::back_inserter(values_of_all));
  }
  if (rules_.law) fit_law(*rules_.law, all, values_of_all, threads);
}

std::vector<double> DensityEmissions::law_numbers() const {
  return rules_.law ? rules_.law->numbers : std::vector<double>();
}

void DensityEmissions::set_law_numbers(const std::vector<double>& numbers) {
  if (rules_.law) rules_.law->numbers = numbers;
}

std::vector<double> DensityEmissions::coordinates(const Parameters& parameters) const {
  std::vector<double> found;
  for (const Track& track : parameters.tracks)
    for (const DensityPart part : kDensityParts)
      if (track.is_density() && has_part(track.density, part) && !rules_.frozen[part])
        found.push_back(coordinate(track.density, part));
  return found;
}

void DensityEmissions::set_coordinates(std::span<const double> coordinates, Parameters& parameters) const {
  std::vector<double> least_scale(parameters.tracks.size());
  for (const Group& group : groups_of(parameters))
    for (const std::size_t track : group.tracks) least_scale[track] = values_[group.observed].least_scale;
  std::size_t next = 0;
  for (std::size_t f = 0; f < parameters.tracks.size(); ++f)
    for (const DensityPart part : kDensityParts) {
      Density& density = parameters.tracks[f].density;
      if (!parameters.tracks[f].is_density() || !has_part(density, part) || rules_.frozen[part]) continue;
      const CoordinateRange range = coordinate_range(density, part, least_scale[f]);
      set_coordinate(density, part, std::clamp(coordinates[next++], range.low, range.high));
    }
  for (const Group& group : groups_of(parameters)) {
    if (!rules_.observed[group.observed].ordered) continue;
    std::vector<Density*> densities;
    for (const std::size_t track : group.tracks) densities.push_back(&parameters.tracks[track].density);
    restore_order(densities);
  }
}

std::vector<FreeNumber> DensityEmissions::free_numbers(const PosteriorRows& posteriors,
                                                       const Parameters& parameters, int threads) const {
  const std::size_t first = std::ranges::count_if(parameters.tracks, &Track::is_input);
  std::vector<FreeNumber> found;
  for (const Group& group : groups_of(parameters)) {
    const auto values = weighted_values(group, posteriors, parameters, threads);
    const double least_scale = values_[group.observed].least_scale;
    for (const DensityPart part : kDensityParts) {
      if (rules_.frozen[part]) continue;
      bool is_new = true;
      for (std::size_t i = 0; i < group.tracks.size(); ++i) {
        const Density& density = parameters.tracks[group.tracks[i]].density;
        if (!has_part(density, part)) continue;
        if (is_new) found.push_back({{}, part, coordinate_range(density, part, least_scale)});
        is_new = !rules_.tied[part];
        found.back().densities.push_back(group.tracks[i] - first);
        const DensitySlopes slopes(density);
        for (const WeightedValue& one : values[i]) {
          const double slope = slopes(one.x, one.beside).by[place_of(part)];
          found.back().information += one.weight * slope * slope;
        }
      }
    }
  }
  return found;
}

int DensityEmissions::free_parameters(const Parameters& parameters) const {
  std::size_t free = 0;
  if (rules_.law)
    free += std::ranges::count_if(rules_.law->ranges,
                                  [](const CoordinateRange& range) { return range.low < range.high; });
  for (const Group& group : groups_of(parameters))
    for (const DensityPart part : kDensityParts) {
      if (rules_.frozen[part]) continue;
      const auto learned = std::ranges::count_if(
          group.tracks, [&](std::size_t track) { return has_part(parameters.tracks[track].density, part); });
      free += rules_.tied[part] ? std::min<std::ptrdiff_t>(learned, 1) : learned;
    }
  return static_cast<int>(free);
}

TrainingData cluster_view(const DensityRules& rules, const TrainingData& data) {
  const std::size_t columns = columns_of(data), observed = rules.observed.size();
  std::vector<Quartiles> quartiles;
  for (const ObservedTrack& one : rules.observed)
    quartiles.push_back(quartiles_of(values_of(data, one.column)));
  const auto seen = [&](std::size_t i, const float* row) {
    const ObservedTrack& one = rules.observed[i];
    const double x = row[one.column];
    const double beside = one.first.beside.empty() ? 1 : row[one.beside];
    if (!(beside > 0) || std::isnan(x)) return std::numeric_limits<double>::quiet_NaN();
    if (one.first.family == DensityFamily::kBetaBinomial) return std::clamp(x / beside, 0.0, 1.0);
    if (one.first.family == DensityFamily::kNegativeBinomial)
      return std::log((std::max(0.0, x) + 0.5) / beside);
    const double range = quartiles[i].high - quartiles[i].low;
    if (!(range > 0)) return x;
    return std::clamp(one.first.mirrored ? std::fabs(x) : x, quartiles[i].low - kFarEnds * range,
                      quartiles[i].high + kFarEnds * range);
  };
  TrainingData view;
  view.num_labels = data.num_labels;
  view.num_tracks = count_of(rules.observed);
  for (const TrainingPiece& piece : data.pieces) {
    TrainingPiece part;
    part.length = piece.length;
    part.evidence = piece.evidence;
    part.features.reserve(piece.length * observed);
    for (std::size_t i = 0; i < piece.features.size(); i += columns)
      for (std::size_t f = 0; f < observed; ++f)
        part.features.push_back(static_cast<float>(seen(f, piece.features.data() + i)));
    view.pieces.push_back(std::move(part));
  }
  return view;
}

}  // namespace semicrf
