// Models of tracks as textbooks write them, and tracks that are drawn from them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "train/data/training_data.h"
#include "train/emissions/emissions.h"

namespace semicrf::test {

// Independent tracks: means (0..1 for Bernoulli), variances of Gaussians, sizes of negative binomials. With
// mean m, the categories 0, 1 and 2 have probabilities m, 0.7 (1-m) and 0.3 (1-m).
struct TextbookTracks {
  EmissionFamily family = EmissionFamily::kBernoulli;
  std::size_t labels = 0, tracks = 0;
  std::vector<double> mean, variance, size;  // (C, F), (C, F), (F)

  // NaN: the track has no value.
  double log_density(std::size_t c, const float* row) const {
    double sum = 0;
    for (std::size_t f = 0; f < tracks; ++f) {
      if (std::isnan(row[f])) continue;
      const double m = mean[c * tracks + f], x = static_cast<double>(row[f]);
      switch (family) {
        case EmissionFamily::kBernoulli:
          sum += std::log(x == 1 ? m : 1 - m);
          break;
        case EmissionFamily::kGaussian: {
          const double v = variance[c * tracks + f];
          sum += -0.5 * std::log(2 * std::numbers::pi * v) - (x - m) * (x - m) / (2 * v);
          break;
        }
        case EmissionFamily::kPoisson:
          sum += x * std::log(m) - m - std::lgamma(x + 1);
          break;
        case EmissionFamily::kCategorical:
          sum += std::log(x == 0 ? m : (x == 1 ? 0.7 : 0.3) * (1 - m));
          break;
        case EmissionFamily::kDensities:
          break;
        case EmissionFamily::kNegativeBinomial: {
          const double r = size[f], p = r / (r + m);
          sum +=
              std::lgamma(x + r) - std::lgamma(r) - std::lgamma(x + 1) + r * std::log(p) + x * std::log1p(-p);
          break;
        }
      }
    }
    return sum;
  }

  template <class Random>
  void draw(std::size_t c, Random& random, std::vector<float>& row) const {
    for (std::size_t f = 0; f < tracks; ++f) {
      const double m = mean[c * tracks + f];
      double x = 0;
      switch (family) {
        case EmissionFamily::kBernoulli:
          x = std::bernoulli_distribution(m)(random) ? 1 : 0;
          break;
        case EmissionFamily::kGaussian:
          x = std::normal_distribution<double>(m, std::sqrt(variance[c * tracks + f]))(random);
          break;
        case EmissionFamily::kPoisson:
          x = std::poisson_distribution<int>(m)(random);
          break;
        case EmissionFamily::kCategorical:
          x = std::discrete_distribution<int>({m, 0.7 * (1 - m), 0.3 * (1 - m)})(random);
          break;
        case EmissionFamily::kDensities:
          break;
        case EmissionFamily::kNegativeBinomial:
          x = std::poisson_distribution<int>(std::gamma_distribution<double>(size[f], m / size[f])(random))(
              random);
          break;
      }
      row.push_back(static_cast<float>(x));
    }
  }
};

inline TextbookTracks random_tracks(EmissionFamily family, std::size_t labels, std::size_t tracks,
                                    std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  TextbookTracks model{family, labels, tracks, {}, {}, {}};
  for (std::size_t i = 0; i < labels * tracks; ++i) {
    const double u = uniform(random);
    const bool probability = family == EmissionFamily::kBernoulli || family == EmissionFamily::kCategorical;
    model.mean.push_back(probability                           ? 0.05 + 0.9 * u
                         : family == EmissionFamily::kGaussian ? 4 * u - 2
                                                               : 0.2 + 6 * u);
    model.variance.push_back(0.3 + uniform(random));
  }
  for (std::size_t f = 0; f < tracks; ++f) model.size.push_back(0.8 + 3 * uniform(random));
  return model;
}

// The head of these distributions, for features without transforms, squares or indicators behind.
inline EmissionHead head_of(const TextbookTracks& model) {
  const bool gaussian = model.family == EmissionFamily::kGaussian;
  const bool categorical = model.family == EmissionFamily::kCategorical;
  const std::size_t columns = (gaussian ? 2 : categorical ? 4 : 1) * model.tracks;
  EmissionHead head{std::vector<double>(model.labels * columns), std::vector<double>(model.labels)};
  for (std::size_t c = 0; c < model.labels; ++c)
    for (std::size_t f = 0; f < model.tracks; ++f) {
      const double m = model.mean[c * model.tracks + f], v = model.variance[c * model.tracks + f];
      double& weight = head.weights[c * columns + f];
      switch (model.family) {
        case EmissionFamily::kBernoulli:
          weight = std::log(m / (1 - m));
          head.bias[c] += std::log(1 - m);
          break;
        case EmissionFamily::kGaussian:
          weight = m / v;
          head.weights[c * columns + model.tracks + f] = -1 / (2 * v);
          head.bias[c] -= m * m / (2 * v) + 0.5 * std::log(2 * std::numbers::pi * v);
          break;
        case EmissionFamily::kPoisson:
          weight = std::log(m);
          head.bias[c] -= m;
          break;
        case EmissionFamily::kCategorical: {
          double* const of_value = head.weights.data() + c * columns + model.tracks + 3 * f;
          of_value[0] = std::log(m);
          of_value[1] = std::log(0.7 * (1 - m));
          of_value[2] = std::log(0.3 * (1 - m));
          break;
        }
        case EmissionFamily::kDensities:
          break;
        case EmissionFamily::kNegativeBinomial:
          weight = std::log(m / (m + model.size[f]));
          head.bias[c] += model.size[f] * std::log(model.size[f] / (m + model.size[f]));
          break;
      }
    }
  return head;
}

// Tracks "t1", "t2", ... and, for Gaussians, their squares, for categories their indicators.
inline std::vector<Track> feature_tracks(const TextbookTracks& model) {
  std::vector<Track> tracks;
  for (std::size_t f = 0; f < model.tracks; ++f) {
    Track track;
    track.name = "t" + std::to_string(f + 1);
    tracks.push_back(track);
  }
  if (model.family == EmissionFamily::kCategorical)
    for (std::size_t f = 0; f < model.tracks; ++f)
      for (const int value : {0, 1, 2}) {
        Track indicator;
        indicator.name = tracks[f].name + "=" + std::to_string(value);
        indicator.indicator_of = tracks[f].name;
        indicator.value = value;
        tracks.push_back(indicator);
      }
  if (model.family != EmissionFamily::kGaussian) return tracks;
  for (std::size_t f = 0; f < model.tracks; ++f) {
    Track square;
    square.name = tracks[f].name + "^2";
    square.square_of = tracks[f].name;
    tracks.push_back(square);
  }
  return tracks;
}

// A piece of raw values drawn from a chain whose scores are log probabilities, and `model`, which draws the
// values of a bin of a label (TextbookTracks). `labels` gets the bins'
// labels.
template <class Model>
TrainingPiece draw_piece(const ChainModel& chain, const Model& model, std::int64_t length,
                         std::mt19937_64& random, std::vector<int>* labels = nullptr) {
  const auto draw_from = [&](const std::vector<double>& weights) {
    return std::discrete_distribution<int>(weights.begin(), weights.end())(random);
  };
  TrainingPiece piece;
  piece.location.chromosome = "x";
  piece.length = length;
  std::vector<double> row;
  for (int c = 0; c < chain.num_labels; ++c)
    row.push_back(std::exp(chain.start_scores[static_cast<std::size_t>(c)]));
  for (std::int64_t t = 0; t < length;) {
    const int c = draw_from(row);
    std::vector<double> durations;
    for (int k = 1; k <= chain.max_duration; ++k) durations.push_back(std::exp(chain.duration_score(k, c)));
    if (chain.has_tail()) durations.back() /= -std::expm1(chain.log_tail[static_cast<std::size_t>(c)]);
    std::int64_t duration = draw_from(durations) + 1;
    if (chain.has_tail() && duration == chain.max_duration)
      while (std::bernoulli_distribution(std::exp(chain.log_tail[static_cast<std::size_t>(c)]))(random))
        ++duration;
    for (; duration > 0 && t < length; --duration, ++t) {
      model.draw(static_cast<std::size_t>(c), random, piece.features);
      if (labels != nullptr) labels->push_back(c);
    }
    row.clear();
    for (int to = 0; to < chain.num_labels; ++to) row.push_back(std::exp(chain.transition_at(c, to)));
  }
  return piece;
}

}  // namespace semicrf::test
