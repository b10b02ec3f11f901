// Densities, and tracks that are drawn from them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "train/emissions/density_emissions.h"
#include "unit/learn/learn_samples.h"

namespace semicrf::test {

inline Density student(double mean, double scale, double degrees, double outliers = 0) {
  Density density;
  density.mean = mean;
  density.scale = scale;
  density.degrees = degrees;
  density.outliers = outliers;
  density.outlier_density = outliers > 0 ? 0.05 : 0;
  return density;
}

inline Density of_counts(DensityFamily family, const std::string& beside, double mean, double size) {
  Density density;
  density.family = family;
  density.beside = beside;
  density.mean = mean;
  density.size = size;
  return density;
}
inline Density successes(double mean, double size) {
  return of_counts(DensityFamily::kBetaBinomial, "n", mean, size);
}
inline Density counts(const std::string& beside, double mean, double size) {
  return of_counts(DensityFamily::kNegativeBinomial, beside, mean, size);
}

// A value of the density, beside 1 to 40 trials or an exposure of as many.
template <class Random>
WeightedValue drawn(const Density& density, Random& random) {
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  const double beside = 1 + std::floor(40 * uniform());
  double x = 0;
  switch (density.family) {
    case DensityFamily::kStudent: {
      const double normal = std::normal_distribution<double>()(random);
      const double spread =
          std::isinf(density.degrees)
              ? 1
              : std::sqrt(std::chi_squared_distribution<double>(density.degrees)(random) / density.degrees);
      x = density.mean + density.scale * normal / spread;
      if (density.mirrored && uniform() < 0.5) x = -x;
      if (uniform() < density.outliers) x = (uniform() - 0.5) / density.outlier_density;
      break;
    }
    case DensityFamily::kBetaBinomial: {
      double p = density.mean;
      if (!std::isinf(density.size)) {
        const double a = std::gamma_distribution<double>(p * density.size, 1)(random);
        p = a / (a + std::gamma_distribution<double>((1 - p) * density.size, 1)(random));
      }
      x = std::binomial_distribution<int>(static_cast<int>(beside), p)(random);
      if (density.mirrored && uniform() < 0.5) x = beside - x;
      break;
    }
    case DensityFamily::kNegativeBinomial: {
      double mean = density.mean * (density.beside.empty() ? 1 : beside);
      if (!std::isinf(density.size))
        mean = std::gamma_distribution<double>(density.size, mean / density.size)(random);
      x = mean > 0 ? std::poisson_distribution<int>(mean)(random) : 0;
      break;
    }
  }
  // As a track has it.
  return {static_cast<double>(static_cast<float>(x)), density.beside.empty() ? 0 : beside, 1};
}

// Tracks that are drawn: one with each of the densities of a label, in pairs where they have another beside.
struct DensityModel {
  std::vector<std::vector<Density>> of;  // by label, as many each
  double holes = 0;

  template <class Random>
  void draw(std::size_t c, Random& random, std::vector<float>& row) const {
    for (const Density& density : of[c]) {
      const WeightedValue value = drawn(density, random);
      const bool hole = std::bernoulli_distribution(holes)(random);
      row.push_back(hole ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value.x));
      if (!density.beside.empty()) row.push_back(static_cast<float>(value.beside));
    }
  }
};

struct Drawn {
  TrainingData data;
  std::vector<std::vector<int>> labels;  // of the bins of each piece
  Parameters truth;
  EmissionPlan plan;
  LawOptions law;
};

// Segments of these densities, which have names of tracks of their own.
inline Drawn draw(const DensityModel& model, const std::vector<std::int64_t>& lengths, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Drawn drawn;
  const int labels = static_cast<int>(model.of.size());
  drawn.law = {8, true, LawKind::kTable, false};
  drawn.truth.centering = Centering::kNone;
  drawn.truth.chain = random_chain(drawn.law, labels, 1, random);
  for (int c = 0; c < labels; ++c) drawn.truth.labels.push_back({std::to_string(c + 1), std::nullopt});
  drawn.plan.family = EmissionFamily::kDensities;
  std::vector<std::vector<Density>> densities = model.of;
  for (std::size_t f = 0; f < model.of.front().size(); ++f) {
    Track track;
    track.name = "x" + std::to_string(f);
    track.missing = MissingPolicy::kMarginal;
    const std::size_t column = drawn.truth.tracks.size();
    drawn.truth.tracks.push_back(track);
    const bool pair = !model.of.front()[f].beside.empty();
    if (pair) track.name += " beside";
    if (pair) drawn.truth.tracks.push_back(track);
    for (std::vector<Density>& label : densities)
      if (pair) label[f].beside = track.name;
    drawn.plan.densities.observed.push_back({column, column + (pair ? 1 : 0), densities.front()[f]});
  }
  const std::size_t inputs = drawn.truth.tracks.size();
  add_density_tracks(drawn.plan.densities, drawn.truth);
  for (std::size_t c = 0, next = inputs; c < densities.size(); ++c)
    for (const Density& density : densities[c]) drawn.truth.tracks[next++].density = density;
  drawn.data.num_labels = labels;
  drawn.data.num_tracks = static_cast<int>(inputs);
  for (const std::int64_t length : lengths)
    drawn.data.pieces.push_back(
        draw_piece(drawn.truth.chain, model, length, random, &drawn.labels.emplace_back()));
  return drawn;
}

// Three labels, one or two tracks of every family.
inline DensityModel mixed_model(double holes = 0) {
  DensityModel model;
  model.holes = holes;
  for (const double c : {0.0, 1.0, 2.0})
    model.of.push_back({student(2 * c - 1, 0.6 + 0.2 * c, 4 + c, 0.02), successes(0.2 + 0.3 * c, 15 + 5 * c),
                        counts("n", 0.5 + 0.4 * c, 3 + c)});
  return model;
}

// `data` with the segments of bins of one label.
inline TrainingData labelled(TrainingData data, const std::vector<std::vector<int>>& labels) {
  for (std::size_t p = 0; p < labels.size(); ++p)
    for (std::size_t t = 0; t < labels[p].size(); ++t) {
      std::vector<Segment>& segments = data.pieces[p].segments;
      const auto bin = static_cast<std::int64_t>(t);
      if (segments.empty() || segments.back().label != labels[p][t]) {
        segments.push_back({bin, bin, labels[p][t]});
        data.pieces[p].lines.push_back(static_cast<std::int64_t>(segments.size()));
      }
      segments.back().end = bin + 1;
    }
  return data;
}

}  // namespace semicrf::test
