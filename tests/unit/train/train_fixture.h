// Random training data and models for the tests of src/train.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/parameters.h"
#include "support/messages.h"
#include "train/data/training_data.h"

namespace semicrf::test {

// N(0, 1) features and segments of random labels and durations in 1..longest.
inline TrainingPiece random_piece(std::int64_t length, int labels, int tracks, std::int64_t longest,
                                  std::mt19937_64& random) {
  TrainingPiece piece;
  piece.location.chromosome = "chrA";
  piece.location.limit = length;
  piece.length = length;
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < length * tracks; ++i) piece.features.push_back(normal(random));
  std::int64_t t = 0;
  int before = -1;
  while (t < length) {
    const auto duration = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest)) + 1;
    int label = static_cast<int>(random() % static_cast<std::uint64_t>(labels));
    if (label == before && labels > 1) label = (label + 1) % labels;
    piece.segments.push_back({t, std::min(length, t + duration), label});
    piece.lines.push_back(static_cast<std::int64_t>(piece.segments.size()));
    t += duration;
    before = label;
  }
  for (int f = 0; f < tracks; ++f) piece.feature_mean.push_back(0.1 * f - 0.05);
  return piece;
}

struct ModelShape {
  int labels = 3;
  int tracks = 2;
  int max_duration = 5;
  std::string kind = "table";  // of durations
  bool tail = false;
  bool boundary = false;
  int first = -1, last = 2;  // of the boundary heads
  Centering centering = Centering::kNone;
  InitialTerm initial = InitialTerm::kNone;
};

inline std::string numbered(std::string name, int number) { return name.append(std::to_string(number)); }

inline std::vector<double> random_numbers(std::size_t count, double spread, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = normal(random);
  return numbers;
}

inline Parameters random_parameters(const ModelShape& shape, std::mt19937_64& random) {
  const auto labels = static_cast<std::size_t>(shape.labels);
  const auto tracks = static_cast<std::size_t>(shape.tracks);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Parameters parameters;
  for (int c = 0; c < shape.labels; ++c) parameters.labels.push_back({numbered("label", c), std::nullopt});
  for (int f = 0; f < shape.tracks; ++f) parameters.tracks.push_back({.name = numbered("track", f)});
  parameters.centering = shape.centering;
  ChainModel& chain = parameters.chain;
  chain.num_labels = shape.labels;
  chain.max_duration = shape.max_duration;
  chain.initial = shape.initial;
  chain.transition = random_numbers(labels * labels, 0.5, random);
  chain.start_scores = random_numbers(labels, 0.5, random);
  chain.end_scores = random_numbers(labels, 0.5, random);
  DurationSpec& spec = parameters.duration;
  spec.kind = find_duration_kind(shape.kind);
  if (spec.kind->is_table())
    chain.duration_bias = random_numbers(static_cast<std::size_t>(shape.max_duration) * labels, 0.5, random);
  for (std::size_t c = 0; c < labels; ++c) {
    std::vector<double> values;
    for (const DurationKind::Parameter& parameter : spec.kind->parameters())
      values.push_back(parameter.is_probability ? uniform(0.1, 0.6) : uniform(0.5, 6));
    spec.values.push_back(values);
    if (!shape.tail) continue;
    const auto continued = c % 2 == 0 ? spec.kind->continued_tail(values) : std::nullopt;
    spec.tail.push_back(continued ? continued->q : uniform(0.2, 0.8));
  }
  if (spec.kind->is_table()) {
    spec.values.clear();
  } else {
    chain.duration_bias = duration_table(spec, shape.max_duration, shape.labels);
  }
  chain.log_tail = tail_scores(spec);
  parameters.emission =
      EmissionHead{random_numbers(labels * tracks, 0.5, random), random_numbers(labels, 0.3, random)};
  if (shape.centering == Centering::kMean) parameters.emission->bias.assign(labels, 0.0);
  if (shape.boundary) {
    BoundaryHead head;
    head.first = shape.first;
    head.last = shape.last;
    const std::size_t inputs = tracks * static_cast<std::size_t>(shape.last - shape.first + 1);
    head.start_weights = random_numbers(labels * inputs, 0.3, random);
    head.end_weights = random_numbers(labels * inputs, 0.3, random);
    head.start_bias = random_numbers(labels, 0.3, random);
    head.end_bias = random_numbers(labels, 0.3, random);
    parameters.boundary = head;
  }
  return parameters;
}

}  // namespace semicrf::test
