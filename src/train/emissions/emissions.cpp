#include "train/emissions/emissions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <unordered_map>

#include "core/counts.h"
#include "core/error.h"
#include "core/sizes.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "model/scores/feature_transform.h"
#include "train/start/fit_transforms.h"

namespace semicrf {
namespace {

constexpr double kLeastProbability = 1e-6;            // least probability of a 1, and of a 0
constexpr double kLeastMean = 1e-6;                   // least mean of counts
constexpr double kSeldomSeen = 1e-6;                  // bins
constexpr double kLeastSize = 1e-3, kMostSize = 1e6;  // sizes of negative binomials
constexpr double kOverdispersed = 1.2;
constexpr double kMostCategories = 1000;

// As std::lgamma, which also writes a variable of the whole program; fits run side by side.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

constexpr std::array<std::pair<EmissionFamily, std::string_view>, 6> kEmissionNames{{
    {EmissionFamily::kBernoulli, "bernoulli"},
    {EmissionFamily::kGaussian, "gaussian"},
    {EmissionFamily::kPoisson, "poisson"},
    {EmissionFamily::kNegativeBinomial, "negative-binomial"},
    {EmissionFamily::kCategorical, "categorical"},
    {EmissionFamily::kDensities, "densities"},
}};

// The column of a track's absence, if it has one.
std::optional<std::size_t> absence_column(const TrainingData& data, std::size_t track) {
  const auto found = std::ranges::find(data.absence_of, track);
  if (found == data.absence_of.end()) return std::nullopt;
  return data.num_tracks - (data.absence_of.end() - found);
}

// Calls visit(value, piece, bin) for every bin in which a track has a value.
template <class Visit>
void visit_values(const TrainingData& data, std::size_t track, Visit visit) {
  const std::size_t tracks = data.num_tracks;
  const std::optional<std::size_t> absence = absence_column(data, track);
  for (const TrainingPiece& piece : data.pieces)
    for (std::size_t i = 0, bin = 0; i < piece.features.size(); i += tracks, ++bin) {
      const float value = piece.features[i + track];
      if (std::isnan(value) || (absence && piece.features[i + *absence] != 0)) continue;
      visit(value, piece, static_cast<std::int64_t>(bin));
    }
}

struct ValueSummary {
  double bins = 0, mean = 0, variance = 0, maximum = -std::numeric_limits<double>::infinity();
  bool binary = true, whole = true;  // all values are 0 or 1; whole numbers from 0 on
};

ValueSummary summarize(const TrainingData& data, std::size_t track) {
  ValueSummary found;
  double sum = 0, squares = 0;
  visit_values(data, track, [&](double value, const TrainingPiece&, std::int64_t) {
    found.binary = found.binary && (value == 0 || value == 1);
    found.whole = found.whole && value >= 0 && value == std::floor(value);
    found.maximum = std::max(found.maximum, value);
    found.bins += 1;
    sum += value;
    squares += value * value;
  });
  if (found.bins == 0) return found;
  found.mean = sum / found.bins;
  found.variance = std::max(0.0, squares / found.bins - found.mean * found.mean);
  return found;
}

// The smallest whole n with P(X >= n) < tail, X Poisson.
double poisson_threshold(double mean, double tail) {
  double term = std::exp(-mean), below = 0;
  double n = 0;
  while (1 - below >= tail && n < 1e6) {
    below += term;
    n += 1;
    term *= mean / n;
    if (term == 0 && n > mean) break;
  }
  return n;
}

// The maximum of a function with one, in [low, high].
template <class Function>
double find_maximum(double low, double high, Function f) {
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    const double a = low + (high - low) * 0.382, b = low + (high - low) * 0.618;
    (f(a) < f(b) ? low : high) = f(a) < f(b) ? a : b;
  }
  return (low + high) / 2;
}

// Indicators of 0, 1, ... to the largest value of each track.
void add_indicators(const FeatureOptions& options, const TrainingData& raw, std::vector<Track>& tracks) {
  const std::size_t inputs = tracks.size();
  for (std::size_t f = 0; f < inputs; ++f) {
    double largest = 0;
    for (const TrainingData* const data : {&raw, options.held_out})
      if (data != nullptr)
        visit_values(*data, f, [&](double value, const TrainingPiece& piece, std::int64_t bin) {
          if (value < 0 || value >= kMostCategories || value != std::floor(value))
            throw InputError({"", piece.place(bin, bin + 1),
                              fmt::format("the track {} has the value {:g}, which is no category",
                                          in_quotes(tracks[f].name), value),
                              "categories are whole numbers from 0 to 999; choose another emission"});
          largest = std::max(largest, value);
        });
    for (double value = 0; value <= largest; ++value) {
      const Track track = tracks[f];
      tracks.push_back({.name = fmt::format("{}={:g}", track.name, value),
                        .missing = track.missing,
                        .indicator_of = track.name,
                        .value = value});
    }
  }
}

}  // namespace

std::string_view emission_name(EmissionFamily family) {
  return std::ranges::find(kEmissionNames, family, [](const auto& entry) { return entry.first; })->second;
}

std::optional<EmissionFamily> emission_from_name(std::string_view name) {
  for (const auto& [family, known] : kEmissionNames)
    if (known == name && family != EmissionFamily::kDensities) return family;
  return std::nullopt;
}

bool is_count_family(EmissionFamily family) {
  return family == EmissionFamily::kPoisson || family == EmissionFamily::kNegativeBinomial;
}

EmissionFamily choose_emission(const TrainingData& raw) {
  bool binary = true, whole = true, overdispersed = false;
  for (std::size_t f = 0; f < wide(raw.num_tracks); ++f) {
    const ValueSummary found = summarize(raw, f);
    binary = binary && found.binary;
    whole = whole && found.whole;
    overdispersed = overdispersed || found.variance > kOverdispersed * found.mean;
  }
  if (binary) return EmissionFamily::kBernoulli;
  if (!whole) return EmissionFamily::kGaussian;
  return overdispersed ? EmissionFamily::kNegativeBinomial : EmissionFamily::kPoisson;
}

void fit_features(EmissionFamily family, const FeatureOptions& options, const TrainingData& raw,
                  std::vector<Track>& tracks, std::vector<Warning>& warnings) {
  const std::size_t inputs = tracks.size();
  if (family == EmissionFamily::kGaussian) {
    fit_transforms(raw, options.transform, tracks, warnings);
    for (std::size_t f = 0; f < inputs; ++f) {
      const Track track = tracks[f];
      tracks.push_back({.name = track.name + "^2", .missing = track.missing, .square_of = track.name});
    }
    return;
  }
  for (std::size_t f = 0; f < inputs; ++f) {
    const ValueSummary found = summarize(raw, f);
    Track& track = tracks[f];
    if (found.bins == 0) refuse_track_without_values(track.name);
    if (found.variance == 0)
      warnings.push_back(
          {"constant-track", "the track " + in_quotes(track.name) +
                                 " has the same value in every bin and tells no labels apart"});
    if (family == EmissionFamily::kBernoulli) {
      if (found.binary && !options.threshold) continue;
      track.transform = Transform::kBinarize;
      track.threshold =
          options.threshold ? *options.threshold : poisson_threshold(found.mean, options.binarize_tail);
      if (found.maximum < track.threshold)
        warnings.push_back(
            {"threshold-not-reached",
             fmt::format("the largest value of the track {} is {:g}, below its threshold {:g}, so that it is "
                         "0 everywhere and tells no labels apart; give --threshold, or another --emission",
                         in_quotes(track.name), found.maximum, track.threshold)});
      continue;
    }
    if (family == EmissionFamily::kCategorical) continue;
    visit_values(raw, f, [&](double value, const TrainingPiece& piece, std::int64_t bin) {
      if (value < 0)
        throw InputError(
            {"", piece.place(bin, bin + 1),
             "the track " + in_quotes(track.name) + " has a negative value, which cannot be a count",
             "choose --emission gaussian"});
    });
  }
  if (family == EmissionFamily::kCategorical) add_indicators(options, raw, tracks);
}

void apply_input_features(const std::vector<Track>& tracks, TrainingData& data) {
  std::vector<Track> inputs = tracks;
  std::erase_if(inputs, [](const Track& track) { return !track.is_input(); });
  apply_transforms(inputs, data);
  data.num_tracks = count_of(inputs);
  data.log_slopes = 0;
  for (std::size_t f = 0; f < inputs.size(); ++f)
    visit_values(data, f, [&](double feature, const TrainingPiece&, std::int64_t) {
      data.log_slopes += log_slope(inputs[f], feature);
    });
}

void apply_features(const std::vector<Track>& tracks, TrainingData& data) {
  apply_input_features(tracks, data);
  add_derived_features(tracks, data);
}

ValueCounts::ValueCounts(EmissionFamily family, const TrainingData& data) : log_slopes_(data.log_slopes) {
  if (!is_count_family(family)) return;
  const std::size_t values = data.num_tracks - data.absence_of.size();
  for (std::size_t f = 0; f < values; ++f) {
    std::unordered_map<double, double> found;
    visit_values(data, f, [&](double value, const TrainingPiece&, std::int64_t) { found[value] += 1; });
    tracks_.emplace_back(found.begin(), found.end());
    std::ranges::sort(tracks_.back());
  }
}

Emissions::Emissions(const EmissionPlan& plan, const TrainingData& data)
    : family_(plan.family),
      columns_(data.num_tracks),
      inputs_((columns_ - data.absence_of.size() - data.indicator_of.size()) /
              (plan.family == EmissionFamily::kGaussian ? 2 : 1)),
      values_(plan.family, data),
      dispersion_(plan.sizes) {
  if (family_ == EmissionFamily::kDensities) densities_.emplace(plan.densities, data);
  for (std::size_t f = 0; f < inputs_; ++f) absence_.push_back(absence_column(data, f));
  indicators_.resize(inputs_);
  for (std::size_t i = 0; i < data.indicator_of.size(); ++i)
    indicators_[data.indicator_of[i]].push_back(inputs_ + i);
  if (family_ != EmissionFamily::kNegativeBinomial || !dispersion_.empty()) return;
  // By moments, over all bins.
  for (std::size_t f = 0; f < inputs_; ++f) {
    const ValueSummary found = summarize(data, f);
    const double above = found.variance - found.mean;
    dispersion_.push_back(above <= 0 ? kMostSize
                                     : std::clamp(found.mean * found.mean / above, kLeastSize, kMostSize));
  }
}

Emissions::Terms Emissions::likeliest(double mean, double mean_square, std::size_t track) const {
  switch (family_) {
    case EmissionFamily::kBernoulli: {
      const double p = std::clamp(mean, kLeastProbability, 1 - kLeastProbability);
      return {std::log(p) - std::log1p(-p), 0, std::log1p(-p)};
    }
    case EmissionFamily::kGaussian: {
      const double variance = std::max(mean_square - mean * mean, kLeastVariance);
      return {mean / variance, -0.5 / variance,
              -0.5 * (mean * mean / variance + std::log(2 * std::numbers::pi * variance))};
    }
    case EmissionFamily::kPoisson: {
      const double rate = std::max(mean, kLeastMean);
      return {std::log(rate), 0, -rate};
    }
    case EmissionFamily::kNegativeBinomial: {
      const double rate = std::max(mean, kLeastMean), size = dispersion_[track];
      return {std::log(rate / (rate + size)), 0, size * std::log(size / (rate + size))};
    }
    case EmissionFamily::kCategorical:
      return {};  // the indicators have it all
    case EmissionFamily::kDensities:
      break;  // DensityEmissions has their M-step
  }
  throw std::logic_error("unknown emission family");
}

// Log probabilities of the categories. What is seldom has the floor, and the others share what is left.
void Emissions::maximize_categories(const EmissionSums& sums, std::size_t label, std::size_t track,
                                    double* weights) const {
  std::vector<std::size_t> free = indicators_[track];
  double left = 1;
  for (bool settled = false; !settled;) {
    double total = 0;
    for (const std::size_t i : free) total += sums.features[label * columns_ + i];
    settled = true;
    std::erase_if(free, [&](std::size_t i) {
      const double p = total > 0 ? left * sums.features[label * columns_ + i] / total : 0;
      weights[i] = std::log(std::max(p, kLeastProbability));
      if (p >= kLeastProbability) return false;
      settled = false;
      return true;
    });
    left = 1 - kLeastProbability * static_cast<double>(indicators_[track].size() - free.size());
  }
}

double Emissions::bins_with_value(const EmissionSums& sums, std::size_t label, std::size_t track) const {
  const double absent = absence_[track] ? sums.features[label * columns_ + *absence_[track]] : 0;
  return sums.bins[label] - absent;
}

void Emissions::maximize(const EmissionSums& sums, EmissionHead& head) {
  if (family_ == EmissionFamily::kNegativeBinomial)
    for (std::size_t f = 0; f < inputs_; ++f) maximize_dispersion(sums, f);
  for (std::size_t c = 0; c < sums.bins.size(); ++c) {
    if (sums.bins[c] < kSeldomSeen) continue;
    double bias = 0;
    double* weights = head.weights.data() + c * columns_;
    const double* totals = sums.features.data() + c * columns_;
    for (std::size_t f = 0; f < inputs_; ++f) {
      const double bins = bins_with_value(sums, c, f);
      if (bins < kSeldomSeen) {
        bias -= weights[*absence_[f]];
        continue;
      }
      const bool gaussian = family_ == EmissionFamily::kGaussian;
      const Terms terms = likeliest(totals[f] / bins, gaussian ? totals[inputs_ + f] / bins : 0, f);
      weights[f] = terms.weight;
      if (!indicators_[f].empty()) maximize_categories(sums, c, f, weights);
      if (gaussian) weights[inputs_ + f] = terms.square;
      if (absence_[f]) weights[*absence_[f]] = -terms.bias;
      bias += terms.bias;
    }
    head.bias[c] = bias;
  }
}

// The means of the labels do not depend on the size r, so that r is the maximum along one line.
void Emissions::maximize_dispersion(const EmissionSums& sums, std::size_t track) {
  const auto value_of = [&](double log_size) {
    const double size = std::exp(log_size);
    double value = 0;
    for (const auto& [x, bins] : values_.of(track)) value += bins * (log_gamma(x + size) - log_gamma(size));
    for (std::size_t c = 0; c < sums.bins.size(); ++c) {
      const double bins = bins_with_value(sums, c, track), total = sums.features[c * columns_ + track];
      if (bins < kSeldomSeen) continue;
      const double rate = std::max(total / bins, kLeastMean);
      value += total * std::log(rate / (rate + size)) + bins * size * std::log(size / (rate + size));
    }
    return value;
  };
  const double found = find_maximum(std::log(kLeastSize), std::log(kMostSize), value_of);
  if (value_of(found) > value_of(std::log(dispersion_[track]))) dispersion_[track] = std::exp(found);
}

double Emissions::base_measure(const ValueCounts& counts) const {
  if (!is_count_family(family_)) return counts.log_slopes();
  double sum = 0;
  for (std::size_t f = 0; f < inputs_; ++f)
    for (const auto& [x, bins] : counts.of(f)) {
      sum -= bins * log_gamma(x + 1);
      if (family_ == EmissionFamily::kNegativeBinomial)
        sum += bins * (log_gamma(x + dispersion_[f]) - log_gamma(dispersion_[f]));
    }
  return sum;
}

int Emissions::free_parameters(const Parameters& parameters) const {
  if (densities_) return densities_->free_parameters(parameters);
  const int labels = parameters.num_labels();
  std::size_t of_label = inputs_ * (family_ == EmissionFamily::kGaussian ? 2 : 1);
  if (family_ == EmissionFamily::kCategorical) {
    of_label = 0;
    for (const auto& columns : indicators_) of_label += columns.size() - 1;
  }
  return labels * static_cast<int>(of_label) + count_of(dispersion_);
}

}  // namespace semicrf
