#include "learn/emissions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "core/error.h"
#include "io/json/json_document.h"
#include "model/feature_transform.h"
#include "train/start/fit_transforms.h"

namespace semicrf {
namespace {

constexpr double kLeastProbability = 1e-6;            // of a 1, and of a 0
constexpr double kLeastVariance = 1e-4;               // of features whose variance is 1
constexpr double kLeastMean = 1e-6;                   // of counts
constexpr double kSeldomSeen = 1e-6;                  // bins
constexpr double kLeastSize = 1e-3, kMostSize = 1e4;  // of negative binomials
constexpr double kOverdispersed = 1.2;

constexpr std::array<std::pair<EmissionFamily, std::string_view>, 4> kEmissionNames{{
    {EmissionFamily::kBernoulli, "bernoulli"},
    {EmissionFamily::kGaussian, "gaussian"},
    {EmissionFamily::kPoisson, "poisson"},
    {EmissionFamily::kNegativeBinomial, "negative-binomial"},
}};

bool is_count_family(EmissionFamily family) {
  return family == EmissionFamily::kPoisson || family == EmissionFamily::kNegativeBinomial;
}

// Calls visit(value, piece, bin) for every bin of a track.
template <class Visit>
void visit_values(const TrainingData& data, std::size_t track, Visit visit) {
  const auto tracks = static_cast<std::size_t>(data.num_tracks);
  for (const TrainingPiece& piece : data.pieces)
    for (std::size_t i = track, bin = 0; i < piece.features.size(); i += tracks, ++bin)
      visit(static_cast<double>(piece.features[i]), piece, static_cast<std::int64_t>(bin));
}

struct ValueSummary {
  double mean = 0, variance = 0;
  bool binary = true, whole = true;  // all values are 0 or 1; whole numbers from 0 on
};

ValueSummary summarize(const TrainingData& data, std::size_t track) {
  ValueSummary found;
  double count = 0, sum = 0, squares = 0;
  visit_values(data, track, [&](double value, const TrainingPiece&, std::int64_t) {
    found.binary = found.binary && (value == 0 || value == 1);
    found.whole = found.whole && value >= 0 && value == std::floor(value);
    count += 1;
    sum += value;
    squares += value * value;
  });
  if (count == 0) return found;
  found.mean = sum / count;
  found.variance = std::max(0.0, squares / count - found.mean * found.mean);
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

}  // namespace

std::string_view emission_name(EmissionFamily family) {
  return std::ranges::find(kEmissionNames, family, [](const auto& entry) { return entry.first; })->second;
}

std::optional<EmissionFamily> emission_from_name(std::string_view name) {
  for (const auto& [family, known] : kEmissionNames)
    if (known == name) return family;
  return std::nullopt;
}

EmissionFamily choose_emission(const TrainingData& raw) {
  bool binary = true, whole = true, overdispersed = false;
  for (std::size_t f = 0; f < static_cast<std::size_t>(raw.num_tracks); ++f) {
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
      Track square;
      square.name = tracks[f].name + "^2";
      square.square_of = tracks[f].name;
      square.missing = tracks[f].missing;
      tracks.push_back(square);
    }
    return;
  }
  for (std::size_t f = 0; f < inputs; ++f) {
    const ValueSummary found = summarize(raw, f);
    Track& track = tracks[f];
    if (found.variance == 0)
      warnings.push_back(
          {"constant-track", "the track " + in_quotes(track.name) +
                                 " has the same value in every bin and tells no labels apart"});
    if (family == EmissionFamily::kBernoulli) {
      if (found.binary && !options.threshold) continue;
      track.transform = Transform::kBinarize;
      track.threshold =
          options.threshold ? *options.threshold : poisson_threshold(found.mean, options.binarize_tail);
      continue;
    }
    visit_values(raw, f, [&](double value, const TrainingPiece& piece, std::int64_t bin) {
      if (value < 0)
        throw InputError({"", piece.place(bin, bin + 1),
                          "the track " + in_quotes(track.name) + " has a negative value, which is no count",
                          "choose --emission gaussian"});
    });
  }
}

void apply_features(const std::vector<Track>& tracks, TrainingData& data) {
  std::vector<Track> inputs;
  std::vector<std::size_t> squared;
  for (const Track& track : tracks) {
    if (!track.is_square()) {
      inputs.push_back(track);
    } else {
      squared.push_back(static_cast<std::size_t>(std::ranges::find(tracks, track.square_of, &Track::name) -
                                                 tracks.begin()));
    }
  }
  apply_transforms(inputs, data);
  data.num_tracks = static_cast<int>(tracks.size());
  if (squared.empty()) return;
  for (TrainingPiece& piece : data.pieces) {
    std::vector<float> rows(static_cast<std::size_t>(piece.length) * tracks.size());
    for (std::size_t t = 0; t < static_cast<std::size_t>(piece.length); ++t) {
      const float* from = piece.features.data() + t * inputs.size();
      float* row = rows.data() + t * tracks.size();
      std::copy_n(from, inputs.size(), row);
      for (std::size_t s = 0; s < squared.size(); ++s)
        row[inputs.size() + s] = from[squared[s]] * from[squared[s]];
    }
    piece.features = std::move(rows);
  }
}

ValueCounts::ValueCounts(const TrainingData& data) {
  for (std::size_t f = 0; f < static_cast<std::size_t>(data.num_tracks); ++f) {
    std::unordered_map<double, double> found;
    visit_values(data, f, [&](double value, const TrainingPiece&, std::int64_t) { found[value] += 1; });
    tracks_.emplace_back(found.begin(), found.end());
    std::ranges::sort(tracks_.back());
  }
}

Emissions::Emissions(EmissionFamily family, const TrainingData& data, std::vector<double> sizes)
    : family_(family),
      columns_(static_cast<std::size_t>(data.num_tracks)),
      values_(is_count_family(family) ? data : TrainingData{}),
      dispersion_(std::move(sizes)) {
  if (family_ != EmissionFamily::kNegativeBinomial || !dispersion_.empty()) return;
  // By moments, over all bins.
  for (std::size_t f = 0; f < columns_; ++f) {
    const ValueSummary found = summarize(data, f);
    const double above = found.variance - found.mean;
    dispersion_.push_back(above <= 0 ? kMostSize
                                     : std::clamp(found.mean * found.mean / above, kLeastSize, kMostSize));
  }
}

void Emissions::maximize(const EmissionSums& sums, EmissionHead& head) {
  if (family_ == EmissionFamily::kNegativeBinomial)
    for (std::size_t f = 0; f < columns_; ++f) maximize_dispersion(sums, f);
  const std::size_t inputs = family_ == EmissionFamily::kGaussian ? columns_ / 2 : columns_;
  for (std::size_t c = 0; c < sums.bins.size(); ++c) {
    const double bins = sums.bins[c];
    if (bins < kSeldomSeen) continue;
    double bias = 0;
    double* weights = head.weights.data() + c * columns_;
    for (std::size_t f = 0; f < inputs; ++f) {
      const double mean = sums.features[c * columns_ + f] / bins;
      switch (family_) {
        case EmissionFamily::kBernoulli: {
          const double p = std::clamp(mean, kLeastProbability, 1 - kLeastProbability);
          weights[f] = std::log(p) - std::log1p(-p);
          bias += std::log1p(-p);
          break;
        }
        case EmissionFamily::kGaussian: {
          const double square = sums.features[c * columns_ + inputs + f] / bins;
          const double variance = std::max(square - mean * mean, kLeastVariance);
          weights[f] = mean / variance;
          weights[inputs + f] = -0.5 / variance;
          bias -= 0.5 * (mean * mean / variance + std::log(2 * std::numbers::pi * variance));
          break;
        }
        case EmissionFamily::kPoisson: {
          const double rate = std::max(mean, kLeastMean);
          weights[f] = std::log(rate);
          bias -= rate;
          break;
        }
        case EmissionFamily::kNegativeBinomial: {
          const double rate = std::max(mean, kLeastMean), size = dispersion_[f];
          weights[f] = std::log(rate / (rate + size));
          bias += size * std::log(size / (rate + size));
          break;
        }
      }
    }
    head.bias[c] = bias;
  }
}

// The means of the labels do not depend on the size r, so that r is the maximum along one line.
void Emissions::maximize_dispersion(const EmissionSums& sums, std::size_t track) {
  const auto value_of = [&](double log_size) {
    const double size = std::exp(log_size);
    double value = 0;
    for (const auto& [x, bins] : values_.of(track))
      value += bins * (std::lgamma(x + size) - std::lgamma(size));
    for (std::size_t c = 0; c < sums.bins.size(); ++c) {
      const double bins = sums.bins[c], total = sums.features[c * columns_ + track];
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
  if (!is_count_family(family_)) return 0;
  double sum = 0;
  for (std::size_t f = 0; f < columns_; ++f)
    for (const auto& [x, bins] : counts.of(f)) {
      sum -= bins * std::lgamma(x + 1);
      if (family_ == EmissionFamily::kNegativeBinomial)
        sum += bins * (std::lgamma(x + dispersion_[f]) - std::lgamma(dispersion_[f]));
    }
  return sum;
}

int Emissions::free_parameters(int labels) const {
  return labels * static_cast<int>(columns_) + static_cast<int>(dispersion_.size());
}

}  // namespace semicrf
